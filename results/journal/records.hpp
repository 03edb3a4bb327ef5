#pragma once

#include <tessera/base/clock.hpp>
#include <tessera/base/id.hpp>
#include <tessera/campaign/step_spec.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tessera {

/// The right under which an attempt runs: a batch of steps and the epoch of its claim.
struct ClaimRef {
    std::string batch;
    std::uint32_t epoch = 0;

    bool operator==(const ClaimRef&) const = default;
};

/// One try at one step, unique over all parts of a campaign. Written "<part>/<step>-<number>".
struct AttemptId {
    std::string part;
    StepKey step;
    std::uint32_t number = 1;

    bool operator==(const AttemptId&) const = default;

    std::string text() const;
};

enum class MetricRole : std::uint8_t { value, baseline };
enum class Direction : std::uint8_t { unknown, lower, higher };

/// One line of the metrics protocol. Either `value` or `text` has a meaning.
struct MetricPoint {
    std::string name;
    MetricRole role = MetricRole::value;
    std::optional<std::int64_t> series_index; ///< "step" in the protocol; absent for a single value
    std::optional<std::uint32_t> member;      ///< rank within a gang
    double t_s = 0;                           ///< seconds since the attempt started, when it was read
    double value = 0;                         ///< NaN and infinities are kept
    std::optional<std::string> text;
    std::string unit;
    Direction direction = Direction::unknown;

    bool operator==(const MetricPoint&) const = default;
};

enum class OutcomeKind : std::uint8_t { succeeded, failed, timed_out, preempted, lost };

/// How one attempt ended, complete: with all its metrics, so that this record alone is the result.
struct OutcomeRecord {
    AttemptId attempt; ///< `part` is the part that dispatched it, also when another part harvested it
    std::uint32_t generation = 1;
    ClaimRef claim;
    OutcomeKind kind = OutcomeKind::succeeded;
    FailureClass failure = FailureClass::none;
    std::string message; ///< one line for people; empty on success
    std::optional<std::int32_t> exit_code;
    std::optional<std::int32_t> signal;
    std::uint32_t worker = 0;
    std::string host;
    std::vector<std::string> devices; ///< as the attempt saw them
    std::vector<std::uint32_t> cpus;
    WallTime started_ns = 0;
    WallTime ended_ns = 0;
    double duration_s = 0; ///< by the worker's monotonic clock
    double user_s = 0;
    double system_s = 0;
    std::uint64_t max_rss_bytes = 0;
    std::uint32_t leaked_processes = 0;
    std::string folder;   ///< of the attempt, relative to the campaign directory; empty if it is gone
    std::string log_pack; ///< relative path of the pack that holds the logs; empty if they lie in `folder`
    std::uint64_t log_pack_offset = 0; ///< of the attempt's entry in the pack
    std::uint64_t stdout_bytes = 0;    ///< as written by the process
    std::uint64_t stderr_bytes = 0;
    bool stdout_truncated = false;
    bool stderr_truncated = false;
    bool metrics_truncated = false;
    std::vector<std::string>
        metric_problems; ///< what was wrong with logs, then "line 3: ..." for each unusable line, at most 20
    std::vector<MetricPoint> metrics;

    bool operator==(const OutcomeRecord&) const = default;
};

/// First frame of a part.
struct PartOpenRecord {
    Id128 campaign_id;
    std::string campaign_name;
    std::string version; ///< of Tessera
    std::string host;
    std::string boot_id;
    std::int64_t pid = 0;
    std::string job; ///< the batch system's job id, if any
    std::string user;
    std::vector<std::string> command_line;
    WallTime opened_ns = 0;

    bool operator==(const PartOpenRecord&) const = default;
};

struct AxisDefinition {
    std::string name;
    std::string type;                ///< TOML type of its values, or "mixed"
    std::vector<std::string> values; ///< as JSON, in the order of the codes
    std::vector<std::string>
        fields; ///< for each value, its definition's fields as a JSON object ("{}" if none)

    bool operator==(const AxisDefinition&) const = default;
};

struct MetricDefinition {
    std::string name;
    std::string unit;
    Direction direction = Direction::unknown;

    bool operator==(const MetricDefinition&) const = default;
};

/// What the campaign file meant when the part began. `digest` names this meaning; the cells of the newest
/// digest are the current ones.
struct CampaignDefinition {
    Id128 digest;
    std::string name;
    std::uint64_t cell_count = 0;
    std::vector<AxisDefinition> axes;
    std::vector<MetricDefinition> metrics;
    std::string snapshot; ///< path of the copy of the campaign file, relative to the campaign directory

    bool operator==(const CampaignDefinition&) const = default;
};

/// Some cells of a definition, by columns. `codes[a][i]` is 0 if axis `a` is unset in cell `i`, else 1 + the
/// index of its value in the axis' definition.
struct CellBatch {
    Id128 definition;
    std::vector<CellId> ids;
    std::vector<std::uint32_t> repeats;
    std::vector<std::vector<std::uint32_t>> codes;
    std::vector<StepKey> last_steps;               ///< the step that each cell ends with
    std::vector<std::vector<StepKey>> other_steps; ///< the further steps it needs; empty if no cell has any

    bool operator==(const CellBatch&) const = default;
};

using DefinitionRecord = std::variant<CampaignDefinition, CellBatch>;

/// A step in full, written once a part before its first dispatch.
struct StepRecord {
    StepKey key;
    std::vector<StepKey> needs;
    StepSpec spec;

    bool operator==(const StepRecord&) const = default;
};

/// The part begins to own a batch. Frames of `predecessor` for that batch after `last_honoured` are void to
/// every reader.
struct ClaimRecord {
    ClaimRef claim;
    std::string predecessor; ///< empty at the first epoch
    std::uint64_t last_honoured = 0;

    bool operator==(const ClaimRecord&) const = default;
};

struct DispatchedItem {
    StepKey step;
    std::uint32_t number = 1;
    std::uint32_t generation = 1;
    std::vector<std::string> inputs; ///< ids of the attempts whose artifacts it reads

    bool operator==(const DispatchedItem&) const = default;
};

/// Attempts handed to one worker in one message.
struct DispatchedRecord {
    std::uint32_t worker = 0;
    ClaimRef claim;
    WallTime at_ns = 0;
    std::vector<DispatchedItem> items;

    bool operator==(const DispatchedRecord&) const = default;
};

struct StartedRecord {
    StepKey step;
    std::uint32_t number = 1;
    std::uint32_t worker = 0;
    std::string host;
    std::vector<std::string> devices;
    WallTime at_ns = 0;

    bool operator==(const StartedRecord&) const = default;
};

/// Metrics of a running attempt, for whoever looks while it runs; its outcome repeats them all.
struct MetricsRecord {
    StepKey step;
    std::uint32_t number = 1;
    std::vector<MetricPoint> points;

    bool operator==(const MetricsRecord&) const = default;
};

/// Raises the generation of steps: their earlier results are kept but not accepted.
struct InvalidatedRecord {
    struct Item {
        StepKey step;
        std::uint32_t generation = 2; ///< the new one

        bool operator==(const Item&) const = default;
    };

    std::vector<Item> items;
    std::string reason;
    std::string user;
    WallTime at_ns = 0;

    bool operator==(const InvalidatedRecord&) const = default;
};

/// Last frame of a part that ended in order.
struct PartCloseRecord {
    std::int32_t exit_code = 0;
    std::string reason;
    WallTime at_ns = 0;

    bool operator==(const PartCloseRecord&) const = default;
};

using Record = std::variant<PartOpenRecord, DefinitionRecord, StepRecord, ClaimRecord, DispatchedRecord,
                            StartedRecord, MetricsRecord, OutcomeRecord, InvalidatedRecord, PartCloseRecord>;

/// Numbers of the frame types on disk; never reused.
enum class FrameType : std::uint16_t {
    part_open = 1,
    definition = 2,
    step = 3,
    claim = 4,
    dispatched = 5,
    started = 6,
    metrics = 7,
    outcome = 8,
    invalidated = 9,
    part_close = 10,
};

FrameType frame_type(const Record& record);

/// The payload of tagged fields (base/wire.hpp) of a frame.
std::string encode(const Record& record);

/// Unknown fields are skipped. Throws FormatError naming `source` for a payload that does not follow its
/// type; empty for a type this version does not know.
std::optional<Record> decode(FrameType type, std::string_view payload, std::string_view source);

/// Payloads that messages carry too.
std::string encode_outcome(const OutcomeRecord& record);
OutcomeRecord decode_outcome(std::string_view payload, std::string_view source);
std::string encode_step_spec(const StepSpec& spec);
StepSpec decode_step_spec(std::string_view payload, std::string_view source);
std::string encode_metrics(const MetricsRecord& record);
MetricsRecord decode_metrics(std::string_view payload, std::string_view source);

std::string_view name(OutcomeKind kind);
std::string_view name(FailureClass failure);
std::string_view name(Direction direction);

} // namespace tessera
