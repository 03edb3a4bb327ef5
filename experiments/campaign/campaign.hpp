#pragma once

#include <tessera/base/value.hpp>
#include <tessera/campaign/diagnostics.hpp>
#include <tessera/campaign/step_spec.hpp>
#include <tessera/campaign/template.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

/// A value with its place in the campaign file.
struct PlacedValue {
    Value value;
    Place place;
};

/// The fields that a definition (or an inline table in [matrix]) gives to one value of an axis.
struct Definition {
    struct Field {
        std::string name;
        PlacedValue value;
    };

    std::vector<Field> fields; ///< in the order of the file
    Place place;

    const PlacedValue* find(std::string_view field) const;
};

/// All definitions of one axis: [models] for `model`, [define.AXIS] for AXIS.
struct DefinitionSet {
    std::string section; ///< as written, "models" or "define.batch"
    Place place;
    std::map<std::string, Definition, std::less<>> values;
};

/// A condition on one axis or one field of its definition: any of the values or globs, or all of the
/// comparisons.
struct AxisCondition {
    struct Bound {
        enum class Relation : std::uint8_t { less, less_equal, greater, greater_equal };
        Relation relation;
        PlacedValue limit;
    };

    std::string axis;
    std::string field; ///< empty: the axis' value itself
    std::vector<PlacedValue> any_of;
    std::vector<Bound> bounds;
    Place place;

    /// An absent value (`nullptr`) matches nothing.
    bool matches(const Value* value) const;

    /// Exactly one value to compare with, no glob.
    bool is_plain_value() const;
};

struct ExcludeRule {
    std::vector<AxisCondition> conditions;
    Place place;
};

/// Extends the cells that `conditions` match by values for axes that [matrix] lacks, or adds one cell.
struct IncludeRule {
    std::vector<AxisCondition> conditions;
    std::vector<std::pair<std::string, PlacedValue>> values; ///< of axes that [matrix] lacks
    Place place;
};

struct AxisSource {
    std::string name;
    Place place;
    std::vector<PlacedValue> values;
    std::map<std::string, Definition, std::less<>> inline_fields; ///< of values written as tables
};

struct ZipRule {
    std::vector<std::string> axes;
    Place place;
};

struct MatrixSource {
    std::vector<AxisSource> axes; ///< in the order of the file
    std::vector<ExcludeRule> excludes;
    std::vector<IncludeRule> includes;
    std::vector<ZipRule> zips;
    std::map<std::string, PlacedValue, std::less<>> defaults;
    Place place;
};

/// A value of [resources] before its placeholders are resolved: a template, or a value of another type.
struct ResourceSource {
    std::optional<TextTemplate> text;
    Value value;
    Place place;
    std::string what; ///< its key for messages
};

struct ResourcesSource {
    std::optional<ResourceSource> devices;
    std::optional<ResourceSource> cores;
    std::optional<ResourceSource> memory;
    std::optional<ResourceSource> timeout;
};

/// How one kind of step becomes a process, before placeholders are resolved.
struct StepSource {
    std::string name; ///< "workload" for the step that every cell ends with
    Place place;
    std::vector<TextTemplate> command;
    std::map<std::string, TextTemplate, std::less<>> env; ///< [env] with the step's own over it
    std::optional<TextTemplate> stdin_text;
    std::optional<PlacedValue> executor;
    std::vector<TextTemplate> keep;
    ResourcesSource resources; ///< [resources] with the step's own over it
    bool per_repeat = true;
};

enum class TelemetryDetail : std::uint8_t { summary, one_second, raw };

/// A campaign file as parsed and checked by itself: every key known, every type right, every name unique.
/// Placeholders are resolved, and the matrix built, by Plan.
struct Campaign {
    std::string path;   ///< as it was given
    std::string folder; ///< absolute folder of the file
    std::string name;
    std::string description;
    std::uint32_t repeats = 1;
    std::uint64_t seed = 0;
    std::vector<PlacedValue> labels;  ///< axes that may change nothing
    std::vector<PlacedValue> machine; ///< axes and fields that are no part of a step's meaning
    MatrixSource matrix;
    std::map<std::string, DefinitionSet, std::less<>> definitions; ///< by axis
    std::vector<StepSource> steps; ///< the last one is what every cell ends with
    RetryPolicy retry;
    KeepAttempts keep_attempts = KeepAttempts::failed;
    TelemetryDetail telemetry = TelemetryDetail::summary;
};

/// Reads and parses a campaign file. Throws CampaignError with every problem of the file.
Campaign load_campaign(const std::string& path);

/// Parses `text` as the content of `path`, which need not exist.
Campaign parse_campaign(std::string_view text, const std::string& path);

} // namespace tessera
