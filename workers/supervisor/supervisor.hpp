#pragma once

#include <tessera/base/clock.hpp>
#include <tessera/base/fd.hpp>
#include <tessera/supervisor/cell_process.hpp>
#include <tessera/supervisor/cgroup.hpp>
#include <tessera/supervisor/output_log.hpp>
#include <tessera/supervisor/process_table.hpp>
#include <tessera/supervisor/supervisor_protocol.hpp>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <sys/resource.h>
#include <utility>
#include <vector>

#include <poll.h>

namespace tessera {

/// Starts the processes of one rank, watches them and ends them: the whole program behind its main(). It must
/// run in a single-threaded process that is a child subreaper and has SIGCHLD blocked.
///
/// An attempt runs until its first process ends, which fixes its outcome; it is then cleared: what is left of
/// it is terminated, and killed after the grace time. Only when nothing is left its end is reported.
class Supervisor {
public:
    Supervisor(UniqueFd socket, CellDefaults defaults);

    /// Returns when the client is gone or asked for the end, and no attempt is left.
    void run();

private:
    struct OomCounters {
        std::optional<std::uint64_t> cgroup;
        std::optional<std::uint64_t> machine;
    };

    struct Attempt {
        AttemptMark mark;
        EndedReport report;
        Duration grace{};
        Moment started;
        OutputLog standard_output;
        OutputLog standard_error;
        OomCounters oom_before;
        bool running = false;     ///< its first process has not ended
        bool terminating = false; ///< SIGTERM was sent to all of it
        bool is_sweep = false;
        bool over = false;
        std::optional<Moment> timeout_at;
        std::optional<Moment> kill_at;
        std::optional<Moment> check_at; ///< next look whether something is left
        Duration check_interval{};
        std::set<std::pair<pid_t, std::uint64_t>> signalled; ///< process and its start: ids are used again
        std::set<std::pair<pid_t, std::uint64_t>> leaked;
    };

    void wait();
    std::optional<Moment> next_deadline() const;
    void reap();
    void account(const rusage& usage, Attempt& attempt) const;
    void fix_outcome(Attempt& attempt, int status);
    void judge_oom(Attempt& attempt) const;
    void pump_output();
    void pump(Attempt& attempt, OutputLog& log, OutputStream stream);
    void read_requests();
    void handle(const SupervisorRequest& request);
    void start(const SpawnRequest& request);
    void stop(const StopRequest& request);
    void sweep(const SweepRequest& request);
    void end_all();
    void check_deadlines();
    void terminate(Attempt& attempt);
    void kill(Attempt& attempt);
    void signal_members(Attempt& attempt, const std::vector<ProcessEntry>& members);
    void clear(Attempt& attempt);
    void finish(Attempt& attempt);
    bool has_unknown_children() const;
    std::vector<ProcessEntry> members(const Attempt& attempt);
    bool room_for_descriptors() const;
    OomCounters oom_counters() const;
    Attempt* find(std::uint64_t ticket);
    void send(const SupervisorReport& report);

    UniqueFd socket_;
    CellDefaults defaults_;
    UniqueFd child_signals_;
    Cgroup cgroup_;
    FrameReader requests_;
    FrameWriter reports_;
    std::vector<Attempt> attempts_;
    std::optional<ProcessTable> processes_; ///< read at most once a turn
    std::vector<pollfd> waiting_;
    bool closing_ = false;
};

} // namespace tessera
