#include <tessera/base/value.hpp>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <bit>
#include <cmath>

namespace tessera {

namespace {

void append_sized(std::string& out, std::string_view text) {
    out += std::to_string(text.size());
    out += ':';
    out += text;
}

} // namespace

std::string format_float(double value) {
    std::string text = fmt::format("{}", value);
    if (text.find_first_of(".en") == std::string::npos) text += ".0";
    return text;
}

std::string Value::display() const {
    if (const auto* flag = get_if<bool>()) return *flag ? "true" : "false";
    if (const auto* integer = get_if<std::int64_t>()) return std::to_string(*integer);
    if (const auto* number = get_if<double>()) return format_float(*number);
    if (const auto* text = get_if<std::string>()) return *text;
    if (const auto* array = get_if<Array>()) {
        std::string joined;
        for (const Value& item : *array) {
            if (&item != array->data()) joined += ',';
            joined += item.display();
        }
        return joined;
    }
    return to_json().dump();
}

void Value::append_canonical(std::string& out) const {
    if (const auto* flag = get_if<bool>()) {
        out += *flag ? "b1" : "b0";
    } else if (const auto* integer = get_if<std::int64_t>()) {
        out += 'i';
        out += std::to_string(*integer);
        out += ';';
    } else if (const auto* number = get_if<double>()) {
        out += 'f';
        out += std::isnan(*number) ? "nan" : fmt::format("{:016x}", std::bit_cast<std::uint64_t>(*number));
        out += ';';
    } else if (const auto* text = get_if<std::string>()) {
        out += 's';
        append_sized(out, *text);
    } else if (const auto* array = get_if<Array>()) {
        out += fmt::format("a{}[", array->size());
        for (const Value& item : *array)
            item.append_canonical(out);
    } else if (const auto* table = get_if<Table>()) {
        out += fmt::format("t{}{{", table->size());
        for (const auto& [key, item] : *table) {
            append_sized(out, key);
            item.append_canonical(out);
        }
    }
}

std::string Value::canonical() const {
    std::string out;
    append_canonical(out);
    return out;
}

nlohmann::json Value::to_json() const {
    if (const auto* flag = get_if<bool>()) return *flag;
    if (const auto* integer = get_if<std::int64_t>()) return *integer;
    if (const auto* number = get_if<double>()) {
        if (std::isnan(*number)) return "NaN";
        if (std::isinf(*number)) return *number > 0 ? "Infinity" : "-Infinity";
        return *number;
    }
    if (const auto* text = get_if<std::string>()) return *text;
    if (const auto* array = get_if<Array>()) {
        auto json = nlohmann::json::array();
        for (const Value& item : *array)
            json.push_back(item.to_json());
        return json;
    }
    auto json = nlohmann::json::object();
    for (const auto& [key, item] : *get_if<Table>())
        json[key] = item.to_json();
    return json;
}

Value Value::from_json(const nlohmann::json& json) {
    switch (json.type()) {
    case nlohmann::json::value_t::boolean:
        return json.get<bool>();
    case nlohmann::json::value_t::number_integer:
    case nlohmann::json::value_t::number_unsigned:
        return json.get<std::int64_t>();
    case nlohmann::json::value_t::number_float:
        return json.get<double>();
    case nlohmann::json::value_t::array: {
        Array array;
        for (const auto& item : json)
            array.push_back(from_json(item));
        return array;
    }
    case nlohmann::json::value_t::object: {
        Table table;
        for (const auto& [key, item] : json.items())
            table.emplace(key, from_json(item));
        return table;
    }
    case nlohmann::json::value_t::string:
        return json.get<std::string>();
    default:
        return {};
    }
}

std::string_view Value::type_name() const {
    static constexpr std::string_view names[] = {"boolean", "integer", "float", "string", "array", "table"};
    return names[data_.index()];
}

} // namespace tessera
