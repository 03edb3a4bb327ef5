#include <tessera/base/error.hpp>
#include <tessera/journal/replay.hpp>
#include <tessera/journal/spool.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <unordered_set>
#include <utility>

namespace tessera {

namespace {

/// Parts that write no more: closed ones are not, nor are those that may still be alive.
class DeadParts {
public:
    DeadParts(const CampaignDirectory& directory, const OwnerInfo& self,
              const std::vector<std::string>& taken_over)
        : directory_(directory)
        , self_(self)
        , taken_over_(taken_over.begin(), taken_over.end()) {}

    bool contains(const std::string& part) const {
        if (part == self_.part) return false;
        if (taken_over_.count(part) > 0) return true;
        const auto owner = directory_.owner(part);
        // Without an owner file a part was left before it could write, or came from elsewhere by a merge.
        return !owner || owner_state(*owner, self_) == OwnerState::gone;
    }

private:
    const CampaignDirectory& directory_;
    const OwnerInfo& self_;
    std::set<std::string> taken_over_;
};

/// An outcome is wanted if the attempt is open, or unknown because its dispatched frame did not reach the
/// disk.
bool is_wanted(const Acceptance& acceptance, const AttemptId& id) {
    const auto attempt = acceptance.attempt(id);
    return !attempt || attempt->standing == Standing::open;
}

OutcomeRecord lost_outcome(const AttemptView& attempt) {
    OutcomeRecord record;
    record.attempt = attempt.id;
    record.generation = attempt.generation;
    record.claim = attempt.claim;
    record.kind = OutcomeKind::lost;
    record.failure = FailureClass::lost;
    record.message = "the run that started it ended before its outcome was known";
    return record;
}

class Harvester {
public:
    Harvester(const CampaignDirectory& directory, const Acceptance& acceptance)
        : directory_(directory)
        , acceptance_(acceptance) {}

    void read_spools(const std::string& part) {
        for (const std::string& path : directory_.part_files(part).spools) {
            try {
                const auto damage =
                    read_spool(path, part, [&](OutcomeRecord&& record) { take(std::move(record)); });
                for (const Damage& one : damage)
                    result_.warnings.push_back(
                        {path, one.offset, one.length, describe(one), one.kind == DamageKind::torn_tail});
            } catch (const IoError& error) {
                result_.warnings.push_back(
                    {path, 0, 0, fmt::format("cannot {}: errno {}", error.operation, error.code)});
            }
        }
    }

    void add_lost(const std::vector<AttemptView>& open) {
        for (const AttemptView& attempt : open)
            if (taken_.count(attempt.id.text() + attempt.id.step.hex()) == 0)
                result_.lost.push_back(lost_outcome(attempt));
    }

    Harvest take_result() { return std::move(result_); }

private:
    void take(OutcomeRecord&& record) {
        if (!is_wanted(acceptance_, record.attempt)) return;
        if (!taken_.insert(record.attempt.text() + record.attempt.step.hex()).second) return;
        result_.outcomes.push_back(std::move(record));
    }

    const CampaignDirectory& directory_;
    const Acceptance& acceptance_;
    std::unordered_set<std::string> taken_; ///< a text of the attempt with its whole key
    Harvest result_;
};

} // namespace

Harvest harvest(const CampaignDirectory& directory, const CampaignSummary& summary,
                const Acceptance& acceptance, const OwnerInfo& self,
                const std::vector<std::string>& taken_over) {
    std::vector<AttemptView> open = acceptance.open_attempts();
    std::set<std::string> with_open;
    for (const AttemptView& attempt : open)
        with_open.insert(attempt.id.part);

    const DeadParts dead(directory, self, taken_over);
    std::set<std::string> dead_parts;
    Harvester harvester(directory, acceptance);
    for (const PartSummary& part : summary.parts) {
        if (part.closed && with_open.count(part.id) == 0) continue;
        if (!dead.contains(part.id)) continue;
        dead_parts.insert(part.id);
        harvester.read_spools(part.id);
    }
    std::erase_if(open, [&](const AttemptView& attempt) { return dead_parts.count(attempt.id.part) == 0; });
    harvester.add_lost(open);
    return harvester.take_result();
}

} // namespace tessera
