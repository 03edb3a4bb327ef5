#include "fake_clock.hpp"
#include "sample.hpp"
#include "temporary.hpp"

#include <tessera/journal/claims.hpp>
#include <tessera/journal/journal_writer.hpp>
#include <tessera/journal/replay.hpp>
#include <tessera/journal/spool.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

using namespace tessera;

namespace {

struct Scene {
    TemporaryFolder folder;
    FakeClock clock;
    CampaignDirectory directory = CampaignDirectory::open_or_create(folder / "c", "alpha");

    /// A part of a process that has ended.
    std::string dead_part(std::int64_t after_s) {
        const std::string id = directory.create_part(clock.wall_ns() + after_s * 1'000'000'000);
        OwnerInfo owner = *directory.owner(id);
        ++owner.pid_start;
        write_file_atomically(directory.part_folder(id) + "/owner", to_text(owner));
        return id;
    }

    std::string journal_path(const std::string& part) {
        return directory.part_folder(part) + "/journal-0001";
    }

    Harvest harvest_all() {
        Acceptance acceptance;
        const auto summary = read_campaign(
            directory, [&](const FramePosition& at, Record&& record) { acceptance.add(at, record); });
        return harvest(directory, summary, acceptance, this_process("self", 0));
    }
};

DispatchedRecord dispatched(const std::vector<StepKey>& steps) {
    DispatchedRecord record;
    record.claim = {"all", 1};
    for (const StepKey& step : steps)
        record.items.push_back({step, 1, 1, {}});
    return record;
}

OutcomeRecord outcome(const std::string& part, const StepKey& step) {
    OutcomeRecord record;
    record.attempt = {part, step, 1};
    record.claim = {"all", 1};
    return record;
}

} // namespace

TEST_CASE("a campaign is read part by part in order") {
    Scene scene;
    sample::Random random(1);
    std::vector<std::pair<FramePosition, Record>> written;
    for (int i = 0; i < 3; ++i) {
        const std::string part = scene.dead_part(i);
        JournalWriter journal(scene.directory.part_folder(part), part, system_files(),
                              {.rotate_bytes = 2000, .pending_limit_bytes = 1000});
        for (int round = 0; round < 5; ++round)
            for (const Record& record : sample::records(random)) {
                written.emplace_back(FramePosition{part, journal.append(record)}, record);
                journal.sync();
            }
        journal.close();
    }
    std::vector<std::pair<FramePosition, Record>> read;
    const auto summary = read_campaign(
        scene.directory, [&](const FramePosition& at, Record&& record) { read.emplace_back(at, record); });
    CHECK(read == written);
    CHECK(summary.warnings.empty());
    REQUIRE(summary.parts.size() == 3);
    CHECK(summary.parts[0].closed);
    CHECK(summary.parts[0].last_sequence == 55);
    CHECK(summary.parts[0].open);
}

TEST_CASE("damage is a warning that names path, offset and bytes") {
    Scene scene;
    const std::string part = scene.dead_part(0);
    JournalWriter journal(scene.directory.part_folder(part), part);
    for (std::uint32_t i = 1; i <= 9; ++i)
        journal.append(StartedRecord());
    journal.close();
    std::string bytes = read_file(scene.journal_path(part));
    const std::size_t frame = bytes.size() / 9;
    bytes[4 * frame + 10] = static_cast<char>(~bytes[4 * frame + 10]);
    append_frame(bytes, static_cast<std::uint16_t>(FrameType::outcome), stream_id(part), 10,
                 "not an outcome");
    append_frame(bytes, 999, stream_id(part), 11, "of a later version");
    bytes += bytes.substr(0, 30);
    write_file_atomically(scene.journal_path(part), bytes);

    int records = 0;
    const auto summary = read_campaign(scene.directory, [&](const FramePosition&, Record&&) { ++records; });
    CHECK(records == 8);
    CHECK(summary.parts[0].last_sequence == 11);
    REQUIRE(summary.warnings.size() == 3);
    for (const ReadWarning& warning : summary.warnings)
        CHECK(warning.path == scene.journal_path(part));
    CHECK(summary.warnings[0].offset == 9 * frame); // its type, found while reading
    CHECK(summary.warnings[1].offset == 4 * frame);
    CHECK(summary.warnings[1].length == frame);
    CHECK(summary.warnings[2].torn_tail);
    CHECK(summary.warnings[2].length == 30);
    CHECK(summary.warnings[2].text().starts_with(scene.journal_path(part) + ": byte "));
}

TEST_CASE("a part without a readable journal does not stop the reading") {
    Scene scene;
    const std::string first = scene.dead_part(0);
    const std::string second = scene.dead_part(1);
    std::filesystem::create_directory(scene.journal_path(first)); // cannot be read as a file
    JournalWriter journal(scene.directory.part_folder(second), second);
    journal.append(PartCloseRecord());
    journal.close();
    int records = 0;
    const auto summary = read_campaign(scene.directory, [&](const FramePosition&, Record&&) { ++records; });
    CHECK(records == 1);
    CHECK(summary.warnings.size() == 1);
    CHECK(summary.parts.size() == 2);
}

TEST_CASE("a reader follows a journal that is being written") {
    Scene scene;
    const std::string part = scene.dead_part(0);
    JournalReader reader(scene.directory, part);
    std::vector<std::uint64_t> seen;
    const auto note = [&](const FramePosition& at, Record&&) { seen.push_back(at.sequence); };
    reader.read(note);
    JournalWriter journal(scene.directory.part_folder(part), part, system_files(),
                          {.rotate_bytes = 500, .pending_limit_bytes = 1000});
    for (std::uint64_t i = 1; i <= 40; ++i) {
        journal.append(StartedRecord());
        journal.sync();
        if (i % 3 == 0) {
            reader.read(note);
            CHECK(seen.size() == i);
        }
    }
    reader.read(note);
    CHECK(seen.size() == 40);
    CHECK(reader.warnings().empty());

    // Half a frame is a tail at first and a frame later.
    std::string frame;
    append_frame(frame, static_cast<std::uint16_t>(FrameType::started), stream_id(part), 41, "");
    const std::string newest = scene.directory.part_files(part).journals.back();
    std::ofstream(newest, std::ios::app | std::ios::binary) << frame.substr(0, 20);
    reader.read(note);
    REQUIRE(reader.warnings().size() == 1);
    CHECK(reader.warnings()[0].torn_tail);
    std::ofstream(newest, std::ios::app | std::ios::binary) << frame.substr(20);
    reader.read(note);
    CHECK(seen.back() == 41);
    CHECK(reader.warnings().empty());
}

TEST_CASE("outcomes in the spools of dead parts are harvested and the rest is lost") {
    Scene scene;
    sample::Random random(2);
    const std::string part = scene.dead_part(0);
    const StepKey done = sample::id(random);
    const StepKey spooled = sample::id(random);
    const StepKey missing = sample::id(random);
    const StepKey unknown = sample::id(random);
    JournalWriter journal(scene.directory.part_folder(part), part);
    journal.append(dispatched({done, spooled, missing}));
    journal.append(outcome(part, done));
    journal.close();
    Spool spool(scene.directory.part_folder(part), part, 1);
    for (const StepKey& step : {done, spooled, unknown, spooled})
        spool.append(outcome(part, step));
    spool.close();

    const Harvest found = scene.harvest_all();
    REQUIRE(found.outcomes.size() == 2);
    CHECK(found.outcomes[0].attempt.step == spooled);
    CHECK(found.outcomes[1].attempt.step == unknown);
    REQUIRE(found.lost.size() == 1);
    CHECK(found.lost[0].attempt == AttemptId{part, missing, 1});
    CHECK(found.lost[0].kind == OutcomeKind::lost);
    CHECK(found.lost[0].claim == ClaimRef{"all", 1});

    // Once the next part has recorded them, nothing is left.
    const std::string next = scene.dead_part(1);
    JournalWriter second(scene.directory.part_folder(next), next);
    for (const OutcomeRecord& record : found.outcomes)
        second.append(record);
    for (const OutcomeRecord& record : found.lost)
        second.append(record);
    second.close();
    const Harvest again = scene.harvest_all();
    CHECK(again.outcomes.empty());
    CHECK(again.lost.empty());
}

TEST_CASE("live parts are left alone unless their claim was taken over") {
    Scene scene;
    sample::Random random(3);
    const std::string part = scene.directory.create_part(scene.clock.wall_ns());
    const std::string owner = scene.directory.part_folder(part) + "/owner";
    std::filesystem::create_hard_link(owner, claim_path(scene.directory, {"all", 1}));
    JournalWriter journal(scene.directory.part_folder(part), part);
    const StepKey spooled = sample::id(random);
    journal.append(dispatched({sample::id(random), spooled}));
    DispatchedRecord kept = dispatched({sample::id(random)});
    kept.claim.batch = "another";
    journal.append(kept);
    journal.sync();
    Spool spool(scene.directory.part_folder(part), part, 1);
    spool.append(outcome(part, spooled));
    CHECK(scene.harvest_all().lost.empty());
    CHECK(scene.harvest_all().outcomes.empty());

    const std::string taker = scene.directory.create_part(scene.clock.wall_ns());
    std::filesystem::create_hard_link(scene.directory.part_folder(taker) + "/owner",
                                      claim_path(scene.directory, {"all", 2}));
    CHECK(scene.harvest_all().lost.size() == 1); // the attempt of the other batch is still the part's
    CHECK(scene.harvest_all().outcomes.size() == 1);
}

TEST_CASE("a damaged spool gives what can be read, and a warning") {
    Scene scene;
    sample::Random random(4);
    const std::string part = scene.dead_part(0);
    Spool spool(scene.directory.part_folder(part), part, 1);
    for (int i = 0; i < 3; ++i)
        spool.append(outcome(part, sample::id(random)));
    spool.close();
    const std::string path = scene.directory.part_folder(part) + "/spool-1";
    std::string bytes = read_file(path);
    bytes[bytes.size() / 2] = static_cast<char>(~bytes[bytes.size() / 2]);
    write_file_atomically(path, bytes);
    const Harvest found = scene.harvest_all();
    CHECK(found.outcomes.size() == 2);
    CHECK(found.warnings.size() == 1);
}

TEST_CASE("attempts that a fenced part dispatched afterwards are not harvested") {
    Scene scene;
    sample::Random random(5);
    const StepKey before = sample::id(random);
    const StepKey after = sample::id(random);
    const std::string first = scene.dead_part(0);
    JournalWriter journal(scene.directory.part_folder(first), first);
    journal.append(dispatched({before}));
    journal.append(dispatched({after}));
    journal.close();
    Spool spool(scene.directory.part_folder(first), first, 1);
    spool.append(outcome(first, before));
    spool.append(outcome(first, after));
    spool.close();
    const std::string second = scene.dead_part(1);
    JournalWriter taker(scene.directory.part_folder(second), second);
    ClaimRecord claim;
    claim.claim = {"all", 2};
    claim.predecessor = first;
    claim.last_honoured = 1;
    taker.append(claim);
    taker.close();
    const Harvest found = scene.harvest_all();
    REQUIRE(found.outcomes.size() == 1);
    CHECK(found.outcomes[0].attempt.step == before);
    CHECK(found.lost.empty());
}
