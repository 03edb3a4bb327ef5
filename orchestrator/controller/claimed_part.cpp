#include <tessera/base/error.hpp>
#include <tessera/controller/claimed_part.hpp>
#include <tessera/store/segments.hpp>
#include <tessera/store/store.hpp>
#include <tessera/version.hpp>

#include <fmt/core.h>

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <utility>

namespace tessera {

namespace {

/// Several times the interval of the beats.
constexpr double lease_s = 30;
constexpr double beat_s = 5;
constexpr double ask_again_s = 0.5;

} // namespace

ClaimedPart::ClaimedPart(const CampaignDirectory& directory, const std::vector<std::string>& command_line,
                         const Clock& clock, const Pause& pause)
    : directory_(directory)
    , clock_(clock)
    , id_(directory.create_part(clock.wall_ns())) {
    const std::vector<ClaimRecord> claims = acquire(pause);
    heart_ = std::jthread([this](std::stop_token stop) { beat(std::move(stop)); });
    open_journal(command_line, claims);
}

std::vector<ClaimRecord> ClaimedPart::acquire(const Pause& pause) {
    Claimant claimant(directory_, id_, std::string(whole_campaign), from_seconds(lease_s), clock_);
    for (;;) {
        ClaimResult result = claimant.try_claim();
        if (auto* acquired = std::get_if<ClaimAcquired>(&result)) {
            claim_ = acquired->claim;
            return std::move(acquired->records);
        }
        const auto* held = std::get_if<ClaimHeld>(&result);
        if (held == nullptr && pause(from_seconds(ask_again_s))) continue;
        const OwnerInfo owner = held != nullptr ? held->owner : std::get<ClaimWatch>(result).owner;
        // Nothing refers to the part yet, so it need not stay.
        std::filesystem::remove_all(directory_.part_folder(id_));
        if (held == nullptr)
            throw UserError("stopped while waiting for a sign of life of " + describe(owner));
        throw UserError(
            fmt::format("{}: this campaign is being run by {}; wait for it, stop it, or use another --dir",
                        directory_.path(), describe(owner)));
    }
}

void ClaimedPart::open_journal(const std::vector<std::string>& command_line,
                               const std::vector<ClaimRecord>& claims) {
    journal_ = std::make_unique<JournalWriter>(directory_.part_folder(id_), id_);
    PartOpenRecord open;
    open.campaign_id = directory_.identity().id;
    open.campaign_name = directory_.identity().name;
    open.version = version;
    if (const auto owner = directory_.owner(id_)) {
        open.host = owner->host;
        open.boot_id = owner->boot_id;
        open.pid = owner->pid;
        open.job = owner->job;
        open.user = owner->user;
    }
    user_ = open.user;
    open.command_line = command_line;
    open.opened_ns = clock_.wall_ns();
    journal_->append(open);
    for (const ClaimRecord& claim : claims)
        journal_->append(claim);
    // Nothing may run before readers know which frames of the parts before still count.
    journal_->sync();
}

/// A thread of its own, because reading journals, starting ranks and making HDF5 files may each take longer
/// than a lease.
void ClaimedPart::beat(std::stop_token stop) {
    std::mutex mutex;
    std::condition_variable_any wake;
    std::unique_lock lock(mutex);
    for (std::uint64_t beats = 1; !stop.stop_requested(); ++beats) {
        try {
            directory_.write_beat(id_, beats);
            if (is_superseded(directory_, claim_)) superseded_ = true;
        } catch (const Error&) {
            // A filesystem in trouble: if it lasts, the journal fails too and says so.
        }
        wake.wait_for(lock, stop, std::chrono::duration<double>(beat_s), [] { return false; });
    }
}

std::vector<std::string> ClaimedPart::close(int exit_code, const std::string& reason) {
    std::vector<std::string> problems;
    try {
        journal_->append(PartCloseRecord{exit_code, reason, clock_.wall_ns()});
        journal_->close();
    } catch (const Error& error) {
        problems.emplace_back(error.what());
    }
    // Before HDF5, so that whoever waits has it even if making files takes long or is killed.
    try {
        directory_.write_verdict(id_, {exit_code, reason});
    } catch (const Error& error) {
        problems.emplace_back(error.what());
    }
    if (problems.empty()) problems = store_results();
    return problems;
}

std::vector<std::string> ClaimedPart::store_results() {
    std::vector<std::string> problems;
    try {
        build_segments(directory_, id_, journal_->current_file(), problems);
        compact(directory_, problems);
    } catch (const std::exception& error) {
        problems.push_back(fmt::format("results.h5 is not up to date: {}", error.what()));
    }
    return problems;
}

} // namespace tessera
