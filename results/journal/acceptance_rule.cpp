#include <tessera/journal/acceptance.hpp>

#include <algorithm>
#include <tuple>

namespace tessera {

namespace {

std::uint64_t fence_key(std::uint32_t part, std::uint32_t batch) {
    return std::uint64_t{part} << 32U | batch;
}

} // namespace

/// From the highest epoch down: a claim holds unless one of a higher epoch that holds voids it.
void Acceptance::resolve_claims() const {
    if (fences_current_) return;
    fences_.clear();
    std::vector<Claim> claims = claims_;
    std::sort(claims.begin(), claims.end(), [](const Claim& a, const Claim& b) { return a.epoch > b.epoch; });
    fences_current_ = true;
    for (const Claim& claim : claims) {
        const Origin from{
            .sequence = claim.sequence, .part = claim.part, .batch = claim.batch, .epoch = claim.epoch};
        if (!is_void(from)) fences_[fence_key(claim.predecessor, claim.batch)].push_back(claim);
    }
}

bool Acceptance::is_void(const Origin& origin) const {
    if (origin.batch == none || claims_.empty()) return false;
    const auto fences = fences_.find(fence_key(origin.part, origin.batch));
    if (fences == fences_.end()) return false;
    return std::any_of(fences->second.begin(), fences->second.end(), [&](const Claim& fence) {
        return fence.epoch > origin.epoch && origin.sequence > fence.last_honoured;
    });
}

bool Acceptance::is_void(const FramePosition& position, const ClaimRef& claim) const {
    resolve_claims();
    const auto part = parts_.find(position.part);
    const auto batch = batches_.find(claim.batch);
    if (!part || !batch) return false;
    return is_void(
        Origin{.sequence = position.sequence, .part = *part, .batch = *batch, .epoch = claim.epoch});
}

bool Acceptance::before(const Origin& a, const Origin& b) const {
    if (a.part == b.part) return a.sequence < b.sequence;
    return parts_.name(a.part) < parts_.name(b.part);
}

std::uint32_t Acceptance::Resolved::generation() const {
    return outcome != nullptr ? outcome->origin.generation : dispatched->generation;
}

Acceptance::Resolved Acceptance::resolve(const Attempt& attempt) const {
    Resolved resolved{.attempt = &attempt};
    if (attempt.dispatched.part != none && !is_void(attempt.dispatched))
        resolved.dispatched = &attempt.dispatched;
    for (std::uint32_t i = attempt.first_outcome; i != none; i = outcomes_[i].next) {
        const Outcome& outcome = outcomes_[i];
        const bool first = resolved.outcome == nullptr || before(outcome.origin, resolved.outcome->origin);
        if (first && !is_void(outcome.origin)) resolved.outcome = &outcome;
    }
    return resolved;
}

std::vector<Acceptance::Resolved> Acceptance::resolve(const Step& step) const {
    resolve_claims();
    std::vector<Resolved> resolved;
    for (std::uint32_t i = step.first_attempt; i != none; i = attempts_[i].next)
        resolved.push_back(resolve(attempts_[i]));
    return resolved;
}

std::uint32_t Acceptance::current_generation(const Step& step, const std::vector<Resolved>& attempts) const {
    std::uint32_t generation = step.generation;
    for (const Resolved& attempt : attempts)
        if (attempt.honoured()) generation = std::max(generation, attempt.generation());
    return generation;
}

const Acceptance::Outcome* Acceptance::accepted(const std::vector<Resolved>& attempts,
                                                std::uint32_t generation) const {
    const Outcome* first = nullptr;
    for (const Resolved& attempt : attempts) {
        const Outcome* outcome = attempt.outcome;
        if (outcome == nullptr || outcome->kind != OutcomeKind::succeeded) continue;
        if (outcome->origin.generation != generation) continue;
        if (first == nullptr || before(outcome->origin, first->origin)) first = outcome;
    }
    return first;
}

namespace {

Standing standing_of(OutcomeKind kind, bool accepted) {
    if (kind != OutcomeKind::succeeded) return Standing::unsuccessful;
    return accepted ? Standing::accepted : Standing::superseded;
}

} // namespace

AttemptView Acceptance::view(const Step& step, const Resolved& resolved, const Outcome* accepted) const {
    AttemptView view;
    const Attempt& attempt = *resolved.attempt;
    view.id = {parts_.name(attempt.part), step.key, attempt.number};
    if (!resolved.honoured()) {
        view.standing = Standing::not_honoured;
        return view;
    }
    view.generation = resolved.generation();
    if (resolved.dispatched != nullptr)
        view.dispatched = {parts_.name(resolved.dispatched->part), resolved.dispatched->sequence};
    const Origin& origin = resolved.outcome != nullptr ? resolved.outcome->origin : *resolved.dispatched;
    if (origin.batch != none) view.claim = {batches_.name(origin.batch), origin.epoch};
    if (resolved.outcome == nullptr) return view;
    view.standing = standing_of(resolved.outcome->kind, resolved.outcome == accepted);
    view.kind = resolved.outcome->kind;
    view.failure = resolved.outcome->failure;
    view.outcome = {parts_.name(origin.part), origin.sequence};
    if (resolved.outcome->message != none) view.message = messages_[resolved.outcome->message];
    return view;
}

void Acceptance::count(StepView& view, const Resolved& resolved) const {
    view.highest_number = std::max(view.highest_number, resolved.attempt->number);
    if (!resolved.honoured()) return;
    ++view.attempts;
    if (resolved.generation() != view.generation) return;
    ++view.generation_attempts;
    if (resolved.outcome == nullptr)
        ++view.open;
    else if (resolved.outcome->kind != OutcomeKind::succeeded)
        ++view.failures[static_cast<std::size_t>(resolved.outcome->failure)];
}

StepView Acceptance::step(const StepKey& key) const {
    StepView result;
    const Step* step = find_step(key);
    if (step == nullptr) return result;
    const std::vector<Resolved> attempts = resolve(*step);
    result.generation = current_generation(*step, attempts);
    const Outcome* winner = accepted(attempts, result.generation);
    const Resolved* last = nullptr;
    for (const Resolved& attempt : attempts) {
        count(result, attempt);
        if (attempt.outcome == nullptr || attempt.generation() != result.generation) continue;
        if (attempt.outcome == winner) result.accepted = view(*step, attempt, winner);
        if (last == nullptr || before(last->outcome->origin, attempt.outcome->origin)) last = &attempt;
    }
    if (last != nullptr) result.last = view(*step, *last, winner);
    return result;
}

std::vector<AttemptView> Acceptance::attempts(const StepKey& key) const {
    const Step* step = find_step(key);
    if (step == nullptr) return {};
    const std::vector<Resolved> resolved = resolve(*step);
    const Outcome* winner = accepted(resolved, current_generation(*step, resolved));
    std::vector<AttemptView> views;
    views.reserve(resolved.size());
    for (const Resolved& attempt : resolved)
        views.push_back(view(*step, attempt, winner));
    const auto order = [](const AttemptView& view) {
        const auto& first = view.dispatched ? view.dispatched : view.outcome;
        return std::tuple(!first, first.value_or(FramePosition()), view.id.part, view.id.number);
    };
    std::sort(views.begin(), views.end(),
              [&](const AttemptView& a, const AttemptView& b) { return order(a) < order(b); });
    return views;
}

std::vector<AttemptView> Acceptance::open_attempts() const {
    resolve_claims();
    std::vector<AttemptView> views;
    for (const Step& step : steps_) {
        for (std::uint32_t i = step.first_attempt; i != none; i = attempts_[i].next) {
            const Resolved resolved = resolve(attempts_[i]);
            if (resolved.outcome == nullptr && resolved.dispatched != nullptr)
                views.push_back(view(step, resolved, nullptr));
        }
    }
    const auto order = [](const AttemptView& view) {
        return std::tie(view.id.part, view.id.step, view.id.number);
    };
    std::sort(views.begin(), views.end(),
              [&](const AttemptView& a, const AttemptView& b) { return order(a) < order(b); });
    return views;
}

std::optional<AttemptView> Acceptance::attempt(const AttemptId& id) const {
    for (AttemptView& view : attempts(id.step))
        if (view.id == id) return std::move(view);
    return std::nullopt;
}

} // namespace tessera
