#pragma once

#include <tessera/base/clock.hpp>
#include <tessera/campaign/step_spec.hpp>

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <queue>
#include <string>
#include <vector>

namespace tessera {

using StepIndex = std::uint32_t;
using WorkerIndex = std::uint32_t;

enum class StepStatus : std::uint8_t {
    absent,    ///< not part of this run
    waiting,   ///< for steps that it needs
    ready,     ///< queued
    delayed,   ///< waiting for its retry
    assigned,  ///< handed to a worker, not started
    running,   ///< started
    succeeded, ///< has an accepted result
    failed,    ///< no retry is left
    blocked,   ///< a step that it needs failed
};

/// How an attempt ended, as far as scheduling cares.
enum class AttemptEnd : std::uint8_t { succeeded, failed, preempted };

/// What a step starts with, from the plan and from earlier parts.
struct StepEntry {
    Resources resources;
    RetryPolicy retry;
    std::vector<StepIndex> needs;
    bool succeeded = false;
    std::map<FailureClass, std::uint32_t> failures; ///< of the current generation, in earlier parts
};

struct Assignment {
    WorkerIndex worker = 0;
    StepIndex step = 0;

    bool operator==(const Assignment&) const = default;
};

/// Decides which step runs where and when. A pure state machine: it is fed with events and the time, and
/// asked for assignments; it knows no message, file or clock of its own.
///
/// Protocol: add steps and workers (in any order, at any time), then repeat: report events, call assign(),
/// carry out what it returns. All work is over when finished() is true.
class Scheduler {
public:
    /// How much work, in seconds of a worker's time, may wait at a worker beyond what it can run at once.
    /// Short enough that waiting at a busy worker costs little, long enough to hide the round trip.
    static constexpr double prefetch_s = 0.1;
    static constexpr std::uint32_t max_prefetch_per_slot = 512;

    /// Indices of steps are below `step_count`.
    explicit Scheduler(std::size_t step_count)
        : steps_(step_count) {}

    /// Adds a step to this run. The steps it needs may be added later, but before assign() is called.
    void add_step(StepIndex index, const StepEntry& entry);

    WorkerIndex add_worker(const Resources& capacity);

    /// The worker is gone. Returns the steps that it had; for each of them the caller reports ended() with
    /// the class lost (or preempted).
    std::vector<StepIndex> remove_worker(WorkerIndex worker);

    /// Steps to hand out now, best first for each worker.
    std::vector<Assignment> assign(Moment now);

    /// Prefetched steps to ask back, so that an idle worker can have them: call when assign() had nothing to
    /// give.
    std::vector<Assignment> steal();

    void started(StepIndex index);

    /// A worker gave the step back before it started it.
    void returned(StepIndex index);

    /// `duration_s` feeds the estimate behind prefetching.
    void ended(StepIndex index, AttemptEnd end, FailureClass failure, double duration_s, Moment now);

    /// No step is handed out any more.
    void drain() { draining_ = true; }

    bool draining() const { return draining_; }

    /// When assign() may have more to give though nothing happened: the earliest retry.
    std::optional<Moment> next_retry() const;

    /// Nothing is at a worker, and nothing will ever be unless a worker is added.
    bool finished() const;

    StepStatus status(StepIndex step) const { return steps_[step].status; }

    std::optional<WorkerIndex> worker_of(StepIndex index) const;

    std::size_t count(StepStatus status) const { return counts_[static_cast<std::size_t>(status)]; }

    /// Why a ready step is not handed out, from the predicates that assign() uses; empty if nothing hinders
    /// it.
    std::string why_not(StepIndex index) const;

    /// Ready steps that fit no worker of this run.
    std::vector<StepIndex> unplaceable() const;

    /// Throws std::logic_error if the bookkeeping contradicts itself. For tests.
    void sanity_check() const;

private:
    static constexpr std::size_t failure_classes = 9;

    /// Steps that ask for the same and may be retried alike.
    struct Class {
        Resources resources;
        RetryPolicy retry;
        std::deque<StepIndex> ready;
        double mean_duration_s = 0; ///< of its attempts so far, exponentially weighted
        bool measured = false;
    };

    struct Step {
        StepStatus status = StepStatus::absent;
        std::array<std::uint8_t, failure_classes> failures = {}; ///< by FailureClass
        std::uint16_t class_index = 0;
        std::uint32_t unmet = 0;    ///< needed steps that have not succeeded
        WorkerIndex worker = 0;     ///< while assigned or running
        std::uint32_t position = 0; ///< in that worker's `steps`
    };

    struct Worker {
        Resources capacity;
        Resources used; ///< by all its steps, prefetched ones too
        bool present = true;
        std::vector<StepIndex> steps;
    };

    struct Retry {
        Moment at;
        StepIndex step = 0;

        bool operator>(const Retry& other) const {
            return at != other.at ? at > other.at : step > other.step;
        }
    };

    void set_status(StepIndex index, StepStatus status);
    std::uint16_t class_of(const StepEntry& entry);
    void enqueue(StepIndex index);
    bool retries_left(const Step& step) const;
    void fail_or_retry(StepIndex index, FailureClass failure, Moment now);
    void release_dependents(StepIndex index);
    void block_dependents(StepIndex index);
    void promote_retries(Moment now);
    void take_from_worker(StepIndex index);
    void give_to_worker(StepIndex index, WorkerIndex worker, std::vector<Assignment>& out);
    std::uint32_t prefetch(const Worker& worker, const Class& step_class) const;
    bool has_room(const Worker& worker, const Class& step_class, std::uint32_t prefetched) const;
    std::optional<WorkerIndex> best_to_reserve(const Class& step_class,
                                               const std::vector<bool>& reserved) const;

    std::vector<Step> steps_;
    std::map<StepIndex, std::vector<StepIndex>> dependents_;
    std::vector<Class> classes_;
    std::vector<std::uint16_t> class_order_; ///< largest demand first
    std::vector<Worker> workers_;
    std::priority_queue<Retry, std::vector<Retry>, std::greater<>> retries_;
    std::array<std::size_t, 9> counts_ = {};
    bool draining_ = false;
};

} // namespace tessera
