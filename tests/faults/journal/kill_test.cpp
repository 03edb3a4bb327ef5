#include "../../unit/journal/temporary.hpp"
#include "scenario.hpp"

#include <tessera/journal/fault_files.hpp>

#include <doctest/doctest.h>

#include <cerrno>
#include <optional>

using namespace tessera;
using scenario::Witness;

namespace {

/// One run over `files`; false if it failed.
bool try_run(const std::string& path, FileLayer& files, Witness& witness) {
    try {
        scenario::run(path, files, witness);
        return true;
    } catch (const IoError&) {
        return false;
    }
}

/// Acknowledged results are there, no step without a result counts as done, and each accepted one is unique
/// by nature of the function; an outcome whose spool took it is never run again.
void check_after_failure(const std::string& path, const Witness& witness) {
    if (!CampaignDirectory::exists(path)) {
        CHECK(witness.acknowledged.empty());
        return;
    }
    const Acceptance acceptance = scenario::read_back(path);
    for (const StepKey& step : witness.acknowledged)
        CHECK(acceptance.step(step).accepted);
    for (std::uint8_t n = 0; n < scenario::step_count; ++n)
        if (acceptance.step(scenario::step_key(n)).accepted)
            CHECK(witness.successes.count(scenario::step_key(n)) == 1);
}

/// The next run on a healthy disk finishes exactly what is missing.
void check_resume(const std::string& path, Witness witness) {
    const Witness before = witness;
    scenario::bury_owners(path);
    REQUIRE(try_run(path, system_files(), witness));
    const Acceptance acceptance = scenario::read_back(path);
    CHECK(acceptance.open_attempts().empty());
    for (std::uint8_t n = 0; n < scenario::step_count; ++n) {
        const StepKey step = scenario::step_key(n);
        CHECK(acceptance.step(step).accepted);
        std::size_t successes = 0;
        for (const AttemptView& attempt : acceptance.attempts(step))
            if (attempt.kind == OutcomeKind::succeeded) ++successes;
        CHECK(successes == 1);
        if (before.acknowledged.count(step) + before.spooled.count(step) > 0)
            CHECK(witness.successes.at(step) == before.successes.at(step));
    }
}

/// Runs the scenario with `arm` deciding the failure, then resumes it.
template <typename Arm>
bool run_with(Arm arm) {
    const TemporaryFolder folder;
    const std::string path = folder / "c";
    FaultFiles files;
    arm(files);
    Witness witness;
    const bool finished = try_run(path, files, witness);
    check_after_failure(path, witness);
    check_resume(path, witness);
    return finished;
}

} // namespace

TEST_CASE("the scenario runs through on a healthy disk") {
    const TemporaryFolder folder;
    Witness witness;
    REQUIRE(try_run(folder / "c", system_files(), witness));
    CHECK(witness.acknowledged.size() == scenario::step_count);
    CHECK(CampaignDirectory::open(folder / "c")
              .part_files(CampaignDirectory::open(folder / "c").parts()[0])
              .journals.size() > 1);
    check_resume(folder / "c", witness);
}

TEST_CASE("killed before any step of the file layer, a run resumes") {
    for (std::uint64_t operation = 0;; ++operation) {
        CAPTURE(operation);
        if (run_with([&](FaultFiles& files) { files.kill_before_operation(operation); })) {
            CHECK(operation > 50);
            return;
        }
    }
}

TEST_CASE("the power cut before any step of the file layer takes no acknowledged result") {
    for (std::uint64_t operation = 0;; ++operation) {
        CAPTURE(operation);
        const TemporaryFolder folder;
        FaultFiles files;
        files.kill_before_operation(operation);
        Witness witness;
        const bool finished = try_run(folder / "c", files, witness);
        files.lose_unsynced();
        check_after_failure(folder / "c", witness);
        // What only the spool had may be gone with the power: such steps may run again.
        witness.spooled.clear();
        check_resume(folder / "c", witness);
        if (finished) return;
    }
}

TEST_CASE("killed within any write, a run resumes") {
    // Every third byte meets each field of each frame over the frames' different offsets.
    for (std::uint64_t bytes = 1;; bytes += 3) {
        CAPTURE(bytes);
        if (run_with([&](FaultFiles& files) { files.kill_after_bytes(bytes); })) {
            CHECK(bytes > 1000);
            return;
        }
    }
}

TEST_CASE("a disk that fills up at any point costs no acknowledged result") {
    for (const int code : {ENOSPC, EDQUOT}) {
        for (std::uint64_t bytes = 0;; bytes += 41) {
            CAPTURE(bytes);
            if (run_with([&](FaultFiles& files) { files.fail_writes_after(bytes, code); })) {
                CHECK(bytes > 1000);
                break;
            }
        }
    }
}

TEST_CASE(
    "any sync that fails stops the run, and acknowledged results survive the loss of what was not synced") {
    for (const FileOperation operation : {FileOperation::sync_data, FileOperation::sync_folder}) {
        for (std::uint64_t skip = 0;; ++skip) {
            CAPTURE(skip);
            const TemporaryFolder folder;
            FaultFiles files;
            files.fail(operation, EIO, skip);
            Witness witness;
            const bool finished = try_run(folder / "c", files, witness);
            files.lose_unsynced();
            check_after_failure(folder / "c", witness);
            // What only the spool had may be gone with the power: such steps may run again.
            witness.spooled.clear();
            check_resume(folder / "c", witness);
            if (finished) {
                CHECK(skip > 3);
                break;
            }
        }
    }
}

TEST_CASE("a run that is resumed and killed again and again loses nothing") {
    for (std::uint64_t stride = 5; stride < 60; stride += 7) {
        CAPTURE(stride);
        const TemporaryFolder folder;
        const std::string path = folder / "c";
        Witness witness;
        for (std::uint64_t round = 1; round <= 6; ++round) {
            FaultFiles files;
            files.kill_before_operation(stride + round * 3);
            (void)try_run(path, files, witness);
            check_after_failure(path, witness);
            scenario::bury_owners(path);
        }
        check_resume(path, witness);
    }
}
