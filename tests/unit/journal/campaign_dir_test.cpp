#include "temporary.hpp"

#include <tessera/base/error.hpp>
#include <tessera/journal/campaign_dir.hpp>
#include <tessera/journal/fault_files.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>

#include <unistd.h>

using namespace tessera;
namespace fs = std::filesystem;

namespace {

constexpr WallTime new_year_ns = 1'767'225'600'000'000'000; // 2026-01-01

unsigned mode_of(const std::string& path) {
    struct stat status {};

    REQUIRE(::stat(path.c_str(), &status) == 0);
    return status.st_mode & 0777U;
}

std::string message_of(const std::string& path, const std::string& name) {
    try {
        CampaignDirectory::open_or_create(path, name);
    } catch (const UserError& error) {
        return error.what();
    }
    return {};
}

} // namespace

TEST_CASE("a new directory gets an identity that stays") {
    const TemporaryFolder folder;
    const std::string path = folder / "deep/er/campaign";
    CHECK_FALSE(CampaignDirectory::exists(path));
    const auto made = CampaignDirectory::open_or_create(path, "ptq");
    CHECK(made.identity().name == "ptq");
    CHECK_FALSE(made.identity().id.is_zero());
    CHECK(CampaignDirectory::exists(path));
    CHECK(CampaignDirectory::open_or_create(path + "/", "ptq").identity() == made.identity());
    CHECK(CampaignDirectory::open(path).identity() == made.identity());
    CHECK(mode_of(path) == 0700);
    CHECK(mode_of(made.parts_folder()) == 0700);
    CHECK(mode_of(path + "/campaign.id") == 0600);
}

TEST_CASE("an empty folder that is there is taken") {
    const TemporaryFolder folder;
    CHECK(CampaignDirectory::open_or_create(folder.path(), "a").identity().name == "a");
}

TEST_CASE("directories of other campaigns and of other things are refused with a remedy") {
    const TemporaryFolder folder;
    CampaignDirectory::open_or_create(folder / "a", "alpha");
    const std::string other = message_of(folder / "a", "beta");
    CHECK(other.find("belongs to the campaign 'alpha', not to 'beta'") != std::string::npos);
    CHECK(other.find("--dir") != std::string::npos);

    fs::create_directory(folder / "thesis");
    std::ofstream(folder / "thesis/chapter.tex") << "text";
    CHECK(message_of(folder / "thesis", "alpha").find("not a campaign directory") != std::string::npos);
    CHECK(std::distance(fs::directory_iterator(folder / "thesis"), fs::directory_iterator()) == 1);

    std::ofstream(folder / "file") << "text";
    CHECK(message_of(folder / "file", "alpha").find("not a folder") != std::string::npos);
    CHECK_THROWS_AS(CampaignDirectory::open(folder / "thesis"), UserError);
    CHECK_THROWS_AS(CampaignDirectory::open(folder / "absent"), UserError);
    CHECK_FALSE(fs::exists(folder / "absent"));

    std::ofstream(folder / "a/campaign.id") << "{";
    CHECK(message_of(folder / "a", "alpha").find("damaged") != std::string::npos);
}

TEST_CASE("a first run that died at any step leaves a directory that can be used") {
    for (std::uint64_t step = 0;; ++step) {
        const TemporaryFolder folder;
        FaultFiles files;
        files.kill_before_operation(step);
        bool died = false;
        try {
            CampaignDirectory::open_or_create(folder / "c", "alpha", files).create_part(new_year_ns);
        } catch (const SimulatedKill&) {
            died = true;
        }
        CHECK(CampaignDirectory::open_or_create(folder / "c", "alpha").identity().name == "alpha");
        if (!died) {
            CHECK(step > 10);
            return;
        }
    }
}

TEST_CASE("nothing is made through a symbolic link") {
    const TemporaryFolder folder;
    const auto directory = CampaignDirectory::open_or_create(folder / "c", "alpha");
    fs::create_directory(folder / "elsewhere");
    fs::create_directory_symlink(folder / "elsewhere", folder / "c/artifacts");
    CHECK_THROWS_AS(directory.make_folder("artifacts/x"), UserError);
    CHECK_THROWS_AS(directory.make_folder("../x"), UserError);
    CHECK_THROWS_AS(directory.make_folder("a//b"), UserError);
    CHECK(fs::is_empty(folder / "elsewhere"));
    CHECK(fs::is_directory(directory.make_folder("attempts/p/s-1")));
    CHECK(mode_of(folder / "c/attempts/p/s-1") == 0700);

    const std::string part = directory.create_part(new_year_ns);
    fs::create_symlink(folder / "target", directory.part_folder(part) + "/beat");
    CHECK_THROWS_AS(directory.write_beat(part, 1), IoError);
    CHECK_FALSE(fs::exists(folder / "target"));
}

TEST_CASE("each version of the campaign file is kept") {
    const TemporaryFolder folder;
    const auto directory = CampaignDirectory::open_or_create(folder / "c", "alpha");
    const Id128 first = Id128::random();
    const Id128 second = Id128::random();
    CHECK(directory.save_snapshot("one", first) == "campaigns/" + first.hex() + ".toml");
    CHECK(read_file(folder / "c/campaign.toml") == "one");
    directory.save_snapshot("two", second);
    CHECK(read_file(folder / "c/campaign.toml") == "two");
    CHECK(read_file(folder / ("c/campaigns/" + first.hex() + ".toml")) == "one");
    directory.save_snapshot("two, with a comment", second);
    CHECK(read_file(folder / "c/campaign.toml") == "two, with a comment");
    CHECK(read_file(folder / ("c/campaigns/" + second.hex() + ".toml")) == "two");
}

TEST_CASE("a later part never gets a smaller name, whatever the clock says") {
    const TemporaryFolder folder;
    const auto directory = CampaignDirectory::open_or_create(folder / "c", "alpha");
    std::vector<std::string> made;
    for (const WallTime at_ns : {new_year_ns, new_year_ns, new_year_ns - 3'600'000'000'000, new_year_ns + 1})
        made.push_back(directory.create_part(at_ns));
    CHECK(directory.parts() == made);
}

TEST_CASE("parts are listed in order with their files") {
    const TemporaryFolder folder;
    const auto directory = CampaignDirectory::open_or_create(folder / "c", "alpha");
    CHECK(directory.parts().empty());
    const std::string earlier = directory.create_part(new_year_ns);
    const std::string later = directory.create_part(new_year_ns + 5'000'000'000);
    CHECK(earlier.starts_with("20260101T000000Z-"));
    CHECK(later.starts_with("20260101T000005Z-"));
    CHECK(is_part_id(earlier));
    fs::create_directory(directory.parts_folder() + "/notes");
    CHECK(directory.parts() == std::vector<std::string>{earlier, later});
    for (const char* name : {"journal-0010", "journal-0009", "journal-x", "journal-", "spool-2", "spool-10",
                             "segment-1.h5", "segment-1.h5.tmp", "logs-0.pack", "telemetry-4"})
        std::ofstream(directory.part_folder(earlier) + "/" + name) << "";
    const PartFiles files = directory.part_files(earlier);
    const std::string prefix = directory.part_folder(earlier) + "/";
    CHECK(files.journals == std::vector<std::string>{prefix + "journal-0009", prefix + "journal-0010"});
    CHECK(files.spools == std::vector<std::string>{prefix + "spool-2", prefix + "spool-10"});
    CHECK(files.segments == std::vector<std::string>{prefix + "segment-1.h5"});
    CHECK(files.log_packs == std::vector<std::string>{prefix + "logs-0.pack"});
    CHECK(files.telemetry == std::vector<std::string>{prefix + "telemetry-4"});
    CHECK(directory.part_files("20260101T000000Z-ffffffff").journals.empty());
}

TEST_CASE("part ids have one form") {
    CHECK(is_part_id("20260101T000000Z-0123abcd"));
    CHECK_FALSE(is_part_id("20260101T000000Z-0123abcD"));
    CHECK_FALSE(is_part_id("20260101T000000Z-0123abc"));
    CHECK_FALSE(is_part_id("2026010XT000000Z-0123abcd"));
}

TEST_CASE("owner, beat, verdict and stop files read back; damaged ones are as if absent") {
    const TemporaryFolder folder;
    const auto directory = CampaignDirectory::open_or_create(folder / "c", "alpha");
    const std::string part = directory.create_part(new_year_ns);
    const auto owner = directory.owner(part);
    REQUIRE(owner);
    CHECK(owner->part == part);
    CHECK(owner->pid == ::getpid());
    CHECK(owner->since_ns == new_year_ns);

    CHECK_FALSE(directory.beat(part));
    directory.write_beat(part, 7);
    directory.write_beat(part, 8);
    CHECK(directory.beat(part) == 8);
    std::ofstream(directory.part_folder(part) + "/beat") << "nonsense";
    CHECK_FALSE(directory.beat(part));

    CHECK_FALSE(directory.verdict(part));
    directory.write_verdict(part, {3, "walltime \xff"});
    CHECK(directory.verdict(part)->exit_code == 3);
    std::ofstream(directory.part_folder(part) + "/verdict") << "[1]";
    CHECK_FALSE(directory.verdict(part));

    CHECK_FALSE(directory.stop_request());
    directory.request_stop(false);
    const auto first = directory.stop_request();
    REQUIRE(first);
    CHECK_FALSE(first->kill);
    directory.request_stop(true);
    CHECK(directory.stop_request()->kill);
    CHECK(directory.stop_request()->token != first->token);

    std::ofstream(directory.part_folder(part) + "/owner") << "{\"part\": 3}";
    CHECK_FALSE(directory.owner(part));
}
