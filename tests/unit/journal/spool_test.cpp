#include "sample.hpp"
#include "temporary.hpp"

#include <tessera/journal/fault_files.hpp>
#include <tessera/journal/log_pack.hpp>
#include <tessera/journal/spool.hpp>

#include <doctest/doctest.h>

#include <cerrno>
#include <filesystem>

using namespace tessera;

namespace {

const std::string part = "20260101T000000Z-00000001";

std::vector<OutcomeRecord> read_all(const std::string& path, std::vector<Damage>* damage = nullptr) {
    std::vector<OutcomeRecord> records;
    const auto found = read_spool(path, part, [&](OutcomeRecord&& record) { records.push_back(record); });
    if (damage != nullptr) *damage = found;
    return records;
}

LogEntry entry(sample::Random& random) {
    return {{part, sample::id(random), 1}, sample::text(random), std::string(3000, 'e')};
}

} // namespace

TEST_CASE("a spool gives back its outcomes without having been closed") {
    const TemporaryFolder folder;
    sample::Random random(1);
    Spool spool(folder.path(), part, 3);
    CHECK_FALSE(std::filesystem::exists(folder / "spool-3"));
    std::vector<OutcomeRecord> records;
    for (int i = 0; i < 50; ++i) {
        records.push_back(sample::outcome(random));
        spool.append(records.back());
        CHECK(read_all(folder / "spool-3") == records);
    }
    spool.close();
    CHECK(read_all(folder / "spool-3") == records);
}

TEST_CASE("one outcome is one write and syncs come in groups") {
    const TemporaryFolder folder;
    sample::Random random(2);
    FaultFiles files;
    Spool spool(folder.path(), part, 1, files);
    for (int i = 0; i < 10; ++i)
        spool.append(sample::outcome(random));
    CHECK(files.count(FileOperation::write) == 10);
    CHECK(files.count(FileOperation::sync_data) == 0);
    spool.sync();
    spool.sync();
    CHECK(files.count(FileOperation::sync_data) == 1);
}

TEST_CASE("a spool that failed stays failed and keeps what it had") {
    const TemporaryFolder folder;
    sample::Random random(3);
    FaultFiles files;
    Spool spool(folder.path(), part, 1, files);
    const OutcomeRecord first = sample::outcome(random);
    spool.append(first);
    files.fail_writes_after(20, ENOSPC);
    CHECK_THROWS_AS(spool.append(sample::outcome(random)), IoError);
    files.heal();
    CHECK_THROWS_AS(spool.append(first), IoError);
    CHECK_THROWS_AS(spool.sync(), IoError);
    std::vector<Damage> damage;
    const auto records = read_all(folder / "spool-1", &damage);
    REQUIRE(records.size() == 1);
    CHECK(records[0] == first);
    REQUIRE(damage.size() == 1);
    CHECK(damage[0].kind == DamageKind::torn_tail);
}

TEST_CASE("a spool whose sync failed refuses to go on") {
    const TemporaryFolder folder;
    sample::Random random(4);
    FaultFiles files;
    Spool spool(folder.path(), part, 1, files);
    spool.append(sample::outcome(random));
    files.fail(FileOperation::sync_data, EIO);
    CHECK_THROWS_AS(spool.sync(), IoError);
    files.heal();
    CHECK_THROWS_AS(spool.sync(), IoError);
    CHECK_THROWS_AS(spool.close(), IoError);
}

TEST_CASE("a log pack gives back entries by offset and by scan") {
    const TemporaryFolder folder;
    sample::Random random(5);
    LogPack pack(folder.path(), part, 2);
    CHECK_FALSE(std::filesystem::exists(pack.path()));
    std::vector<std::pair<std::uint64_t, LogEntry>> entries;
    for (int i = 0; i < 20; ++i) {
        const LogEntry one = entry(random);
        entries.emplace_back(pack.append(one), one);
        CHECK(read_log_entry(pack.path(), entries.back().first) == one);
    }
    pack.close();
    for (const auto& [offset, one] : entries)
        CHECK(read_log_entry(folder / "logs-2.pack", offset) == one);
    std::size_t next = 0;
    const auto damage = scan_log_pack(pack.path(), part, [&](std::uint64_t offset, LogEntry&& one) {
        CHECK(offset == entries[next].first);
        CHECK(one == entries[next++].second);
    });
    CHECK(next == entries.size());
    CHECK(damage.empty());
}

TEST_CASE("a damaged log entry is refused and the others are found") {
    const TemporaryFolder folder;
    sample::Random random(6);
    LogPack pack(folder.path(), part, 2);
    const std::uint64_t first = pack.append(entry(random));
    const std::uint64_t second = pack.append(entry(random));
    const std::uint64_t third = pack.append(entry(random));
    pack.close();
    std::string bytes = read_file(pack.path());
    bytes[second + 500] = static_cast<char>(~bytes[second + 500]);
    write_file_atomically(pack.path(), bytes);
    CHECK_THROWS_AS(read_log_entry(pack.path(), second), FormatError);
    CHECK_THROWS_AS(read_log_entry(pack.path(), first + 1), FormatError);
    CHECK_THROWS_AS(read_log_entry(pack.path(), bytes.size()), FormatError);
    std::vector<std::uint64_t> offsets;
    const auto damage = scan_log_pack(pack.path(), part,
                                      [&](std::uint64_t offset, LogEntry&&) { offsets.push_back(offset); });
    CHECK(offsets == std::vector<std::uint64_t>{first, third});
    REQUIRE(damage.size() == 1);
    CHECK(damage[0].offset == second);
    CHECK(damage[0].length == third - second);
}

TEST_CASE("a log entry that is too large leaves the pack usable") {
    const TemporaryFolder folder;
    sample::Random random(7);
    LogPack pack(folder.path(), part, 1);
    LogEntry large = entry(random);
    large.stdout_text.assign(std::size_t{max_payload_bytes} + 1, 'x');
    CHECK_THROWS_AS(pack.append(large), FormatError);
    const LogEntry small = entry(random);
    CHECK(read_log_entry(pack.path(), pack.append(small)) == small);
}
