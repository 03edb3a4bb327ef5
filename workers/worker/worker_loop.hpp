#pragma once

#include <tessera/base/clock.hpp>
#include <tessera/protocol/codec.hpp>
#include <tessera/protocol/messages.hpp>
#include <tessera/protocol/transport.hpp>
#include <tessera/worker/executor.hpp>
#include <tessera/worker/outcome_sink.hpp>
#include <tessera/worker/report_queue.hpp>
#include <tessera/worker/resource_pool.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace tessera {

struct WorkerSettings {
    Welcome welcome;
    std::string host; ///< for the outcomes that the loop makes itself
    Locality locality;
    PeerId controller = 0;
    std::uint32_t silent_heartbeats =
        6;                   ///< intervals without a word after which the controller counts as lost
    double spool_sync_s = 1; ///< how long an outcome may be neither acknowledged nor synced
    ReportLimits reports;
    std::size_t waiting_bytes = std::size_t{64} << 20U; ///< of outcomes; nothing starts while more wait
};

enum class WorkerEnd : std::uint8_t {
    stopped,            ///< the controller said so
    controller_silent,  ///< no heartbeat
    controller_lost,    ///< the transport says that it is gone
    controller_garbled, ///< it sent what cannot be read
    spool_failed,       ///< outcomes cannot be kept any more
};

struct WorkerResult {
    WorkerEnd end = WorkerEnd::stopped;
    std::string detail; ///< for the last two
};

/// A worker after its Welcome: keeps a queue of attempts, starts them as its resources allow, and reports
/// what happens. At most one Report is unacknowledged; what comes meanwhile waits, and no slot waits for it.
/// When the controller is gone, running attempts end as preempted and stay in the spool for the next run.
///
/// A loop is `while (worker.step()) worker.wait();`, which is run().
class WorkerLoop {
public:
    /// All references must outlive the loop.
    WorkerLoop(Transport& transport, Executor& executor, OutcomeSink& sink, const Clock& clock,
               WorkerSettings settings);

    /// Does all that can be done now; false when the worker has ended.
    bool step();

    /// Sleeps until there is something to do.
    void wait();

    WorkerResult run();

    const WorkerResult& result() const { return result_; }

private:
    struct Running {
        Resources resources;
        Placement placement;
    };

    void receive_all();
    void handle(Message message);
    void on(Assign assign);
    void on(const Revoke& revoke);
    void on(const Acknowledge& acknowledge);
    void on(const Stop& stop);
    void check_controller();
    void lose_controller(WorkerEnd how, std::string detail);
    void begin_stop(StopMode mode);
    void give_back_queue();

    void work();
    void start_fitting();
    bool may_start() const;
    void start(const WorkItem& item);
    void refuse(const WorkItem& item, std::string why);
    bool take_events();
    void take(EndedEvent event);
    void keep(const OutcomeRecord& outcome);
    template <class Action>
    void guard_sink(const Action& action);

    void report();
    bool report_is_due() const;
    void sync_if_due();
    void beat();
    void end_if_done();
    void send(const Message& message);
    Moment next_deadline() const;

    Transport& transport_;
    Executor& executor_;
    OutcomeSink& sink_;
    const Clock& clock_;
    WorkerSettings settings_;
    Duration heartbeat_;

    ResourcePool pool_;
    std::deque<WorkItem> queue_;
    std::uint32_t head_overtaken_ =
        0; ///< items started before the first one of the queue since it is the first
    std::unordered_map<std::uint64_t, Running> running_;
    bool more_to_start_ = false;

    MessageDecoder decoder_;
    ReportQueue reports_;
    std::optional<std::uint64_t> unacknowledged_;
    std::optional<Moment> unsafe_since_; ///< oldest outcome that is neither acknowledged nor synced
    Moment now_;
    Moment last_heard_;
    Moment last_sent_;

    std::optional<StopMode> stop_;
    bool controller_gone_ = false;
    bool abandoned_ = false; ///< by a controller that is there but cannot record anything any more
    bool sink_failed_ = false;
    bool ended_ = false;
    WorkerResult result_;
};

} // namespace tessera
