#pragma once

#include <tessera/base/value.hpp>
#include <tessera/campaign/content_hash.hpp>
#include <tessera/campaign/matrix.hpp>
#include <tessera/campaign/template.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tessera {

/// What a placeholder stands for at one code of its axis.
struct Substitute {
    Value value;
    std::string in_text;     ///< canonical form within a longer text
    std::string as_argument; ///< canonical form as a whole argument
};

/// A placeholder bound to what gives its value. Only `axis` depends on the point, only `repeat` and `seed` on
/// the repeat.
struct Binding {
    enum class Source : std::uint8_t { axis, repeat, seed, fixed };

    Source source = Source::fixed;
    std::size_t axis = 0;
    std::vector<std::optional<Substitute>>
        by_code; ///< of `axis`: by code, empty where unset; of `fixed`: one
};

/// The codes that each axis takes at some point of the matrix.
using SeenCodes = std::vector<std::vector<bool>>;

SeenCodes find_seen_codes(const Matrix& matrix);

/// Binds placeholders, and says what the values of definitions are. A definition's field `path` is a place:
/// relative to the folder of the campaign file, its meaning the declared `revision` or else what lies there.
/// Reports names that do not exist, with a suggestion, and codes that occur but give no value.
class Binder {
public:
    Binder(const Campaign& campaign, const Matrix& matrix, const SeenCodes& seen, Problems& problems)
        : campaign_(&campaign)
        , matrix_(&matrix)
        , seen_(&seen)
        , problems_(&problems) {}

    Binding bind(const Placeholder& placeholder, const TextTemplate& text);

    /// What a model is, used or not: its revision, else the content of its `path`; empty if it declares
    /// neither.
    std::string model_meaning(const AxisValue& model);

private:
    Binding bind_axis(std::size_t axis, const Placeholder& placeholder, const TextTemplate& text);
    void report_unknown(const Placeholder& placeholder, const TextTemplate& text);
    void report_missing(const Axis& axis, std::uint32_t code, const Placeholder& placeholder,
                        const TextTemplate& text);
    bool is_machine(const Placeholder& placeholder) const;
    std::optional<Substitute> substitute(const AxisValue& value, const Placeholder& placeholder);
    std::string place_meaning(const AxisValue& value, const PlacedValue& path);

    const Campaign* campaign_;
    const Matrix* matrix_;
    const SeenCodes* seen_;
    Problems* problems_;
    ContentHashes contents_;
};

/// The absolute path of a definition's `path`.
std::string absolute_path(const Campaign& campaign, const Value& path);

/// A field as cells see it: `path` made absolute.
Value field_value(const Campaign& campaign, const std::string& field, const Value& value);

} // namespace tessera
