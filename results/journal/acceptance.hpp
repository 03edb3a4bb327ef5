#pragma once

#include <tessera/journal/records.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace tessera {

/// Where a frame stands: acceptance orders by (part, sequence), parts by their name, which begins with their
/// UTC.
struct FramePosition {
    std::string part;
    std::uint64_t sequence = 0;

    auto operator<=>(const FramePosition&) const = default;
};

enum class Standing : std::uint8_t {
    open,         ///< dispatched, without an outcome
    accepted,     ///< the result of its step
    superseded,   ///< succeeded, but of an older generation or not the first success
    unsuccessful, ///< failed, timed out, preempted or lost
    not_honoured, ///< known only from frames that its part wrote after it had lost the claim
};

std::string_view name(Standing standing);

inline constexpr std::size_t failure_class_count = 9;

/// One attempt as the frames tell it. Of several outcome frames (its own part's and a harvester's) the first
/// that is honoured counts.
struct AttemptView {
    AttemptId id;
    std::uint32_t generation = 1;
    Standing standing = Standing::open;
    std::optional<OutcomeKind> kind; ///< absent while it is open
    FailureClass failure = FailureClass::none;
    std::optional<FramePosition> dispatched; ///< its dispatched frame, if one is honoured
    std::optional<FramePosition> outcome;    ///< the outcome frame that counts
    ClaimRef claim;
    std::string message; ///< of an unsuccessful outcome
};

/// One step as the frames tell it. Counts are of attempts that are honoured.
struct StepView {
    std::uint32_t generation = 1;          ///< the current one
    std::optional<AttemptView> accepted;   ///< the step's result
    std::uint32_t attempts = 0;            ///< of all generations
    std::uint32_t generation_attempts = 0; ///< of the current one
    std::uint32_t highest_number =
        0;                  ///< of all attempts, honoured or not: the next one takes the number above
    std::uint32_t open = 0; ///< of the current generation, dispatched and without an outcome
    std::array<std::uint32_t, failure_class_count> failures{}; ///< of the current generation, by FailureClass
    std::optional<AttemptView> last; ///< of the current generation, the one whose outcome came last

    std::uint32_t failure_count(FailureClass failure) const {
        return failures[static_cast<std::size_t>(failure)];
    }
};

/// The one rule that says which result of a step is the accepted one; resume, query, verify, rebuild and
/// merge all ask it.
///
/// Frames may be added in any order and more than once; every answer depends only on their set:
/// 1. A step's generation is the highest that an `invalidated`, or an honoured `dispatched` or `outcome`
/// frame, names.
/// 2. Claim rule: a `claim` frame of epoch e that names a predecessor part voids that part's frames of the
/// same batch and
///    an epoch below e after `last_honoured`; among them the predecessor's own later `claim` frames, so the
///    highest epoch is read first.
/// 3. Of the successes of the current generation, the one with the lowest (part, sequence) is accepted.
class Acceptance {
public:
    void add(const FramePosition& position, const Record& record);
    void add(const FramePosition& position, const OutcomeRecord& record);
    void add(const FramePosition& position, const DispatchedRecord& record);
    void add(const InvalidatedRecord& record);
    void add(const FramePosition& position, const ClaimRecord& record);

    /// Of an unknown step: generation 1 and nothing else.
    StepView step(const StepKey& key) const;

    /// In order of their first honoured frames, those that are not honoured last.
    std::vector<AttemptView> attempts(const StepKey& key) const;

    std::optional<AttemptView> attempt(const AttemptId& id) const;

    /// True if any frame, honoured or not, tells of the attempt's outcome.
    bool has_outcome(const AttemptId& id) const;

    /// All attempts of standing open, of any generation, in order of their ids.
    std::vector<AttemptView> open_attempts() const;

    /// In no particular order.
    void for_each_step(const std::function<void(const StepKey&)>& visit) const;

    /// The claim rule for one frame.
    bool is_void(const FramePosition& position, const ClaimRef& claim) const;

    std::size_t step_count() const { return steps_.size(); }

private:
    static constexpr std::uint32_t none = UINT32_MAX;

    /// Numbers for the few different names of parts and batches.
    class Names {
    public:
        std::uint32_t number(const std::string& name);
        std::optional<std::uint32_t> find(const std::string& name) const;

        const std::string& name(std::uint32_t number) const { return names_[number]; }

    private:
        std::vector<std::string> names_;
        std::unordered_map<std::string, std::uint32_t> numbers_;
        std::uint32_t last_ = none;
    };

    struct Origin {
        std::uint64_t sequence = 0;
        std::uint32_t part = none;
        std::uint32_t batch = none;
        std::uint32_t epoch = 0;
        std::uint32_t generation = 1;
    };

    struct Outcome {
        Origin origin;
        std::uint32_t next = none;
        std::uint32_t message = none;
        OutcomeKind kind = OutcomeKind::succeeded;
        FailureClass failure = FailureClass::none;
    };

    struct Attempt {
        Origin dispatched; ///< its `part` is none if no dispatched frame is known
        std::uint32_t part = none;
        std::uint32_t number = 1;
        std::uint32_t first_outcome = none;
        std::uint32_t next = none; ///< attempt of the same step
    };

    struct Step {
        StepKey key;
        std::uint32_t generation = 1;
        std::uint32_t first_attempt = none;
    };

    struct Claim {
        std::uint64_t sequence = 0;
        std::uint64_t last_honoured = 0;
        std::uint32_t part = none;
        std::uint32_t batch = none;
        std::uint32_t epoch = 0;
        std::uint32_t predecessor = none;

        bool operator==(const Claim&) const = default;
    };

    /// An attempt with what the claim rule leaves of it.
    struct Resolved {
        const Attempt* attempt = nullptr;
        const Outcome* outcome = nullptr;
        const Origin* dispatched = nullptr;

        bool honoured() const { return outcome != nullptr || dispatched != nullptr; }

        std::uint32_t generation() const;
    };

    Origin origin(const FramePosition& position, const ClaimRef& claim, std::uint32_t generation);
    std::uint32_t step_number(const StepKey& key);
    const Step* find_step(const StepKey& key) const;
    std::uint32_t attempt_number(const StepKey& key, std::uint32_t part, std::uint32_t number);
    const Attempt* find_attempt(const AttemptId& id) const;

    void resolve_claims() const;
    bool is_void(const Origin& origin) const;
    bool before(const Origin& a, const Origin& b) const;
    Resolved resolve(const Attempt& attempt) const;
    std::vector<Resolved> resolve(const Step& step) const;
    std::uint32_t current_generation(const Step& step, const std::vector<Resolved>& attempts) const;
    const Outcome* accepted(const std::vector<Resolved>& attempts, std::uint32_t generation) const;
    AttemptView view(const Step& step, const Resolved& resolved, const Outcome* accepted) const;
    void count(StepView& view, const Resolved& resolved) const;

    Names parts_;
    Names batches_;
    std::vector<Step> steps_;
    std::unordered_map<StepKey, std::uint32_t> step_numbers_;
    std::vector<Attempt> attempts_;
    std::vector<Outcome> outcomes_;
    std::vector<std::string> messages_;
    std::vector<Claim> claims_;
    /// Claims that hold, by (predecessor, batch); made again after a claim was added.
    mutable std::unordered_map<std::uint64_t, std::vector<Claim>> fences_;
    mutable bool fences_current_ = true;
};

} // namespace tessera
