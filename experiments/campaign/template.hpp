#pragma once

#include <tessera/campaign/diagnostics.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace tessera {

/// `${name}` or `${name.field}`.
struct Placeholder {
    std::string name;
    std::string field; ///< empty if there is none

    bool operator==(const Placeholder&) const = default;

    std::string text() const { return field.empty() ? name : name + "." + field; }
};

/// A string of the campaign file, parsed once: literal text and placeholders in turn.
struct TextTemplate {
    struct Piece {
        std::string text; ///< used if `placeholder` has no name
        Placeholder placeholder;

        bool is_text() const { return placeholder.name.empty(); }
    };

    std::vector<Piece> pieces;
    Place place;      ///< of the string in the file
    std::string what; ///< its key for messages, such as "workload.command[2]"

    /// A placeholder alone keeps the type of its value.
    bool is_whole_placeholder() const { return pieces.size() == 1 && !pieces[0].is_text(); }
};

/// `[A-Za-z_][A-Za-z0-9_]*`, as the names of axes and steps are.
bool is_identifier(std::string_view text);

/// `$${` stands for `${`; any other `$` is left alone. Problems (no closing brace, a bad name) are reported
/// at `place`.
TextTemplate parse_template(std::string_view text, Place place, std::string what, Problems& problems);

} // namespace tessera
