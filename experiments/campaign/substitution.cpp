#include <tessera/base/text.hpp>
#include <tessera/campaign/campaign_parser.hpp>
#include <tessera/campaign/step_encoding.hpp>
#include <tessera/campaign/substitution.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

namespace fs = std::filesystem;

namespace tessera {

namespace {

Substitute plain(Value value) {
    Substitute result{std::move(value), {}, {}};
    step_encoding::append_piece(result.in_text, result.value);
    step_encoding::append_argument(result.as_argument, result.value);
    return result;
}

Substitute place(Value value, std::string_view meaning) {
    Substitute result{std::move(value), {}, {}};
    step_encoding::append_place(result.in_text, meaning);
    result.as_argument = result.in_text + step_encoding::end_mark;
    return result;
}

std::vector<std::string> field_names(const AxisValue& value) {
    std::vector<std::string> names;
    for (const Definition::Field& field : value.definition.fields)
        names.push_back(field.name);
    return names;
}

} // namespace

SeenCodes find_seen_codes(const Matrix& matrix) {
    SeenCodes seen;
    for (const Axis& axis : matrix.axes())
        seen.emplace_back(axis.values.size() + 1, false);
    std::vector<std::uint32_t> codes;
    for (PointIndex point = 0; point < matrix.point_count(); ++point) {
        matrix.codes(point, codes);
        for (std::size_t axis = 0; axis < codes.size(); ++axis)
            seen[axis][codes[axis]] = true;
    }
    return seen;
}

std::string absolute_path(const Campaign& campaign, const Value& path) {
    fs::path absolute = (fs::path(campaign.folder) / path.display()).lexically_normal();
    if (!absolute.has_filename()) absolute = absolute.parent_path(); // "models/" names the folder too
    return absolute.string();
}

Value field_value(const Campaign& campaign, const std::string& field, const Value& value) {
    return field == "path" ? Value(absolute_path(campaign, value)) : value;
}

Binding Binder::bind(const Placeholder& placeholder, const TextTemplate& text) {
    const std::string name = placeholder.text();
    if (name == "repeat") return {Binding::Source::repeat, 0, {}};
    if (name == "seed") return {Binding::Source::seed, 0, {}};
    if (name == "paths.campaign")
        return {Binding::Source::fixed, 0, {place(Value(campaign_->folder), "paths.campaign")}};
    const std::size_t axis = matrix_->find_axis(placeholder.name);
    if (axis < matrix_->axes().size()) return bind_axis(axis, placeholder, text);
    report_unknown(placeholder, text);
    return {};
}

Binding Binder::bind_axis(std::size_t axis, const Placeholder& placeholder, const TextTemplate& text) {
    Binding binding{Binding::Source::axis, axis, {}};
    const Axis& source = matrix_->axes()[axis];
    binding.by_code.resize(source.values.size() + 1);
    bool reported = false;
    for (std::uint32_t code = 0; code <= source.values.size(); ++code) {
        if (!(*seen_)[axis][code]) continue;
        if (code > 0) binding.by_code[code] = substitute(source.values[code - 1], placeholder);
        if (binding.by_code[code] || reported) continue;
        report_missing(source, code, placeholder, text);
        reported = true;
    }
    return binding;
}

std::optional<Substitute> Binder::substitute(const AxisValue& value, const Placeholder& placeholder) {
    const PlacedValue* field = placeholder.field.empty() ? nullptr : value.definition.find(placeholder.field);
    if (!placeholder.field.empty() && field == nullptr) return std::nullopt;
    const Value& raw = field != nullptr ? field->value : value.value;
    const Value seen_by_cell = field_value(*campaign_, placeholder.field, raw);
    if (is_machine(placeholder)) return place(seen_by_cell, placeholder.text());
    if (placeholder.field == "path") return place(seen_by_cell, place_meaning(value, *field));
    return plain(seen_by_cell);
}

std::string Binder::place_meaning(const AxisValue& value, const PlacedValue& path) {
    if (const PlacedValue* revision = value.definition.find("revision"))
        return "revision:" + revision->value.display();
    const std::string absolute = absolute_path(*campaign_, path.value);
    try {
        return "content:" + contents_.of(absolute);
    } catch (const Error& error) {
        problems_->add(path.place,
                       fmt::format("cannot tell what lies at path = \"{}\": {} (a declared revision would "
                                   "stand for it)",
                                   path.value.display(), error.what()));
        return {};
    }
}

std::string Binder::model_meaning(const AxisValue& model) {
    if (const PlacedValue* revision = model.definition.find("revision"))
        return "revision:" + revision->value.display();
    const PlacedValue* path = model.definition.find("path");
    return path != nullptr ? place_meaning(model, *path) : std::string();
}

bool Binder::is_machine(const Placeholder& placeholder) const {
    const auto& listed = campaign_->machine;
    return std::any_of(listed.begin(), listed.end(), [&](const PlacedValue& item) {
        return item.value == Value(placeholder.name) || item.value == Value(placeholder.text());
    });
}

void Binder::report_unknown(const Placeholder& placeholder, const TextTemplate& text) {
    const std::string name = placeholder.text();
    if (name == "cell") {
        problems_->add(text.place,
                       fmt::format("{}: ${{cell}} is made from this text, so it cannot stand in it; a cell "
                                   "finds its id in the environment variable TESSERA_CELL",
                                   text.what));
        return;
    }
    std::vector<std::string> known = {"repeat", "seed", "paths.campaign"};
    for (const Axis& axis : matrix_->axes())
        known.push_back(axis.name);
    std::string hint = did_you_mean(name, known);
    if (hint.empty()) hint = did_you_mean(placeholder.name, known);
    problems_->add(text.place, fmt::format("{}: there is nothing called ${{{}}}{}", text.what, name, hint));
}

void Binder::report_missing(const Axis& axis, std::uint32_t code, const Placeholder& placeholder,
                            const TextTemplate& text) {
    if (code == 0) {
        problems_->add(text.place,
                       fmt::format("{}: axis '{}' has no value in some cells, so ${{{}}} has none either; "
                                   "give it one in [matrix.defaults]",
                                   text.what, axis.name, placeholder.text()));
        return;
    }
    problems_->add(text.place,
                   fmt::format("{}: {} = {} has no field '{}'{}", text.what, axis.name,
                               quoted(axis.values[code - 1].value), placeholder.field,
                               did_you_mean(placeholder.field, field_names(axis.values[code - 1]))));
}

} // namespace tessera
