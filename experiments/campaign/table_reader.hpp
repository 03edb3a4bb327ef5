#pragma once

#include <tessera/campaign/template.hpp>
#include <tessera/campaign/toml_tree.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera {

/// Reads the keys of one table and reports those that nothing asked for. Each getter gives nothing if the key
/// is absent; if its value has the wrong type or is out of bounds it reports that too.
class TableReader {
public:
    /// `what` names the table in messages: "[campaign]".
    TableReader(const TomlNode& table, std::string what, Problems& problems)
        : table_(&table)
        , what_(std::move(what))
        , problems_(&problems) {}

    const TomlEntry* take(std::string_view key);
    const TomlEntry* take_table(std::string_view key);
    const TomlEntry* take_array(std::string_view key);

    std::optional<PlacedText> string(std::string_view key);
    std::optional<std::int64_t> integer(std::string_view key, std::int64_t least, std::int64_t most);
    std::optional<double> duration_s(std::string_view key);

    /// The index of a string among `choices`.
    std::optional<std::size_t> choice(std::string_view key, const std::vector<std::string>& choices);
    std::vector<PlacedText> strings(std::string_view key);

    std::optional<TextTemplate> text(std::string_view key);
    std::vector<TextTemplate> texts(std::string_view key);

    /// Reports every key that was never asked for, with a suggestion.
    void finish();

    /// "campaign.repeats", for messages.
    std::string name_of(std::string_view key) const;

private:
    void wrong_type(const TomlEntry& entry, std::string_view wanted);

    const TomlNode* table_;
    std::string what_;
    Problems* problems_;
    std::vector<std::string> known_;
};

/// `: write "3"` for a value that would be right as a string.
std::string as_string_hint(const TomlNode& node);

} // namespace tessera
