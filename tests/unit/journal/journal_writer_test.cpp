#include "temporary.hpp"

#include <tessera/journal/fault_files.hpp>
#include <tessera/journal/frame.hpp>
#include <tessera/journal/journal_writer.hpp>

#include <doctest/doctest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include <poll.h>

using namespace tessera;

namespace {

const std::string part = "20260101T000000Z-00000001";

Record started(std::uint32_t number) {
    StartedRecord record;
    record.number = number;
    record.host = std::string(100, 'h');
    return record;
}

std::vector<std::uint64_t> sequences(const std::string& path) {
    const std::string bytes = read_file(path);
    FrameScanner scanner(bytes, stream_id(part));
    std::vector<std::uint64_t> found;
    while (const auto frame = scanner.next())
        found.push_back(frame->sequence);
    return found;
}

bool is_readable(int fd) {
    pollfd poll_fd{fd, POLLIN, 0};
    return ::poll(&poll_fd, 1, 0) == 1;
}

/// Waits until the writer has something to tell; the test's time limit ends a wait in vain.
void wait_for(const JournalWriter& writer) {
    pollfd poll_fd{writer.committed_fd(), POLLIN, 0};
    ::poll(&poll_fd, 1, -1);
}

} // namespace

TEST_CASE("what was appended is durable after sync, in order") {
    const TemporaryFolder folder;
    JournalWriter writer(folder.path(), part);
    CHECK_FALSE(is_readable(writer.committed_fd()));
    for (std::uint32_t i = 1; i <= 1000; ++i)
        CHECK(writer.append(started(i)) == i);
    writer.sync();
    CHECK(writer.durable_sequence() == 1000);
    CHECK(is_readable(writer.committed_fd()));
    writer.clear_committed();
    CHECK_FALSE(is_readable(writer.committed_fd()));
    CHECK(sequences(folder / "journal-0001").size() == 1000);
    CHECK(writer.last_sequence() == 1000);
    writer.close();
    writer.close();
    CHECK_FALSE(writer.failure());
}

TEST_CASE("many appends share a sync") {
    const TemporaryFolder folder;
    FaultFiles files;
    JournalWriter writer(folder.path(), part, files);
    for (std::uint32_t i = 1; i <= 20000; ++i)
        writer.append(started(i));
    writer.close();
    CHECK(sequences(folder / "journal-0001").size() == 20000);
    CHECK(files.count(FileOperation::sync_data) < 20000);
}

TEST_CASE("the destructor drains") {
    const TemporaryFolder folder;
    {
        JournalWriter writer(folder.path(), part);
        for (std::uint32_t i = 1; i <= 100; ++i)
            writer.append(started(i));
    }
    CHECK(sequences(folder / "journal-0001").size() == 100);
}

TEST_CASE("files rotate by size and sequence numbers go on") {
    const TemporaryFolder folder;
    JournalWriter writer(folder.path(), part, system_files(),
                         {.rotate_bytes = 4096, .pending_limit_bytes = 1024});
    for (std::uint32_t i = 1; i <= 200; ++i) {
        writer.append(started(i));
        if (i % 7 == 0) writer.sync();
    }
    writer.close();
    const std::uint32_t files = writer.current_file();
    CHECK(files > 3);
    std::uint64_t expected = 1;
    for (std::uint32_t number = 1; number <= files; ++number) {
        const std::string path = folder / ("journal-000" + std::to_string(number));
        if (number < files) CHECK(std::filesystem::file_size(path) >= 4096);
        CHECK(std::filesystem::file_size(path) < 4096 + 4096);
        for (const std::uint64_t sequence : sequences(path))
            CHECK(sequence == expected++);
    }
    CHECK(expected == 201);
}

TEST_CASE("short writes are completed") {
    const TemporaryFolder folder;
    FaultFiles files;
    files.limit_writes(7);
    JournalWriter writer(folder.path(), part, files);
    for (std::uint32_t i = 1; i <= 20; ++i)
        writer.append(started(i));
    writer.close();
    CHECK(sequences(folder / "journal-0001").size() == 20);
}

TEST_CASE("a full disk is reported once and keeps what was durable") {
    for (const int code : {ENOSPC, EDQUOT}) {
        const TemporaryFolder folder;
        FaultFiles files;
        JournalWriter writer(folder.path(), part, files);
        for (std::uint32_t i = 1; i <= 10; ++i)
            writer.append(started(i));
        writer.sync();
        writer.clear_committed();
        files.fail_writes_after(50, code);
        writer.append(started(11));
        wait_for(writer);
        REQUIRE(writer.failure());
        CHECK(writer.failure()->code == code);
        CHECK(writer.durable_sequence() == 10);
        files.heal();
        CHECK(writer.append(started(12)) == 12);
        CHECK_THROWS_AS(writer.sync(), IoError);
        CHECK_THROWS_AS(writer.close(), IoError);
        CHECK(writer.durable_sequence() == 10);
        CHECK(sequences(folder / "journal-0001").size() == 10);
    }
}

TEST_CASE("a failed sync ends the writing, however often it would work later") {
    const TemporaryFolder folder;
    FaultFiles files;
    JournalWriter writer(folder.path(), part, files);
    writer.append(started(1));
    writer.sync();
    files.fail(FileOperation::sync_data, EIO);
    writer.append(started(2));
    CHECK_THROWS_AS(writer.sync(), IoError);
    files.heal();
    const std::uint64_t writes = files.count(FileOperation::write);
    writer.append(started(3));
    CHECK_THROWS_AS(writer.close(), IoError);
    CHECK(writer.durable_sequence() == 1);
    CHECK(files.count(FileOperation::write) == writes);
}

TEST_CASE("memory stays bounded and appending goes on when the disk fails") {
    const TemporaryFolder folder;
    FaultFiles files;
    JournalWriter writer(folder.path(), part, files,
                         {.rotate_bytes = 1U << 20U, .pending_limit_bytes = 2000});
    files.fail(FileOperation::sync_data, EIO);
    for (std::uint32_t i = 1; i <= 1000; ++i)
        writer.append(started(i));
    CHECK(writer.has_room());
    CHECK_THROWS_AS(writer.close(), IoError);
    CHECK(writer.durable_sequence() == 0);
}

TEST_CASE("an existing journal is never written") {
    const TemporaryFolder folder;
    std::ofstream(folder / "journal-0001") << "another's";
    CHECK_THROWS_AS(JournalWriter(folder.path(), part), IoError);
    CHECK(read_file(folder / "journal-0001") == "another's");
}
