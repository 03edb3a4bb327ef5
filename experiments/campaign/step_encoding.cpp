#include <tessera/base/sha256.hpp>
#include <tessera/campaign/step_encoding.hpp>

#include <fmt/core.h>

namespace tessera {

namespace step_encoding {

void append_text(std::string& out, std::string_view text) {
    for (const char c : text) {
        if (c >= '\0' && c <= close_mark) {
            out += escape_mark;
            out += static_cast<char>('0' + c);
        } else {
            out += c;
        }
    }
}

void append_piece(std::string& out, const Value& value) {
    if (const auto* text = value.get_if<std::string>()) {
        append_text(out, *text);
    } else if (const auto* list = value.get_if<Value::Array>()) {
        for (const Value& item : *list) {
            if (&item != list->data()) out += ',';
            append_piece(out, item);
        }
    } else {
        out += typed_mark;
        value.append_canonical(out);
    }
}

void append_argument(std::string& out, const Value& value) {
    if (const auto* list = value.get_if<Value::Array>()) {
        for (const Value& item : *list)
            append_argument(out, item);
        return;
    }
    append_piece(out, value);
    out += end_mark;
}

void append_place(std::string& out, std::string_view meaning) {
    out += typed_mark;
    out += fmt::format("p{}:{}", meaning.size(), meaning);
}

void open_field(std::string& out, std::string_view name) {
    out += name;
    out += end_mark;
}

void append_field(std::string& out, std::string_view name, const Value& value) {
    open_field(out, name);
    append_argument(out, value);
    out += close_mark;
}

} // namespace step_encoding

std::uint64_t derived_seed(std::uint64_t campaign_seed, std::uint32_t repeat) {
    const Id128 hash =
        Sha256().update(fmt::format("tessera seed 1\n{}\n{}", campaign_seed, repeat)).finish_id();
    std::uint64_t seed = 0;
    for (std::size_t i = 0; i < 4; ++i)
        seed = seed << 8U | hash.bytes[i];
    return seed & 0x7FFFFFFFU;
}

} // namespace tessera
