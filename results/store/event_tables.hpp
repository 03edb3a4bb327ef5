#pragma once

#include <tessera/store/columns.hpp>

#include <array>
#include <cstdint>
#include <string_view>

namespace tessera {

inline constexpr std::array<std::string_view, 5> outcome_names{"succeeded", "failed", "timed_out",
                                                               "preempted", "lost"};
inline constexpr std::array<std::string_view, 9> failure_names{
    "none", "out_of_memory", "timeout", "crash", "exit", "spawn", "lost", "preempted", "verdict"};
inline constexpr std::array<std::string_view, 2> role_names{"value", "baseline"};
inline constexpr std::array<std::string_view, 3> direction_names{"unknown", "lower", "higher"};

/// Attempts handed to workers, one row each.
struct DispatchTable {
    Column<std::uint32_t> part;     ///< that dispatched it
    Column<std::uint64_t> sequence; ///< of the frame
    Column<std::uint32_t> step;
    Column<std::uint32_t> number;
    Column<std::uint32_t> generation;
    Column<std::uint32_t> worker;
    Column<std::uint32_t> batch;
    Column<std::uint32_t> epoch;
    Column<std::int64_t> at_ns;
    Column<std::uint32_t> inputs; ///< JSON array of attempt ids

    std::size_t size() const { return step.size(); }

    template <typename Self, typename Visit>
    static void columns(Self& self, Visit& visit) {
        visit(ColumnInfo{"part", Refers::part}, self.part);
        visit(ColumnInfo{"sequence"}, self.sequence);
        visit(ColumnInfo{"step", Refers::step}, self.step);
        visit(ColumnInfo{"number"}, self.number);
        visit(ColumnInfo{"generation"}, self.generation);
        visit(ColumnInfo{"worker"}, self.worker);
        visit(ColumnInfo{"batch", Refers::string}, self.batch);
        visit(ColumnInfo{"epoch"}, self.epoch);
        visit(ColumnInfo{"at_ns", Refers::nothing, "ns", false, {}, true}, self.at_ns);
        visit(ColumnInfo{"inputs", Refers::string}, self.inputs);
    }
};

/// Attempts that began to run, one row each.
struct StartedTable {
    Column<std::uint32_t> part;
    Column<std::uint64_t> sequence;
    Column<std::uint32_t> step;
    Column<std::uint32_t> number;
    Column<std::uint32_t> worker;
    Column<std::uint32_t> host;
    Column<std::uint32_t> devices; ///< JSON array
    Column<std::int64_t> at_ns;

    std::size_t size() const { return step.size(); }

    template <typename Self, typename Visit>
    static void columns(Self& self, Visit& visit) {
        visit(ColumnInfo{"part", Refers::part}, self.part);
        visit(ColumnInfo{"sequence"}, self.sequence);
        visit(ColumnInfo{"step", Refers::step}, self.step);
        visit(ColumnInfo{"number"}, self.number);
        visit(ColumnInfo{"worker"}, self.worker);
        visit(ColumnInfo{"host", Refers::string}, self.host);
        visit(ColumnInfo{"devices", Refers::string}, self.devices);
        visit(ColumnInfo{"at_ns", Refers::nothing, "ns", false, {}, true}, self.at_ns);
    }
};

/// Attempts that have ended, one row an outcome frame.
struct AttemptTable {
    Column<std::uint32_t> part; ///< that dispatched it
    Column<std::uint32_t> step;
    Column<std::uint32_t> number;
    Column<std::uint32_t> generation;
    Column<std::uint32_t> batch;
    Column<std::uint32_t> epoch;
    Column<std::uint8_t> outcome;
    Column<std::uint8_t> failure;
    Column<std::uint32_t> message;
    Column<std::int32_t> exit_code;
    Column<std::int32_t> signal;
    Column<std::uint32_t> worker;
    Column<std::uint32_t> host;
    Column<std::uint32_t> devices; ///< JSON array
    Column<std::uint32_t> cpus;    ///< JSON array
    Column<std::int64_t> started_ns;
    Column<std::int64_t> ended_ns;
    Column<double> duration_s;
    Column<double> user_s;
    Column<double> system_s;
    Column<std::uint64_t> max_rss_bytes;
    Column<std::uint32_t> leaked_processes;
    Column<std::uint8_t> usual_folder; ///< 1 if it lies in attempts/<attempt id>; `folder` is empty then
    Column<std::uint32_t> folder;
    Column<std::uint32_t> log_pack;
    Column<std::uint64_t> log_pack_offset;
    Column<std::uint64_t> stdout_bytes;
    Column<std::uint64_t> stderr_bytes;
    Column<std::uint8_t> stdout_truncated;
    Column<std::uint8_t> stderr_truncated;
    Column<std::uint8_t> metrics_truncated;
    Column<std::uint32_t> metric_problems; ///< JSON array
    Column<std::uint32_t> recorded_part;   ///< whose journal holds the outcome
    Column<std::uint64_t> recorded_sequence;

    std::size_t size() const { return step.size(); }

    template <typename Self, typename Visit>
    static void columns(Self& self, Visit& visit) {
        visit(ColumnInfo{"part", Refers::part}, self.part);
        visit(ColumnInfo{"step", Refers::step}, self.step);
        visit(ColumnInfo{"number"}, self.number);
        visit(ColumnInfo{"generation"}, self.generation);
        visit(ColumnInfo{"batch", Refers::string}, self.batch);
        visit(ColumnInfo{"epoch"}, self.epoch);
        visit(ColumnInfo{"outcome", Refers::nothing, {}, false, outcome_names}, self.outcome);
        visit(ColumnInfo{"failure", Refers::nothing, {}, false, failure_names}, self.failure);
        visit(ColumnInfo{"message", Refers::string}, self.message);
        visit(ColumnInfo{"exit_code", Refers::nothing, {}, true}, self.exit_code);
        visit(ColumnInfo{"signal", Refers::nothing, {}, true}, self.signal);
        visit(ColumnInfo{"worker"}, self.worker);
        visit(ColumnInfo{"host", Refers::string}, self.host);
        visit(ColumnInfo{"devices", Refers::string}, self.devices);
        visit(ColumnInfo{"cpus", Refers::string}, self.cpus);
        visit(ColumnInfo{"started_ns", Refers::nothing, "ns", false, {}, true}, self.started_ns);
        visit(ColumnInfo{"ended_ns", Refers::nothing, "ns", false, {}, true}, self.ended_ns);
        visit(ColumnInfo{"duration_s", Refers::nothing, "s"}, self.duration_s);
        visit(ColumnInfo{"user_s", Refers::nothing, "s"}, self.user_s);
        visit(ColumnInfo{"system_s", Refers::nothing, "s"}, self.system_s);
        visit(ColumnInfo{"max_rss_bytes", Refers::nothing, "bytes"}, self.max_rss_bytes);
        visit(ColumnInfo{"leaked_processes"}, self.leaked_processes);
        visit(ColumnInfo{"usual_folder"}, self.usual_folder);
        visit(ColumnInfo{"folder", Refers::string}, self.folder);
        visit(ColumnInfo{"log_pack", Refers::string}, self.log_pack);
        visit(ColumnInfo{"log_pack_offset", Refers::nothing, "bytes"}, self.log_pack_offset);
        visit(ColumnInfo{"stdout_bytes", Refers::nothing, "bytes"}, self.stdout_bytes);
        visit(ColumnInfo{"stderr_bytes", Refers::nothing, "bytes"}, self.stderr_bytes);
        visit(ColumnInfo{"stdout_truncated"}, self.stdout_truncated);
        visit(ColumnInfo{"stderr_truncated"}, self.stderr_truncated);
        visit(ColumnInfo{"metrics_truncated"}, self.metrics_truncated);
        visit(ColumnInfo{"metric_problems", Refers::string}, self.metric_problems);
        visit(ColumnInfo{"recorded_part", Refers::part}, self.recorded_part);
        visit(ColumnInfo{"recorded_sequence"}, self.recorded_sequence);
    }
};

/// A name, unit and direction as metrics came with them; one name may have several rows.
struct MetricNameTable {
    Column<std::uint32_t> name;
    Column<std::uint32_t> unit;
    Column<std::uint8_t> direction;

    std::size_t size() const { return name.size(); }

    template <typename Self, typename Visit>
    static void columns(Self& self, Visit& visit) {
        visit(ColumnInfo{"name", Refers::string}, self.name);
        visit(ColumnInfo{"unit", Refers::string}, self.unit);
        visit(ColumnInfo{"direction", Refers::nothing, {}, false, direction_names}, self.direction);
    }
};

/// One row a metric point of an attempt that has ended, in the order of writing.
struct MetricTable {
    Column<std::uint32_t> attempt;
    Column<std::uint32_t> name;
    Column<std::uint8_t> role;
    Column<std::int64_t> series_index;
    Column<std::uint32_t> member;
    Column<double> t_s;
    Column<double> value;
    Column<std::uint32_t> text; ///< null if the value counts

    std::size_t size() const { return name.size(); }

    template <typename Self, typename Visit>
    static void columns(Self& self, Visit& visit) {
        visit(ColumnInfo{"attempt", Refers::attempt}, self.attempt);
        visit(ColumnInfo{"name", Refers::metric_name}, self.name);
        visit(ColumnInfo{"role", Refers::nothing, {}, false, role_names}, self.role);
        visit(ColumnInfo{"series_index", Refers::nothing, {}, true}, self.series_index);
        visit(ColumnInfo{"member", Refers::nothing, {}, true}, self.member);
        visit(ColumnInfo{"t_s", Refers::nothing, "s"}, self.t_s);
        visit(ColumnInfo{"value"}, self.value);
        visit(ColumnInfo{"text", Refers::string, {}, true}, self.text);
    }
};

struct ClaimTable {
    Column<std::uint32_t> part;
    Column<std::uint64_t> sequence;
    Column<std::uint32_t> batch;
    Column<std::uint32_t> epoch;
    Column<std::uint32_t> predecessor; ///< part; empty at the first epoch
    Column<std::uint64_t> last_honoured;

    std::size_t size() const { return part.size(); }

    template <typename Self, typename Visit>
    static void columns(Self& self, Visit& visit) {
        visit(ColumnInfo{"part", Refers::part}, self.part);
        visit(ColumnInfo{"sequence"}, self.sequence);
        visit(ColumnInfo{"batch", Refers::string}, self.batch);
        visit(ColumnInfo{"epoch"}, self.epoch);
        visit(ColumnInfo{"predecessor", Refers::string}, self.predecessor);
        visit(ColumnInfo{"last_honoured"}, self.last_honoured);
    }
};

struct InvalidationTable {
    Column<std::uint32_t> part;
    Column<std::uint64_t> sequence;
    Column<std::uint32_t> step;
    Column<std::uint32_t> generation; ///< the new one
    Column<std::uint32_t> reason;
    Column<std::uint32_t> user;
    Column<std::int64_t> at_ns;

    std::size_t size() const { return step.size(); }

    template <typename Self, typename Visit>
    static void columns(Self& self, Visit& visit) {
        visit(ColumnInfo{"part", Refers::part}, self.part);
        visit(ColumnInfo{"sequence"}, self.sequence);
        visit(ColumnInfo{"step", Refers::step}, self.step);
        visit(ColumnInfo{"generation"}, self.generation);
        visit(ColumnInfo{"reason", Refers::string}, self.reason);
        visit(ColumnInfo{"user", Refers::string}, self.user);
        visit(ColumnInfo{"at_ns", Refers::nothing, "ns", false, {}, true}, self.at_ns);
    }
};

/// The frames that are in these tables: of each journal file, those with numbers from `first_sequence` to
/// `last_sequence`.
struct CoverageTable {
    Column<std::uint32_t> part;
    Column<std::uint32_t> file; ///< 4 for journal-0004
    Column<std::uint64_t> first_sequence;
    Column<std::uint64_t> last_sequence;
    Column<std::uint64_t> read_bytes; ///< size of the file when it was read

    std::size_t size() const { return file.size(); }

    template <typename Self, typename Visit>
    static void columns(Self& self, Visit& visit) {
        visit(ColumnInfo{"part", Refers::part}, self.part);
        visit(ColumnInfo{"file"}, self.file);
        visit(ColumnInfo{"first_sequence"}, self.first_sequence);
        visit(ColumnInfo{"last_sequence"}, self.last_sequence);
        visit(ColumnInfo{"read_bytes", Refers::nothing, "bytes"}, self.read_bytes);
    }
};

} // namespace tessera
