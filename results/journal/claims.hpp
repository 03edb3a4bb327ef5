#pragma once

#include <tessera/base/clock.hpp>
#include <tessera/journal/campaign_dir.hpp>
#include <tessera/journal/records.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tessera {

/// The batch of all steps: claiming it excludes every other run.
inline constexpr std::string_view whole_campaign = "all";

/// "<batch>.<epoch>", the batch with every byte but letters, digits, '_' and '-' as %XX.
std::string claim_file_name(const ClaimRef& claim);

/// Empty if `name` is no claim's.
std::optional<ClaimRef> parse_claim_file_name(std::string_view name);

/// The claim is this part's. `records` go into its journal, and must be durable, before anything is
/// dispatched: they say which frames of the parts before are honoured.
struct ClaimAcquired {
    ClaimRef claim;
    std::vector<ClaimRecord> records; ///< the first is of the direct predecessor, if there is one
};

/// Another part has it and lives.
struct ClaimHeld {
    ClaimRef claim;
    OwnerInfo owner;
};

/// Another part has it and nothing is known of it yet: ask again, soon and until the lease has passed.
struct ClaimWatch {
    ClaimRef claim;
    OwnerInfo owner;
    Duration remaining{}; ///< of the lease
};

using ClaimResult = std::variant<ClaimAcquired, ClaimHeld, ClaimWatch>;

/// One part's attempt to claim one batch, by claims/<batch>.<epoch>: a hard link to the owner file of the
/// part that has that epoch, so that exactly one part gets it on any filesystem, also over NFS. The highest
/// epoch counts.
///
/// It is taken over, by linking the next epoch, when its owner has ended in order, is provably gone, or when
/// this contender itself saw the owner's beat unchanged for a whole lease. The caller asks again and again;
/// nothing sleeps.
class Claimant {
public:
    /// `directory` and `clock` must outlive it. The lease must be several times the interval of the beats.
    Claimant(const CampaignDirectory& directory, std::string part, std::string batch, Duration lease,
             const Clock& clock);

    /// Throws IoError, UserError for a claim file that is damaged or a filesystem without hard links.
    ClaimResult try_claim();

private:
    struct Observation {
        std::uint32_t epoch = 0;
        std::optional<std::uint64_t> beat;
        Moment since{};
        bool moved = false;
        bool closed = false; ///< its journal says that it ended in order
    };

    std::optional<ClaimResult> try_epoch();
    void observe(std::uint32_t epoch, const OwnerInfo& owner, OwnerState state);
    bool may_take(const OwnerInfo& owner, OwnerState state) const;
    bool link_epoch(std::uint32_t epoch) const;
    ClaimAcquired acquired(std::uint32_t epoch) const;
    OwnerInfo read_claim(std::uint32_t epoch) const;

    const CampaignDirectory& directory_;
    const std::string part_;
    const std::string batch_;
    const Duration lease_;
    const Clock& clock_;
    OwnerInfo self_;
    Observation seen_;
};

/// Every claim that was ever made, in no particular order. Throws IoError.
std::vector<ClaimRef> list_claims(const CampaignDirectory& directory);

std::string claim_path(const CampaignDirectory& directory, const ClaimRef& claim);

/// The highest epoch that was claimed of a batch; 0 if none was.
std::uint32_t newest_epoch(const CampaignDirectory& directory, std::string_view batch);

/// True when a later epoch has been claimed: whoever holds `claim` must stop writing for that batch at once.
/// A controller asks when it may have been paused.
bool is_superseded(const CampaignDirectory& directory, const ClaimRef& claim);

} // namespace tessera
