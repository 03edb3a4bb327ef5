#include "fixture.hpp"

#include <tessera/base/error.hpp>
#include <tessera/base/fd.hpp>
#include <tessera/journal/campaign_dir.hpp>
#include <tessera/journal/journal_writer.hpp>
#include <tessera/store/campaign_state.hpp>
#include <tessera/store/query.hpp>
#include <tessera/store/segments.hpp>
#include <tessera/store/store.hpp>

#include <doctest/doctest.h>

#include <csignal>
#include <fstream>
#include <sys/file.h>
#include <sys/wait.h>

#include <fcntl.h>
#include <unistd.h>

using namespace tessera;

namespace {

/// A campaign directory whose one part tells of the hello campaign, in several journal files.
class Run {
public:
    explicit Run(std::uint64_t rotate_bytes = 4096)
        : directory(CampaignDirectory::open_or_create(folder_.path("D"), "hello"))
        , part(directory.create_part(1'767'225'600'000'000'000))
        , writer(directory.part_folder(part), part, directory.files(), {rotate_bytes, 16U << 20U}) {
        writer.append(fixture::part_open());
        writer.append(DefinitionRecord(matrix.definition()));
        writer.append(DefinitionRecord(matrix.cells()));
        writer.sync();
    }

    void finish(std::size_t from, std::size_t to) {
        for (std::size_t i = from; i < to; ++i) {
            writer.append(matrix.step(i));
            writer.append(fixture::dispatched(matrix.step_key(i)));
            auto outcome = fixture::outcome(part, matrix.step_key(i));
            outcome.metrics = {fixture::metric("product", matrix.x(i))};
            writer.append(outcome);
            writer.sync(); // so that files are rotated
        }
    }

    Store store() const { return open_store(directory); }

    TextTable rows() const {
        const Store store = open_store(directory);
        return run_query(store.tables,
                         campaign_state(store.tables, acceptance_of(store.tables),
                                        [](const std::string&) { return true; }),
                         {});
    }

    std::string segment(std::uint32_t number) const { return segment_path(directory, part, number); }

    std::vector<std::string> build(std::uint32_t last_sealed) const {
        std::vector<std::string> warnings;
        auto made = build_segments(directory, part, last_sealed, warnings);
        CHECK(warnings.empty());
        return made;
    }

    Compaction compact_all() const {
        std::vector<std::string> warnings;
        return compact(directory, warnings);
    }

    const fixture::Matrix matrix{5, 2, 3};

private:
    const fixture::TemporaryFolder folder_;

public:
    CampaignDirectory directory;
    std::string part;
    JournalWriter writer;
};

void overwrite(const std::string& path, const std::string& content) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

std::size_t accepted(const Store& store) {
    const auto state =
        campaign_state(store.tables, acceptance_of(store.tables), [](const std::string&) { return true; });
    std::size_t count = 0;
    for (const std::uint32_t attempt : state.step_accepted)
        count += attempt != null_code ? 1 : 0;
    return count;
}

/// Runs `work` in a process of its own; -1 as its exit code is an exception.
template <typename Work>
pid_t in_child(Work&& work) {
    const pid_t child = ::fork();
    if (child != 0) return child;
    try {
        work();
    } catch (const std::exception&) {
        ::_exit(1);
    }
    ::_exit(0);
}

} // namespace

TEST_CASE("a query is the same from journals, segments and results.h5") {
    Run run;
    run.finish(0, 30);
    const TextTable from_journals = run.rows();
    CHECK(from_journals.rows.size() == 30);
    CHECK(accepted(run.store()) == 30);
    CHECK(run.writer.current_file() > 3);
    CHECK(run.build(run.writer.current_file() - 1).size() == run.writer.current_file() - 1);
    CHECK(run.build(run.writer.current_file() - 1).empty());
    CHECK(run.rows() == from_journals);
    CHECK(!run.store().compacted);
    CHECK(run.compact_all() == Compaction::written);
    CHECK(run.store().compacted);
    CHECK(run.rows() == from_journals);
    CHECK(run.compact_all() == Compaction::current);
}

TEST_CASE("results.h5 stands for files that are gone") {
    Run run;
    run.finish(0, 30);
    run.build(2);
    const TextTable before = run.rows();
    REQUIRE(run.compact_all() == Compaction::written);
    for (const std::string& path : run.directory.part_files(run.part).journals)
        std::filesystem::remove(path);
    for (const std::string& path : run.directory.part_files(run.part).segments)
        std::filesystem::remove(path);
    CHECK(run.rows() == before);
    CHECK(run.compact_all() == Compaction::current);
}

TEST_CASE("what the run writes after a compaction is read from where that stopped") {
    Run run;
    run.finish(0, 10);
    CHECK(run.compact_all() == Compaction::written);
    run.finish(10, 11);
    CHECK(!run.store().compacted);
    CHECK(accepted(run.store()) == 11);
    run.finish(11, 30);
    CHECK(accepted(run.store()) == 30);
    CHECK(run.store().tables.attempts.size() == 30);
    CHECK(run.compact_all() == Compaction::written);
    CHECK(run.store().tables.attempts.size() == 30);
    CHECK(run.store().tables.coverage.size() == run.writer.current_file());
}

TEST_CASE("a compaction of parts gives the same tables as reading all journals") {
    Run run;
    run.finish(0, 17);
    run.build(2);
    run.compact_all();
    run.finish(17, 30);
    run.build(run.writer.current_file() - 1);
    run.compact_all();
    const Tables compacted = read_table_file(run.directory.results_path());
    std::filesystem::remove(run.directory.results_path());
    for (const std::string& path : run.directory.part_files(run.part).segments)
        std::filesystem::remove(path);
    CHECK(identical(compacted, open_store(run.directory, StepTexts::read).tables));
}

TEST_CASE("damaged HDF5 files are replaced by the journals, with a warning") {
    Run run;
    run.finish(0, 30);
    const TextTable before = run.rows();
    run.build(3);
    REQUIRE(run.compact_all() == Compaction::written);
    const std::string bytes = read_file(run.directory.results_path());
    for (const std::string& damaged :
         {std::string(), bytes.substr(0, bytes.size() / 2), std::string("no HDF5 at all")}) {
        overwrite(run.directory.results_path(), damaged);
        overwrite(run.segment(2), damaged);
        const Store store = run.store();
        CHECK(store.warnings.size() == 2);
        CHECK(store.warnings.at(0).find("results.h5") != std::string::npos);
        CHECK(store.warnings.at(1).find("segment-0002.h5") != std::string::npos);
        CHECK(run.rows() == before);
    }
    CHECK(run.build(3) == std::vector<std::string>{run.segment(2)});
    CHECK(run.compact_all() == Compaction::written);
    CHECK(run.store().warnings.empty());
    CHECK(run.rows() == before);
}

TEST_CASE("a flipped byte anywhere in results.h5 loses no row") {
    Run run;
    run.finish(0, 12);
    const TextTable before = run.rows();
    REQUIRE(run.compact_all() == Compaction::written);
    const std::string bytes = read_file(run.directory.results_path());
    for (std::size_t at = 0; at < bytes.size(); at += bytes.size() / 60) {
        std::string flipped = bytes;
        flipped[at] = static_cast<char>(flipped[at] ^ 0x10);
        overwrite(run.directory.results_path(), flipped);
        CAPTURE(at);
        const bool padding = at >= 200 && at < 512; // of the user block
        CHECK(run.store().warnings.size() == (padding ? 0 : 1));
        CHECK(run.rows() == before);
    }
}

TEST_CASE("a damaged journal gives all its good records and a warning") {
    Run run(64U << 20U);
    run.finish(0, 30);
    const std::string journal = run.directory.part_files(run.part).journals.at(0);
    std::string bytes = read_file(journal);
    bytes.replace(bytes.size() / 2, 100, std::string(100, '\0'));
    overwrite(journal, bytes + "torn");
    const Store store = run.store();
    CHECK(!store.warnings.empty());
    CHECK(accepted(store) >= 28);
    CHECK(accepted(store) < 30);
}

TEST_CASE("an empty campaign directory has no cells") {
    const fixture::TemporaryFolder folder;
    const auto directory = CampaignDirectory::open_or_create(folder.path("D"), "hello");
    const Store store = open_store(directory);
    CHECK(store.tables.cells.size() == 0);
    CHECK(!current_definition(store.tables));
    CHECK_THROWS_AS(CampaignDirectory::open(folder.path("missing")), UserError);
}

TEST_CASE("one compaction at a time") {
    Run run;
    const UniqueFd lock = open_file(run.directory.path() + "/results.lock", O_RDWR | O_CREAT);
    REQUIRE(::flock(lock.get(), LOCK_EX) == 0);
    CHECK(run.compact_all() == Compaction::busy);
    CHECK(!std::filesystem::exists(run.directory.results_path()));
}

TEST_CASE("with two processes that compact all the time a reader never misses a row") {
    Run run;
    const auto compact_often = [&] {
        for (int i = 0; i < 25; ++i)
            run.compact_all();
    };
    const pid_t first = in_child(compact_often);
    const pid_t second = in_child(compact_often);
    for (std::size_t i = 0; i < 30; ++i) {
        run.finish(i, i + 1);
        const Store store = run.store();
        CHECK(accepted(store) == i + 1);
        CHECK(store.warnings.empty());
    }
    for (const pid_t child : {first, second}) {
        int status = 0;
        REQUIRE(::waitpid(child, &status, 0) == child);
        CHECK(status == 0);
    }
}

TEST_CASE("results.h5 is whole whenever a compaction is killed") {
    Run run;
    run.finish(0, 30);
    const TextTable before = run.rows();
    for (int kill_at = 1; kill_at <= 6; ++kill_at) {
        std::filesystem::remove(run.directory.results_path());
        Pipe beginnings = make_pipe();
        const pid_t child = in_child([&] {
            for (;;) {
                write_all(beginnings.write.get(), "x", "pipe");
                run.compact_all();
                std::filesystem::remove(run.directory.results_path());
            }
        });
        std::string read(static_cast<std::size_t>(kill_at), '\0');
        for (char& byte : read)
            REQUIRE(::read(beginnings.read.get(), &byte, 1) == 1);
        REQUIRE(::kill(child, SIGKILL) == 0);
        REQUIRE(::waitpid(child, nullptr, 0) == child);
        const Store store = run.store();
        CHECK(store.warnings.empty());
        CHECK(run.rows() == before);
    }
    std::filesystem::remove(run.directory.results_path());
    CHECK(run.compact_all() == Compaction::written);
    for (const auto& entry : std::filesystem::directory_iterator(run.directory.path()))
        CHECK(entry.path().string().find(".tmp-") == std::string::npos);
}
