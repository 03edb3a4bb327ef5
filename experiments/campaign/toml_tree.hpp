#pragma once

#include <tessera/base/value.hpp>
#include <tessera/campaign/diagnostics.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

struct TomlEntry;

struct PlacedText {
    std::string text;
    Place place;
};

/// A TOML document with the place of every key and value, in the order of the file. The one place that knows
/// the TOML library, which costs seconds of compile time in every file that includes it.
struct TomlNode {
    enum class Kind : std::uint8_t { scalar, array, table };

    Kind kind = Kind::table;
    Place place;
    Value scalar;
    std::vector<TomlNode> items;
    std::vector<TomlEntry> entries;

    bool is_scalar() const { return kind == Kind::scalar; }

    bool is_array() const { return kind == Kind::array; }

    bool is_table() const { return kind == Kind::table; }

    const std::string* string() const { return is_scalar() ? scalar.get_if<std::string>() : nullptr; }

    const TomlEntry* find(std::string_view key) const;

    /// As TOML calls it: "string", "integer", "array", "table", ...
    std::string_view type_name() const;

    /// With its article, for messages: "an integer".
    std::string kind_text() const;

    /// Scalars and arrays of scalars as one value; empty if a table is in it.
    std::optional<Value> to_value() const;
};

struct TomlEntry {
    std::string key;
    Place place; ///< of the key
    TomlNode node;
};

/// Reports text that is not UTF-8 or not TOML to `problems`; the result is then empty.
std::optional<TomlNode> parse_toml(std::string_view text, Problems& problems);

} // namespace tessera
