#include <tessera/base/error.hpp>
#include <tessera/journal/claims.hpp>
#include <tessera/journal/replay.hpp>
#include <tessera/journal/spool.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>
#include <utility>

namespace tessera {

namespace {

/// Tells which parts write no more, and which claims are no longer theirs.
class Gone {
public:
    Gone(const CampaignDirectory& directory, const OwnerInfo& self)
        : directory_(directory)
        , self_(self) {
        const std::vector<ClaimRef> claims = list_claims(directory);
        for (const ClaimRef& claim : claims) {
            std::uint32_t& newest = newest_[claim.batch];
            newest = std::max(newest, claim.epoch);
        }
        for (const ClaimRef& claim : claims)
            if (is_superseded(claim)) add_fenced(claim);
    }

    /// True if some of the part's attempts may be left without anybody who reports them.
    bool may_have_left(const std::string& part) { return fenced_.count(part) > 0 || is_gone(part); }

    bool is_left(const std::string& part, const ClaimRef& claim) {
        return is_superseded(claim) || is_gone(part);
    }

private:
    bool is_superseded(const ClaimRef& claim) const {
        const auto newest = newest_.find(claim.batch);
        return newest != newest_.end() && newest->second > claim.epoch;
    }

    void add_fenced(const ClaimRef& claim) {
        const std::string path = claim_path(directory_, claim);
        try {
            fenced_.insert(parse_owner(read_file(path), path).part);
        } catch (const Error&) { // a damaged claim of old fences nobody
        }
    }

    bool is_gone(const std::string& part) {
        if (part == self_.part) return false;
        const auto known = gone_.find(part);
        if (known != gone_.end()) return known->second;
        const auto owner = directory_.owner(part);
        // Without an owner file a part was left before it could write, or came from elsewhere by a merge.
        return gone_[part] = !owner || owner_state(*owner, self_) == OwnerState::gone;
    }

    const CampaignDirectory& directory_;
    const OwnerInfo& self_;
    std::map<std::string, std::uint32_t> newest_;
    std::set<std::string> fenced_;
    std::map<std::string, bool> gone_;
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
    Harvester(const CampaignDirectory& directory, const Acceptance& acceptance, Gone& gone)
        : directory_(directory)
        , acceptance_(acceptance)
        , gone_(gone) {}

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
        for (const AttemptView& attempt : open) {
            if (!gone_.is_left(attempt.id.part, attempt.claim)) continue;
            if (taken_.count(attempt.id.text() + attempt.id.step.hex()) > 0) continue;
            result_.lost.push_back(lost_outcome(attempt));
        }
    }

    Harvest take_result() { return std::move(result_); }

private:
    void take(OutcomeRecord&& record) {
        if (!gone_.is_left(record.attempt.part, record.claim)) return;
        if (!is_wanted(acceptance_, record.attempt)) return;
        if (!taken_.insert(record.attempt.text() + record.attempt.step.hex()).second) return;
        result_.outcomes.push_back(std::move(record));
    }

    const CampaignDirectory& directory_;
    const Acceptance& acceptance_;
    Gone& gone_;
    std::unordered_set<std::string> taken_; ///< a text of the attempt with its whole key
    Harvest result_;
};

} // namespace

Harvest harvest(const CampaignDirectory& directory, const CampaignSummary& summary,
                const Acceptance& acceptance, const OwnerInfo& self) {
    const std::vector<AttemptView> open = acceptance.open_attempts();
    std::set<std::string> with_open;
    for (const AttemptView& attempt : open)
        with_open.insert(attempt.id.part);

    Gone gone(directory, self);
    Harvester harvester(directory, acceptance, gone);
    for (const PartSummary& part : summary.parts) {
        const bool may_matter = !part.closed || with_open.count(part.id) > 0;
        if (may_matter && gone.may_have_left(part.id)) harvester.read_spools(part.id);
    }
    harvester.add_lost(open);
    return harvester.take_result();
}

} // namespace tessera
