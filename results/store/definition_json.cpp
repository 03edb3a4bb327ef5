#include <tessera/base/error.hpp>
#include <tessera/store/definition_json.hpp>

#include <nlohmann/json.hpp>

namespace tessera {

namespace {

using nlohmann::json;

std::string dump(const json& value) {
    return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

json parse(std::string_view text, const char* what) {
    try {
        return json::parse(text);
    } catch (const json::exception& error) {
        throw FormatError(what, 0, error.what());
    }
}

/// parse() for an array of objects; `read` may throw nlohmann's exceptions.
template <typename Read>
void for_each_item(std::string_view text, const char* what, Read&& read) {
    try {
        for (const json& item : parse(text, what))
            read(item);
    } catch (const json::exception& error) {
        throw FormatError(what, 0, error.what());
    }
}

Direction direction_from(const std::string& word) {
    if (word == name(Direction::lower)) return Direction::lower;
    return word == name(Direction::higher) ? Direction::higher : Direction::unknown;
}

} // namespace

std::string axes_json(const std::vector<AxisDefinition>& axes) {
    json array = json::array();
    for (const AxisDefinition& axis : axes) {
        json values = json::array();
        json fields = json::array();
        for (const std::string& value : axis.values)
            values.push_back(parse(value, "value of an axis"));
        for (const std::string& field : axis.fields)
            fields.push_back(parse(field, "fields of an axis"));
        array.push_back({{"name", axis.name}, {"type", axis.type}, {"values", values}, {"fields", fields}});
    }
    return dump(array);
}

std::vector<AxisDefinition> axes_from_json(std::string_view text) {
    std::vector<AxisDefinition> axes;
    for_each_item(text, "axes of a definition", [&](const json& item) {
        AxisDefinition axis{item.at("name").get<std::string>(), item.at("type").get<std::string>(), {}, {}};
        for (const json& value : item.at("values"))
            axis.values.push_back(dump(value));
        for (const json& fields : item.at("fields"))
            axis.fields.push_back(dump(fields));
        axes.push_back(std::move(axis));
    });
    return axes;
}

std::string metrics_json(const std::vector<MetricDefinition>& metrics) {
    json array = json::array();
    for (const MetricDefinition& metric : metrics)
        array.push_back(
            {{"name", metric.name}, {"unit", metric.unit}, {"direction", name(metric.direction)}});
    return dump(array);
}

std::vector<MetricDefinition> metrics_from_json(std::string_view text) {
    std::vector<MetricDefinition> metrics;
    for_each_item(text, "metrics of a definition", [&](const json& item) {
        metrics.push_back({item.at("name").get<std::string>(), item.at("unit").get<std::string>(),
                           direction_from(item.at("direction").get<std::string>())});
    });
    return metrics;
}

std::string list_json(const std::vector<std::string>& texts) {
    return texts.empty() ? std::string() : dump(json(texts));
}

std::vector<std::string> list_from_json(std::string_view text) {
    std::vector<std::string> texts;
    if (text.empty()) return texts;
    for_each_item(text, "a list", [&](const json& item) { texts.push_back(item.get<std::string>()); });
    return texts;
}

} // namespace tessera
