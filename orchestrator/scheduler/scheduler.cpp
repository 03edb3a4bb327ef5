#include <tessera/scheduler/scheduler.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <tuple>

namespace tessera {

namespace {

/// Weight of the newest duration in a class' mean.
constexpr double newest_weight = 0.2;

Resources sum(const Resources& a, const Resources& b, std::uint32_t times = 1) {
    return {a.cores + times * b.cores, a.memory_bytes + times * b.memory_bytes,
            a.devices + times * b.devices};
}

Resources difference(const Resources& a, const Resources& b) {
    return {a.cores - b.cores, a.memory_bytes - b.memory_bytes, a.devices - b.devices};
}

/// A capacity without a known memory size does not limit memory.
bool fits(const Resources& demand, const Resources& capacity) {
    return demand.cores <= capacity.cores && demand.devices <= capacity.devices &&
           (capacity.memory_bytes == 0 || demand.memory_bytes <= capacity.memory_bytes);
}

bool demands_more(const Resources& a, const Resources& b) {
    return std::tie(a.devices, a.cores, a.memory_bytes) > std::tie(b.devices, b.cores, b.memory_bytes);
}

} // namespace

void Scheduler::add_step(StepIndex index, const StepEntry& entry) {
    Step& step = steps_[index];
    if (step.status != StepStatus::absent) throw std::logic_error("a step was added twice");
    step.class_index = class_of(entry);
    for (const auto& [failure, count] : entry.failures)
        step.failures[static_cast<std::size_t>(failure)] = static_cast<std::uint8_t>(std::min(count, 255U));
    if (entry.succeeded) {
        set_status(index, StepStatus::succeeded);
        release_dependents(index);
        return;
    }
    if (!retries_left(step)) {
        set_status(index, StepStatus::failed);
        block_dependents(index);
        return;
    }
    bool blocked = false;
    for (const StepIndex needed : entry.needs) {
        dependents_[needed].push_back(index);
        const StepStatus status = steps_[needed].status;
        if (status != StepStatus::succeeded) ++step.unmet;
        blocked = blocked || status == StepStatus::failed || status == StepStatus::blocked;
    }
    if (blocked) {
        set_status(index, StepStatus::blocked);
        block_dependents(index);
    } else if (step.unmet > 0) {
        set_status(index, StepStatus::waiting);
    } else {
        enqueue(index);
    }
}

std::uint16_t Scheduler::class_of(const StepEntry& entry) {
    const auto found = std::find_if(classes_.begin(), classes_.end(), [&](const Class& candidate) {
        return candidate.resources == entry.resources && candidate.retry == entry.retry;
    });
    if (found != classes_.end()) return static_cast<std::uint16_t>(found - classes_.begin());
    if (classes_.size() > std::numeric_limits<std::uint16_t>::max())
        throw std::length_error("steps ask for more than 65,536 kinds of resources");
    const auto index = static_cast<std::uint16_t>(classes_.size());
    classes_.push_back({entry.resources, entry.retry, {}, 0, false});
    const auto place = std::find_if(class_order_.begin(), class_order_.end(), [&](std::uint16_t other) {
        return demands_more(entry.resources, classes_[other].resources);
    });
    class_order_.insert(place, index);
    return index;
}

void Scheduler::set_status(StepIndex index, StepStatus status) {
    Step& step = steps_[index];
    if (step.status != StepStatus::absent) --counts_[static_cast<std::size_t>(step.status)];
    step.status = status;
    ++counts_[static_cast<std::size_t>(status)];
}

void Scheduler::enqueue(StepIndex index) {
    set_status(index, StepStatus::ready);
    classes_[steps_[index].class_index].ready.push_back(index);
}

WorkerIndex Scheduler::add_worker(const Resources& capacity) {
    workers_.push_back({capacity, {0, 0, 0}, true, {}});
    return static_cast<WorkerIndex>(workers_.size() - 1);
}

std::vector<StepIndex> Scheduler::remove_worker(WorkerIndex worker) {
    workers_[worker].present = false;
    return workers_[worker].steps;
}

std::vector<Assignment> Scheduler::assign(Moment now) {
    std::vector<Assignment> out;
    if (draining_) return out;
    promote_retries(now);
    std::vector<bool> reserved(workers_.size(), false);
    for (const std::uint16_t class_index : class_order_) {
        Class& step_class = classes_[class_index];
        // One step a worker in each round, so that few steps spread over the workers.
        for (std::uint32_t round = 0; !step_class.ready.empty(); ++round) {
            bool placed = false;
            for (WorkerIndex w = 0; w < workers_.size() && !step_class.ready.empty(); ++w) {
                if (reserved[w] || !has_room(workers_[w], step_class, 0)) continue;
                give_to_worker(step_class.ready.front(), w, out);
                step_class.ready.pop_front();
                placed = true;
            }
            if (!placed) break;
        }
        for (WorkerIndex w = 0; w < workers_.size(); ++w) {
            if (reserved[w]) continue;
            const std::uint32_t ahead = prefetch(workers_[w], step_class);
            // Guided self-scheduling: no worker takes more than half of its even share of what is left.
            std::size_t allowance =
                (step_class.ready.size() + 2 * workers_.size() - 1) / (2 * workers_.size());
            for (; ahead > 0 && allowance > 0 && has_room(workers_[w], step_class, ahead); --allowance) {
                give_to_worker(step_class.ready.front(), w, out);
                step_class.ready.pop_front();
            }
        }
        // Smaller steps must not keep a larger one from ever finding its room.
        if (!step_class.ready.empty())
            if (const auto worker = best_to_reserve(step_class, reserved)) reserved[*worker] = true;
    }
    return out;
}

bool Scheduler::has_room(const Worker& worker, const Class& step_class, std::uint32_t prefetched) const {
    if (!worker.present || !fits(step_class.resources, worker.capacity)) return false;
    return fits(sum(worker.used, step_class.resources),
                sum(worker.capacity, step_class.resources, prefetched));
}

std::uint32_t Scheduler::prefetch(const Worker& worker, const Class& step_class) const {
    if (!step_class.measured || !worker.present) return 0;
    const double per_slot = prefetch_s / std::max(step_class.mean_duration_s, 1e-9);
    const std::uint32_t slots = worker.capacity.cores / std::max(step_class.resources.cores, 1U);
    return static_cast<std::uint32_t>(std::min<double>(per_slot, max_prefetch_per_slot)) * slots;
}

std::optional<WorkerIndex> Scheduler::best_to_reserve(const Class& step_class,
                                                      const std::vector<bool>& reserved) const {
    std::optional<WorkerIndex> best;
    for (WorkerIndex w = 0; w < workers_.size(); ++w) {
        const Worker& worker = workers_[w];
        if (reserved[w] || !worker.present || !fits(step_class.resources, worker.capacity)) continue;
        const auto free_cores = [](const Worker& candidate) {
            return static_cast<std::int64_t>(candidate.capacity.cores) - candidate.used.cores;
        };
        if (!best || free_cores(worker) > free_cores(workers_[*best])) best = w;
    }
    return best;
}

void Scheduler::give_to_worker(StepIndex index, WorkerIndex w, std::vector<Assignment>& out) {
    Worker& worker = workers_[w];
    Step& step = steps_[index];
    step.worker = w;
    step.position = static_cast<std::uint32_t>(worker.steps.size());
    worker.steps.push_back(index);
    worker.used = sum(worker.used, classes_[step.class_index].resources);
    set_status(index, StepStatus::assigned);
    out.push_back({w, index});
}

void Scheduler::take_from_worker(StepIndex index) {
    const Step& step = steps_[index];
    Worker& worker = workers_[step.worker];
    const StepIndex last = worker.steps.back();
    worker.steps[step.position] = last;
    steps_[last].position = step.position;
    worker.steps.pop_back();
    worker.used = difference(worker.used, classes_[step.class_index].resources);
}

std::vector<Assignment> Scheduler::steal() {
    std::vector<Assignment> out;
    if (draining_ || count(StepStatus::ready) > 0 || count(StepStatus::assigned) == 0) return out;
    const auto fits_an_idle_worker = [&](StepIndex step) {
        const Resources& demand = classes_[steps_[step].class_index].resources;
        return std::any_of(workers_.begin(), workers_.end(), [&](const Worker& worker) {
            return worker.present && worker.steps.empty() && fits(demand, worker.capacity);
        });
    };
    std::vector<StepIndex> most;
    WorkerIndex owner = 0;
    for (WorkerIndex w = 0; w < workers_.size(); ++w) {
        if (!workers_[w].present || fits(workers_[w].used, workers_[w].capacity)) continue;
        std::vector<StepIndex> unstarted;
        for (const StepIndex step : workers_[w].steps)
            if (steps_[step].status == StepStatus::assigned && fits_an_idle_worker(step))
                unstarted.push_back(step);
        if (unstarted.size() > most.size()) {
            most = std::move(unstarted);
            owner = w;
        }
    }
    const std::size_t wanted = (most.size() + 1) / 2;
    for (std::size_t i = most.size() - wanted; i < most.size(); ++i)
        out.push_back({owner, most[i]});
    return out;
}

void Scheduler::started(StepIndex index) {
    if (steps_[index].status == StepStatus::assigned) set_status(index, StepStatus::running);
}

void Scheduler::returned(StepIndex index) {
    if (steps_[index].status != StepStatus::assigned) return;
    take_from_worker(index);
    set_status(index, StepStatus::ready);
    classes_[steps_[index].class_index].ready.push_front(index);
}

void Scheduler::ended(StepIndex index, AttemptEnd end, FailureClass failure, double duration_s, Moment now) {
    const StepStatus before = steps_[index].status;
    if (before != StepStatus::assigned && before != StepStatus::running) return;
    take_from_worker(index);
    Class& step_class = classes_[steps_[index].class_index];
    if (end == AttemptEnd::succeeded) {
        step_class.mean_duration_s = step_class.measured ? (1 - newest_weight) * step_class.mean_duration_s +
                                                               newest_weight * duration_s
                                                         : duration_s;
        step_class.measured = true;
        set_status(index, StepStatus::succeeded);
        release_dependents(index);
    } else if (end == AttemptEnd::preempted) {
        enqueue(index);
    } else {
        fail_or_retry(index, failure, now);
    }
}

bool Scheduler::retries_left(const Step& step) const {
    const RetryPolicy& retry = classes_[step.class_index].retry;
    for (std::size_t failure = 0; failure < step.failures.size(); ++failure) {
        const auto limit = retry.limit(static_cast<FailureClass>(failure));
        if (limit && step.failures[failure] > *limit) return false;
    }
    return true;
}

void Scheduler::fail_or_retry(StepIndex index, FailureClass failure, Moment now) {
    Step& step = steps_[index];
    const RetryPolicy& retry = classes_[step.class_index].retry;
    std::uint8_t& failures = step.failures[static_cast<std::size_t>(failure)];
    if (failures < std::numeric_limits<std::uint8_t>::max()) ++failures;
    if (!retries_left(step)) {
        set_status(index, StepStatus::failed);
        block_dependents(index);
        return;
    }
    // Doubles with each failure of the class, up to about an hour for the default.
    const unsigned doublings = std::min(failures - 1U, 8U);
    set_status(index, StepStatus::delayed);
    retries_.push({now + from_seconds(retry.backoff_s * static_cast<double>(1U << doublings)), index});
}

void Scheduler::promote_retries(Moment now) {
    while (!retries_.empty() && retries_.top().at <= now) {
        const StepIndex step = retries_.top().step;
        retries_.pop();
        if (steps_[step].status == StepStatus::delayed) enqueue(step);
    }
}

void Scheduler::release_dependents(StepIndex index) {
    const auto found = dependents_.find(index);
    if (found == dependents_.end()) return;
    for (const StepIndex dependent : found->second) {
        Step& step = steps_[dependent];
        if (step.unmet > 0 && --step.unmet == 0 && step.status == StepStatus::waiting) enqueue(dependent);
    }
}

void Scheduler::block_dependents(StepIndex index) {
    const auto found = dependents_.find(index);
    if (found == dependents_.end()) return;
    for (const StepIndex dependent : found->second) {
        if (steps_[dependent].status != StepStatus::waiting) continue;
        set_status(dependent, StepStatus::blocked);
        block_dependents(dependent);
    }
}

std::optional<Moment> Scheduler::next_retry() const {
    if (retries_.empty() || draining_) return std::nullopt;
    return retries_.top().at;
}

bool Scheduler::finished() const {
    if (count(StepStatus::assigned) + count(StepStatus::running) > 0) return false;
    if (draining_) return true;
    if (count(StepStatus::delayed) > 0) return false;
    return count(StepStatus::ready) == unplaceable().size();
}

std::optional<WorkerIndex> Scheduler::worker_of(StepIndex index) const {
    const Step& step = steps_[index];
    if (step.status != StepStatus::assigned && step.status != StepStatus::running) return std::nullopt;
    return step.worker;
}

std::vector<StepIndex> Scheduler::unplaceable() const {
    std::vector<StepIndex> out;
    for (const Class& step_class : classes_) {
        const bool placeable = std::any_of(workers_.begin(), workers_.end(), [&](const Worker& worker) {
            return worker.present && fits(step_class.resources, worker.capacity);
        });
        if (!placeable) out.insert(out.end(), step_class.ready.begin(), step_class.ready.end());
    }
    return out;
}

std::string Scheduler::why_not(StepIndex index) const {
    const Step& step = steps_[index];
    if (step.status != StepStatus::ready) return {};
    if (draining_) return "the run is stopping";
    const Class& step_class = classes_[step.class_index];
    Resources largest{0, 0, 0};
    for (const Worker& worker : workers_) {
        if (!worker.present) continue;
        if (fits(step_class.resources, worker.capacity))
            return has_room(worker, step_class, 0) ? std::string() : "every worker it fits is busy";
        if (demands_more(worker.capacity, largest)) largest = worker.capacity;
    }
    const Resources& wants = step_class.resources;
    return fmt::format(
        "it asks for {} cores, {} bytes of memory and {} devices; the largest worker has {}, {} and {}",
        wants.cores, wants.memory_bytes, wants.devices, largest.cores, largest.memory_bytes, largest.devices);
}

void Scheduler::sanity_check() const {
    std::array<std::size_t, 9> counted = {};
    for (const Step& step : steps_)
        if (step.status != StepStatus::absent) ++counted[static_cast<std::size_t>(step.status)];
    if (counted != counts_) throw std::logic_error("steps by status do not add up");
    std::size_t queued = 0;
    for (const Class& step_class : classes_)
        queued += step_class.ready.size();
    if (queued != count(StepStatus::ready)) throw std::logic_error("queues do not hold the ready steps");
    std::size_t at_workers = 0;
    for (const Worker& worker : workers_) {
        Resources used{0, 0, 0};
        for (std::size_t i = 0; i < worker.steps.size(); ++i) {
            const Step& step = steps_[worker.steps[i]];
            if (step.position != i) throw std::logic_error("a step's place at its worker is wrong");
            used = sum(used, classes_[step.class_index].resources);
        }
        if (used != worker.used) throw std::logic_error("a worker's use does not add up");
        at_workers += worker.steps.size();
    }
    if (at_workers != count(StepStatus::assigned) + count(StepStatus::running))
        throw std::logic_error("workers do not hold the assigned steps");
}

} // namespace tessera
