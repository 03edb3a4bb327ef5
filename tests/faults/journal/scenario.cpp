#include "scenario.hpp"

#include <tessera/base/clock.hpp>
#include <tessera/journal/claims.hpp>
#include <tessera/journal/journal_writer.hpp>
#include <tessera/journal/replay.hpp>
#include <tessera/journal/spool.hpp>

#include <stdexcept>

#include <fcntl.h>

namespace scenario {

using namespace tessera;

StepKey step_key(std::uint8_t n) {
    StepKey key;
    key.bytes[0] = n;
    return key;
}

namespace {

class Run {
public:
    Run(const std::string& path, FileLayer& files, Witness& witness)
        : witness_(witness)
        , directory_(CampaignDirectory::open_or_create(path, "faults", files))
        , part_(directory_.create_part(clock_.wall_ns()))
        , journal_(directory_.part_folder(part_), part_, files,
                   {.rotate_bytes = 600, .pending_limit_bytes = 1U << 20U})
        , spool_(directory_.part_folder(part_), part_, 1, files) {}

    void run() {
        PartOpenRecord open;
        open.campaign_id = directory_.identity().id;
        journal_.append(open);
        claim();
        resume();
        for (std::uint8_t n = 0; n < step_count; ++n)
            if (!acceptance_.step(step_key(n)).accepted) run_step(step_key(n));
        journal_.append(PartCloseRecord());
        journal_.close();
        spool_.close();
        directory_.write_verdict(part_, {0, "done"});
    }

private:
    void claim() {
        Claimant claimant(directory_, part_, std::string(whole_campaign), from_seconds(60), clock_);
        const auto result = claimant.try_claim();
        const auto* acquired = std::get_if<ClaimAcquired>(&result);
        if (acquired == nullptr) throw std::logic_error("the claim of a buried part is held");
        claim_ = acquired->claim;
        for (const ClaimRecord& record : acquired->records)
            journal_.append(record);
        journal_.sync();
    }

    void resume() {
        const auto summary = read_campaign(
            directory_, [&](const FramePosition& at, Record&& record) { acceptance_.add(at, record); });
        const Harvest found = harvest(directory_, summary, acceptance_, this_process(part_, 0));
        for (const OutcomeRecord& record : found.outcomes)
            add(record);
        for (const OutcomeRecord& record : found.lost)
            add(record);
        journal_.sync();
        for (const OutcomeRecord& record : found.outcomes)
            witness_.acknowledged.insert(record.attempt.step);
    }

    template <typename T>
    void add(const T& record) {
        acceptance_.add({part_, journal_.append(Record(record))}, record);
    }

    void run_step(const StepKey& step) {
        const std::uint32_t number = acceptance_.step(step).highest_number + 1;
        DispatchedRecord dispatched;
        dispatched.claim = claim_;
        dispatched.items.push_back({step, number, acceptance_.step(step).generation, {}});
        add(dispatched);
        journal_.sync();

        ++witness_.successes[step];
        OutcomeRecord outcome;
        outcome.attempt = {part_, step, number};
        outcome.claim = claim_;
        outcome.message = std::string(40, 'm');
        spool_.append(outcome);
        witness_.spooled.insert(step);
        spool_.sync();

        add(outcome);
        journal_.sync();
        witness_.acknowledged.insert(step);
    }

    Witness& witness_;
    SystemClock clock_;
    CampaignDirectory directory_;
    std::string part_;
    JournalWriter journal_;
    Spool spool_;
    ClaimRef claim_;
    Acceptance acceptance_;
};

} // namespace

void run(const std::string& path, FileLayer& files, Witness& witness) {
    Run(path, files, witness).run();
}

void bury_owners(const std::string& path) {
    if (!CampaignDirectory::exists(path)) return;
    const auto directory = CampaignDirectory::open(path);
    for (const std::string& part : directory.parts()) {
        auto owner = directory.owner(part);
        if (!owner) continue;
        owner->pid_start = 0;
        // Written in place, because claims are links to this file.
        const std::string owner_path = directory.part_folder(part) + "/owner";
        const UniqueFd file = open_file(owner_path, O_WRONLY | O_TRUNC);
        write_all(file.get(), to_text(*owner), owner_path);
    }
}

Acceptance read_back(const std::string& path) {
    Acceptance acceptance;
    read_campaign(CampaignDirectory::open(path),
                  [&](const FramePosition& at, Record&& record) { acceptance.add(at, record); });
    return acceptance;
}

} // namespace scenario
