#include <tessera/journal/acceptance.hpp>

#include <algorithm>

namespace tessera {

std::string_view name(Standing standing) {
    switch (standing) {
    case Standing::open:
        return "open";
    case Standing::accepted:
        return "accepted";
    case Standing::superseded:
        return "superseded";
    case Standing::unsuccessful:
        return "unsuccessful";
    case Standing::not_honoured:
        return "not_honoured";
    }
    return "unknown";
}

std::uint32_t Acceptance::Names::number(const std::string& name) {
    if (last_ != none && names_[last_] == name) return last_;
    const auto [entry, added] = numbers_.try_emplace(name, static_cast<std::uint32_t>(names_.size()));
    if (added) names_.push_back(name);
    last_ = entry->second;
    return last_;
}

std::optional<std::uint32_t> Acceptance::Names::find(const std::string& name) const {
    const auto found = numbers_.find(name);
    return found == numbers_.end() ? std::nullopt : std::optional(found->second);
}

Acceptance::Origin Acceptance::origin(const FramePosition& position, const ClaimRef& claim,
                                      std::uint32_t generation) {
    return {.sequence = position.sequence,
            .part = parts_.number(position.part),
            .batch = claim.batch.empty() ? none : batches_.number(claim.batch),
            .epoch = claim.epoch,
            .generation = generation};
}

std::uint32_t Acceptance::step_number(const StepKey& key) {
    const auto [entry, added] = step_numbers_.try_emplace(key, static_cast<std::uint32_t>(steps_.size()));
    if (added) steps_.emplace_back().key = key;
    return entry->second;
}

const Acceptance::Step* Acceptance::find_step(const StepKey& key) const {
    const auto found = step_numbers_.find(key);
    return found == step_numbers_.end() ? nullptr : &steps_[found->second];
}

std::uint32_t Acceptance::attempt_number(const StepKey& key, std::uint32_t part, std::uint32_t number) {
    Step& step = steps_[step_number(key)];
    for (std::uint32_t i = step.first_attempt; i != none; i = attempts_[i].next)
        if (attempts_[i].part == part && attempts_[i].number == number) return i;
    Attempt& attempt = attempts_.emplace_back();
    attempt.part = part;
    attempt.number = number;
    attempt.next = step.first_attempt;
    step.first_attempt = static_cast<std::uint32_t>(attempts_.size() - 1);
    return step.first_attempt;
}

const Acceptance::Attempt* Acceptance::find_attempt(const AttemptId& id) const {
    const Step* step = find_step(id.step);
    const auto part = parts_.find(id.part);
    if (step == nullptr || !part) return nullptr;
    for (std::uint32_t i = step->first_attempt; i != none; i = attempts_[i].next)
        if (attempts_[i].part == *part && attempts_[i].number == id.number) return &attempts_[i];
    return nullptr;
}

void Acceptance::add(const FramePosition& position, const Record& record) {
    if (const auto* outcome = std::get_if<OutcomeRecord>(&record))
        add(position, *outcome);
    else if (const auto* dispatched = std::get_if<DispatchedRecord>(&record))
        add(position, *dispatched);
    else if (const auto* invalidated = std::get_if<InvalidatedRecord>(&record))
        add(*invalidated);
    else if (const auto* claim = std::get_if<ClaimRecord>(&record))
        add(position, *claim);
}

namespace {

/// The class that counts for retries, also when a writer left it out.
FailureClass failure_of(const OutcomeRecord& record) {
    if (record.failure != FailureClass::none || record.kind == OutcomeKind::succeeded) return record.failure;
    switch (record.kind) {
    case OutcomeKind::timed_out:
        return FailureClass::timeout;
    case OutcomeKind::preempted:
        return FailureClass::preempted;
    case OutcomeKind::lost:
        return FailureClass::lost;
    default:
        return FailureClass::exit;
    }
}

} // namespace

void Acceptance::add(const FramePosition& position, const OutcomeRecord& record) {
    const Origin from = origin(position, record.claim, record.generation);
    const std::uint32_t part = parts_.number(record.attempt.part);
    Attempt& attempt = attempts_[attempt_number(record.attempt.step, part, record.attempt.number)];
    for (std::uint32_t i = attempt.first_outcome; i != none; i = outcomes_[i].next)
        if (outcomes_[i].origin.part == from.part && outcomes_[i].origin.sequence == from.sequence) return;
    Outcome& outcome = outcomes_.emplace_back();
    outcome.origin = from;
    outcome.kind = record.kind;
    outcome.failure = failure_of(record);
    outcome.next = attempt.first_outcome;
    if (record.kind != OutcomeKind::succeeded && !record.message.empty()) {
        outcome.message = static_cast<std::uint32_t>(messages_.size());
        messages_.push_back(record.message);
    }
    attempt.first_outcome = static_cast<std::uint32_t>(outcomes_.size() - 1);
}

void Acceptance::add(const FramePosition& position, const DispatchedRecord& record) {
    Origin from = origin(position, record.claim, 1);
    for (const DispatchedItem& item : record.items) {
        from.generation = item.generation;
        Attempt& attempt = attempts_[attempt_number(item.step, from.part, item.number)];
        if (attempt.dispatched.part == none || from.sequence < attempt.dispatched.sequence)
            attempt.dispatched = from;
    }
}

void Acceptance::add(const InvalidatedRecord& record) {
    for (const InvalidatedRecord::Item& item : record.items) {
        Step& step = steps_[step_number(item.step)];
        step.generation = std::max(step.generation, item.generation);
    }
}

void Acceptance::add(const FramePosition& position, const ClaimRecord& record) {
    if (record.predecessor.empty()) return;
    const Claim claim{.sequence = position.sequence,
                      .last_honoured = record.last_honoured,
                      .part = parts_.number(position.part),
                      .batch = batches_.number(record.claim.batch),
                      .epoch = record.claim.epoch,
                      .predecessor = parts_.number(record.predecessor)};
    if (std::find(claims_.begin(), claims_.end(), claim) != claims_.end()) return;
    claims_.push_back(claim);
    fences_current_ = false;
}

void Acceptance::for_each_step(const std::function<void(const StepKey&)>& visit) const {
    for (const Step& step : steps_)
        visit(step.key);
}

bool Acceptance::has_outcome(const AttemptId& id) const {
    const Attempt* attempt = find_attempt(id);
    return attempt != nullptr && attempt->first_outcome != none;
}

} // namespace tessera
