#pragma once

#include <tessera/base/clock.hpp>
#include <tessera/journal/campaign_dir.hpp>
#include <tessera/journal/claims.hpp>
#include <tessera/journal/journal_writer.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace tessera {

/// How a claim waits for another run's sign of life: sleeps about so long; false if the user wants to stop.
using Pause = std::function<bool(Duration)>;

/// A new part of a campaign that holds the claim of all its steps, with its journal open: whoever writes into
/// a campaign directory has one.
class ClaimedPart {
public:
    /// Journals the part's first frames and waits until they are durable. Throws UserError if another run has
    /// the campaign.
    ClaimedPart(const CampaignDirectory& directory, const std::vector<std::string>& command_line,
                const Clock& clock, const Pause& pause);

    const std::string& id() const { return id_; }

    const ClaimRef& claim() const { return claim_; }

    const std::string& user() const { return user_; }

    JournalWriter& journal() { return *journal_; }

    /// True once another run has taken the claim: nothing of this part counts any more.
    bool superseded() const { return superseded_; }

    /// Journals the end, then leaves the verdict for whoever waits for it, then makes the HDF5 segments and
    /// the compaction. What cannot be made of HDF5 is told in the returned lines and can be made again: the
    /// journal holds everything.
    std::vector<std::string> close(int exit_code, const std::string& reason);

private:
    void beat(std::stop_token stop);
    std::vector<ClaimRecord> acquire(const Pause& pause);
    void open_journal(const std::vector<std::string>& command_line, const std::vector<ClaimRecord>& claims);
    std::vector<std::string> store_results();

    const CampaignDirectory& directory_;
    const Clock& clock_;
    std::string id_;
    ClaimRef claim_;
    std::string user_;
    std::unique_ptr<JournalWriter> journal_;
    std::atomic<bool> superseded_ = false;
    std::jthread heart_; ///< shows others, from the claim to the end, that this part lives
};

} // namespace tessera
