#include "fake_clock.hpp"
#include "temporary.hpp"

#include <tessera/base/error.hpp>
#include <tessera/journal/claims.hpp>
#include <tessera/journal/fault_files.hpp>
#include <tessera/journal/journal_writer.hpp>

#include <doctest/doctest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

using namespace tessera;

namespace {

constexpr double lease_s = 60;

std::vector<ClaimRecord> fences(std::uint32_t epoch,
                                const std::vector<std::pair<std::string, std::uint64_t>>& predecessors) {
    std::vector<ClaimRecord> records;
    for (const auto& [part, last] : predecessors) {
        ClaimRecord& record = records.emplace_back();
        record.claim.batch = whole_campaign;
        record.claim.epoch = epoch;
        record.predecessor = part;
        record.last_honoured = last;
    }
    return records;
}

/// A campaign directory and parts whose owners are as a test wants them.
class Scene {
public:
    enum class Owner { here, gone, elsewhere };

    std::string part(Owner owner) {
        const std::string id = directory.create_part(clock.wall_ns());
        OwnerInfo info = *directory.owner(id);
        if (owner == Owner::gone) ++info.pid_start;
        if (owner == Owner::elsewhere) info.host = info.boot_id = "elsewhere";
        write_file_atomically(directory.part_folder(id) + "/owner", to_text(info));
        return id;
    }

    Claimant claimant(const std::string& part) {
        return {directory, part, "all", from_seconds(lease_s), clock};
    }

    /// A part that has claimed and written its claim and `frames` in all.
    std::string holder(Owner owner, std::uint32_t frames) {
        const std::string id = part(owner);
        const auto claim = std::get<ClaimAcquired>(claimant(id).try_claim());
        JournalWriter journal(directory.part_folder(id), id);
        for (const ClaimRecord& record : claim.records)
            journal.append(record);
        while (journal.last_sequence() < frames)
            journal.append(StartedRecord());
        journal.close();
        return id;
    }

    TemporaryFolder folder;
    FakeClock clock;
    CampaignDirectory directory = CampaignDirectory::open_or_create(folder / "c", "alpha");
};

} // namespace

TEST_CASE("claim names are reversible and safe as file names") {
    CHECK(claim_file_name({"all", 12}) == "all.12");
    CHECK(claim_file_name({"a100/80.gb 3f", 1}) == "a100%2f80%2egb%203f.1");
    for (const char* batch : {"all", "a100/80.gb", "..", "%", "x y", "\xff"}) {
        const ClaimRef claim{batch, 7};
        CHECK(parse_claim_file_name(claim_file_name(claim)) == claim);
        CHECK(claim_file_name(claim).find('/') == std::string::npos);
    }
    for (const char* name :
         {"all", "all.", "all.0", "all.x", ".3", "a%2.3", "a%zz.3", "a b.1", "all.99999999999"})
        CHECK_FALSE(parse_claim_file_name(name));
}

TEST_CASE("the first claim is epoch 1 without a predecessor") {
    Scene scene;
    const std::string part = scene.part(Scene::Owner::here);
    Claimant claimant = scene.claimant(part);
    const auto result = std::get<ClaimAcquired>(claimant.try_claim());
    CHECK(result.claim == ClaimRef{"all", 1});
    CHECK(result.records == fences(1, {{"", 0}}));
    CHECK(newest_epoch(scene.directory, "all") == 1);
    CHECK(newest_epoch(scene.directory, "other") == 0);
    CHECK(std::get<ClaimAcquired>(claimant.try_claim()).claim == result.claim);
    CHECK(std::filesystem::hard_link_count(scene.directory.claims_folder() + "/all.1") == 2);
}

TEST_CASE("a live owner on this machine holds its claim") {
    Scene scene;
    const std::string first = scene.holder(Scene::Owner::here, 5);
    Claimant second = scene.claimant(scene.part(Scene::Owner::here));
    const auto held = std::get<ClaimHeld>(second.try_claim());
    CHECK(held.owner.part == first);
    CHECK(held.claim.epoch == 1);
}

TEST_CASE("the claim of a process that is gone is taken at once, with all it wrote") {
    Scene scene;
    const std::string first = scene.holder(Scene::Owner::gone, 9);
    Claimant second = scene.claimant(scene.part(Scene::Owner::here));
    const auto result = std::get<ClaimAcquired>(second.try_claim());
    CHECK(result.claim == ClaimRef{"all", 2});
    CHECK(result.records == fences(2, {{first, 9}}));
    CHECK(is_superseded(scene.directory, {"all", 1}));
    CHECK_FALSE(is_superseded(scene.directory, {"all", 2}));
}

TEST_CASE("a part that ended in order gives its claim up, wherever it ran") {
    Scene scene;
    const std::string first = scene.holder(Scene::Owner::elsewhere, 4);
    scene.directory.write_verdict(first, {0, "done"});
    Claimant second = scene.claimant(scene.part(Scene::Owner::elsewhere));
    CHECK(std::get<ClaimAcquired>(second.try_claim()).claim.epoch == 2);
}

TEST_CASE("an owner elsewhere is watched, and taken over after a whole lease without a beat") {
    Scene scene;
    const std::string first = scene.holder(Scene::Owner::elsewhere, 6);
    scene.directory.write_beat(first, 1);
    Claimant second = scene.claimant(scene.part(Scene::Owner::here));
    CHECK(std::get<ClaimWatch>(second.try_claim()).remaining == from_seconds(lease_s));
    scene.clock.advance(lease_s - 1);
    CHECK(std::get<ClaimWatch>(second.try_claim()).remaining == from_seconds(1));
    scene.clock.advance(1);
    const auto result = std::get<ClaimAcquired>(second.try_claim());
    CHECK(result.claim.epoch == 2);
    CHECK(result.records[0].last_honoured == 6);
}

TEST_CASE("a beat seen to move proves life and begins the lease anew") {
    Scene scene;
    const std::string first = scene.holder(Scene::Owner::elsewhere, 6);
    Claimant second = scene.claimant(scene.part(Scene::Owner::here));
    CHECK(std::holds_alternative<ClaimWatch>(second.try_claim()));
    scene.clock.advance(lease_s - 1);
    scene.directory.write_beat(first, 2);
    CHECK(std::holds_alternative<ClaimHeld>(second.try_claim()));
    scene.clock.advance(lease_s - 1);
    CHECK(std::holds_alternative<ClaimHeld>(second.try_claim()));
    scene.clock.advance(1);
    CHECK(std::holds_alternative<ClaimAcquired>(second.try_claim()));
}

TEST_CASE("a stopped owner on this machine is taken over after a whole lease") {
    Scene scene;
    scene.holder(Scene::Owner::here, 3);
    Claimant second = scene.claimant(scene.part(Scene::Owner::here));
    CHECK(std::holds_alternative<ClaimHeld>(second.try_claim()));
    scene.clock.advance(lease_s);
    CHECK(std::get<ClaimAcquired>(second.try_claim()).claim.epoch == 2);
}

TEST_CASE("two contenders for a dead owner's claim: one gets it") {
    Scene scene;
    scene.holder(Scene::Owner::gone, 3);
    Claimant second = scene.claimant(scene.part(Scene::Owner::here));
    Claimant third = scene.claimant(scene.part(Scene::Owner::here));
    CHECK(std::holds_alternative<ClaimAcquired>(second.try_claim()));
    CHECK(std::holds_alternative<ClaimHeld>(third.try_claim()));
}

TEST_CASE("a taker that died before its record was written does not leave its predecessor unfenced") {
    Scene scene;
    const std::string first = scene.holder(Scene::Owner::gone, 7);
    const std::string second = scene.part(Scene::Owner::gone);
    CHECK(std::get<ClaimAcquired>(scene.claimant(second).try_claim()).claim.epoch == 2);
    Claimant third = scene.claimant(scene.part(Scene::Owner::here));
    const auto result = std::get<ClaimAcquired>(third.try_claim());
    CHECK(result.records == fences(3, {{second, UINT64_MAX}, {first, 7}}));
}

TEST_CASE("a chain of takeovers fences only the last part once each has recorded its claim") {
    Scene scene;
    scene.holder(Scene::Owner::gone, 3);
    const std::string second = scene.holder(Scene::Owner::gone, 4);
    Claimant third = scene.claimant(scene.part(Scene::Owner::here));
    CHECK(std::get<ClaimAcquired>(third.try_claim()).records == fences(3, {{second, 4}}));
}

TEST_CASE("a predecessor whose journals were pruned is honoured in full") {
    Scene scene;
    const std::string first = scene.part(Scene::Owner::gone);
    CHECK(std::holds_alternative<ClaimAcquired>(scene.claimant(first).try_claim()));
    Claimant second = scene.claimant(scene.part(Scene::Owner::here));
    CHECK(std::get<ClaimAcquired>(second.try_claim()).records == fences(2, {{first, UINT64_MAX}}));
}

TEST_CASE("a damaged claim file is named with the remedy") {
    Scene scene;
    std::ofstream(scene.directory.claims_folder() + "/all.1") << "rubbish";
    Claimant claimant = scene.claimant(scene.part(Scene::Owner::here));
    CHECK_THROWS_WITH_AS(claimant.try_claim(), doctest::Contains("remove this file"), UserError);
}

TEST_CASE("a filesystem without hard links is named with the remedy") {
    const TemporaryFolder folder;
    const FakeClock clock;
    FaultFiles files;
    const auto directory = CampaignDirectory::open_or_create(folder / "c", "alpha", files);
    const std::string part = directory.create_part(clock.wall_ns());
    files.fail(FileOperation::link, EPERM);
    Claimant claimant(directory, part, "all", from_seconds(1), clock);
    CHECK_THROWS_WITH_AS(claimant.try_claim(), doctest::Contains("no hard links"), UserError);
}
