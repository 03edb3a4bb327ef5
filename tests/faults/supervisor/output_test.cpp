#include "harness.hpp"

#include <tessera/base/fd.hpp>

#include <doctest/doctest.h>

#include <sys/stat.h>

#include <fcntl.h>
#include <unistd.h>

using namespace tessera;
using namespace tessera::test;

TEST_CASE("output is kept raw up to its limit and counted beyond") {
    Session session;
    SpawnRequest request = session.request({cell_program(), "flood", "100000000"});
    request.log_limit_bytes = 100000;
    const EndedReport end = session.run(request);
    CHECK(end.exit_code == 0);
    CHECK(end.standard_output.bytes == 100000000);
    CHECK(end.standard_output.truncated);
    CHECK(end.standard_output.problem.empty());
    CHECK_FALSE(end.standard_error.truncated);
    const std::string kept = read_file(request.stdout_path);
    CHECK(kept.size() == 100000);
    bool raw = true;
    for (std::size_t i = 0; i < kept.size(); ++i)
        raw = raw && kept[i] == static_cast<char>(i % 65536);
    CHECK(raw);
    REQUIRE(session.limits.size() == 1);
    CHECK(session.limits[0] == OutputLimitReport{request.ticket, OutputStream::standard_output});
}

TEST_CASE("a silent process leaves no log files") {
    Session session;
    const SpawnRequest request = session.request({cell_program(), "exit", "0"});
    session.run(request);
    CHECK_FALSE(exists(request.stdout_path));
    CHECK_FALSE(exists(request.stderr_path));
}

TEST_CASE("a log that cannot be written neither blocks nor ends the process") {
    Session session;
    SpawnRequest request = session.request({cell_program(), "flood", "1000000"});
    request.stdout_path = session.folder.file("no-folder/stdout");
    const EndedReport end = session.run(request);
    CHECK(end.exit_code == 0);
    CHECK(end.standard_output.bytes == 1000000);
    CHECK(end.standard_output.truncated);
    CHECK(end.standard_output.problem.find(request.stdout_path) != std::string::npos);
}

TEST_CASE("what a cell put in the place of its log is neither waited for nor followed") {
    Session session;
    SpawnRequest request = session.request({cell_program(), "flood", "1000000"});
    const std::string elsewhere = session.folder.file("elsewhere");
    UniqueFd reader;
    SUBCASE("a FIFO that nobody reads") {
        REQUIRE(::mkfifo(request.stdout_path.c_str(), 0600) == 0);
    }
    SUBCASE("a FIFO that somebody holds open") {
        REQUIRE(::mkfifo(request.stdout_path.c_str(), 0600) == 0);
        reader = open_file(request.stdout_path, O_RDWR);
    }
    SUBCASE("a link to a file that is there") {
        write_all(open_file(elsewhere, O_WRONLY | O_CREAT).get(), "mine", elsewhere);
        REQUIRE(::symlink(elsewhere.c_str(), request.stdout_path.c_str()) == 0);
    }
    SUBCASE("a link to nothing") {
        REQUIRE(::symlink(elsewhere.c_str(), request.stdout_path.c_str()) == 0);
    }
    SUBCASE("a folder") {
        REQUIRE(::mkdir(request.stdout_path.c_str(), 0700) == 0);
    }
    const EndedReport end = session.run(request);
    CHECK(end.exit_code == 0);
    CHECK(end.standard_output.bytes == 1000000);
    CHECK(end.standard_output.truncated);
    CHECK(end.standard_output.problem == request.stdout_path + ": not a regular file");
    if (exists(elsewhere)) CHECK(read_file(elsewhere) == "mine");
}

TEST_CASE("the end of stderr is told") {
    Session session;
    CHECK(session.run({cell_program(), "say", "first\nlast words"}).stderr_tail == "first\nlast words");
}

TEST_CASE("ten megabytes of standard input") {
    Session session;
    const std::string text(10'000'000, 'x');
    SUBCASE("that nobody reads") {
        SpawnRequest request = session.request({cell_program(), "exit", "4"});
        request.stdin_text = text;
        CHECK(session.run(request).exit_code == 4);
    }
    SUBCASE("that are read") {
        SpawnRequest request = session.request({cell_program(), "count-input"});
        request.stdin_text = text;
        CHECK(session.run(request).exit_code == 0);
        CHECK(read_file(request.stdout_path) == "10000000");
    }
}

TEST_CASE("without a text standard input is empty") {
    Session session;
    const SpawnRequest request = session.request({cell_program(), "count-input"});
    session.run(request);
    CHECK(read_file(request.stdout_path) == "0");
}

TEST_CASE("a process that closed its output is still watched") {
    Session session;
    const std::string ready = session.folder.file("ready");
    const SpawnRequest request = session.request({cell_program(), "close-output", ready});
    session.send(request);
    session.read_until([&] { return exists(ready); });
    CHECK(session.over.empty());
    session.send(StopRequest{request.ticket, false});
    CHECK(session.ended(request.ticket).signal == 15);
}
