#pragma once

#include <tessera/campaign/plan.hpp>
#include <tessera/controller/progress.hpp>
#include <tessera/controller/run_selection.hpp>
#include <tessera/journal/journal_writer.hpp>
#include <tessera/protocol/codec.hpp>
#include <tessera/protocol/transport.hpp>
#include <tessera/scheduler/scheduler.hpp>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tessera {

/// A worker that was welcomed.
struct JoinedWorker {
    PeerId peer = 0;
    std::string host;
    Resources capacity;
};

/// How urgently a run is asked to stop.
enum class StopLevel : std::uint8_t { none, drain, kill };

/// What surrounds a controller: how it hears of stop requests and where progress goes.
struct ControllerHooks {
    /// Asked at every turn of the loop; what it returns only grows.
    std::function<StopLevel()> stop_level;
    /// Descriptors that wake the loop when the stop level may have changed.
    std::vector<int> wake_fds;
    /// True once another run has taken the campaign over: nothing of this one counts any more.
    std::function<bool()> superseded;
    std::function<void(const Progress&)> progress;
    double progress_interval_s = 0.5;
    double heartbeat_s = 5;
    /// A worker that said nothing for this long is lost.
    double silence_limit_s = 60;
};

/// How the run ended, from which its exit code follows.
struct RunResult {
    std::uint64_t planned = 0; ///< cells that were asked for
    std::uint64_t succeeded = 0;
    std::uint64_t failed = 0;
    std::uint64_t blocked = 0;
    std::uint64_t unplaceable = 0;   ///< ask for more than any worker has
    std::uint64_t left = 0;          ///< without a verdict, and could run here
    std::uint64_t attempts = 0;      ///< that ended in this run
    std::string trouble;             ///< why the run could not go on; empty if it could
    std::string too_large;           ///< what the first unplaceable step asks for, for people
    std::vector<OutcomeRecord> lost; ///< of attempts whose workers were lost; not journalled yet
};

/// Runs the selected steps on the workers: hands out attempts, journals what comes back, acknowledges what is
/// durable.
class Controller {
public:
    Controller(const Plan& plan, const RunSelection& selection, const ClaimRef& claim,
               const std::string& part, JournalWriter& journal, Transport& transport, const Clock& clock,
               ControllerHooks hooks);

    /// Before run(); messages to the worker follow its Welcome in `encoder`'s stream.
    void add_worker(const JoinedWorker& worker, MessageEncoder encoder, MessageDecoder decoder);

    /// Returns when all is done or stopped and the workers have said goodbye or are lost.
    RunResult run();

private:
    struct Worker {
        JoinedWorker joined;
        MessageEncoder encoder;
        MessageDecoder decoder;
        Moment heard;
        Moment spoken;
        bool present = true;
        bool goodbye = false;
        bool revoking = false; ///< was asked to give work back and has not answered
    };

    struct PendingAck {
        WorkerIndex worker = 0;
        std::uint64_t report = 0;
        std::uint64_t sequence = 0;
    };

    struct Selected {
        std::uint32_t generation = 1;
        std::uint32_t next_attempt = 1;
        bool text_written = false;
    };

    struct Running {
        WorkerIndex worker = 0;
        Moment since;
    };

    void turn();
    void receive();
    void handle(WorkerIndex worker, Message message);
    void handle_report(WorkerIndex worker, Report report);
    void handle_ended(WorkerIndex worker, EndedEvent event);
    void hand_out();
    void send_assignments(WorkerIndex worker, const std::vector<StepIndex>& steps);
    void acknowledge_durable();
    void obey_stop_level();
    void stop_workers(StopMode mode);
    void watch_workers();
    void lose(WorkerIndex worker, const std::string& why);
    void fail_run(const std::string& trouble);
    void count_cells(StepIndex step);
    void send(WorkerIndex worker, const Message& message);
    void show_progress(const std::string& phase);
    void wait();
    bool all_workers_gone() const;
    RunResult result() const;
    std::string describe(StepIndex step) const;

    std::optional<StepIndex> step_of(std::uint64_t ticket) const;
    std::uint64_t ticket(StepIndex step) const;

    const Plan& plan_;
    const std::vector<CellIndex>& cells_;
    ClaimRef claim_;
    std::string part_;
    JournalWriter& journal_;
    Transport& transport_;
    const Clock& clock_;
    ControllerHooks hooks_;
    Scheduler scheduler_;
    std::vector<Selected> selected_; ///< by step
    std::vector<bool> cell_selected_;
    std::vector<Worker> workers_;
    std::map<PeerId, WorkerIndex> worker_of_peer_;
    std::map<StepIndex, Running> running_;
    std::deque<PendingAck> pending_acks_;
    StopLevel stopping_ = StopLevel::none;
    bool finishing_ = false;
    std::string trouble_;
    std::uint64_t reused_ = 0;
    std::uint64_t succeeded_ = 0;
    std::uint64_t failed_ = 0;
    std::uint64_t attempts_ = 0;
    std::vector<OutcomeRecord> lost_;
    std::vector<std::string> new_failures_;
    Moment started_;
    Moment shown_;
};

} // namespace tessera
