#pragma once

#include <tessera/worker/attempt_logs.hpp>
#include <tessera/worker/environment.hpp>
#include <tessera/worker/executor.hpp>
#include <tessera/worker/metrics_reader.hpp>
#include <tessera/worker/supervisor_client.hpp>
#include <tessera/worker/worker_identity.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

struct ProcessExecutorConfig {
    WorkerIdentity worker;
    std::string campaign_dir;                            ///< absolute
    std::string programs_folder;                         ///< of Tessera's own programs, for the cells' PATH
    std::string visibility_variable;                     ///< of the Welcome
    Environment base_environment;                        ///< the rank's own
    Duration metrics_interval = std::chrono::seconds(1); ///< between two looks at a running attempt's metrics
    /// How long a death by a signal that we did not send waits for a stop that explains it.
    Duration settle_time = std::chrono::seconds(3);
};

/// Runs each attempt as one process in a folder of its own, started and cleared by the supervisor.
class ProcessExecutor final : public Executor {
public:
    /// `supervisor` must outlive this. The part's folder must be there by the time that a log is packed.
    ProcessExecutor(ProcessExecutorConfig config, SupervisorClient& supervisor);

    void start(const WorkItem& item, const Placement& placement) override;
    void stop(std::uint64_t ticket, StopReason reason) override;
    std::vector<pollfd> poll_fds() const override;
    std::optional<Moment> next_deadline() const override;
    std::vector<Event> poll() override;

private:
    struct Attempt {
        WorkItem item;
        Placement placement;
        EndedEvent ended; ///< what is known of it so far
        std::string folder;
        std::string path_variable;
        MetricsReader metrics;
        Moment started;
        bool stop_asked = false;
        bool over = false;                 ///< its end is among the events
        std::string loss{};                ///< how the supervisor that ran it died
        std::optional<EndedReport> held{}; ///< its end, while it waits for a stop that may explain it
        std::optional<Moment> held_until{};
        std::vector<std::string> log_problems{};
    };

    void launch(const WorkItem& item, const Placement& placement);
    void refuse(const WorkItem& item, std::string message);
    void take(const SupervisorReport& report);
    void take_started(Attempt& attempt, const StartedReport& report);
    void take_ended(Attempt& attempt, const EndedReport& report);
    void lose_all(const std::string& death);
    void lose(Attempt& attempt);
    void release_held();
    void read_metrics();
    void stream_metrics(Attempt& attempt, std::vector<MetricPoint> points);
    void conclude(Attempt& attempt, const EndedReport& report);
    static void note_problem(Attempt& attempt, std::string_view stream, const StreamSummary& summary);
    void settle_files(Attempt& attempt, bool ran);
    double age_s(const Attempt& attempt) const;
    Attempt* find(std::uint64_t ticket);

    ProcessExecutorConfig config_;
    SupervisorClient& supervisor_;
    AttemptLogs logs_;
    SystemClock clock_;
    std::map<std::uint64_t, Attempt> attempts_;
    std::vector<Event> events_;
    Moment next_metrics_;
};

} // namespace tessera
