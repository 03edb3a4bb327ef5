#include "harness.hpp"

#include <doctest/doctest.h>

#include <csignal>

using namespace tessera;
using namespace tessera::test;

TEST_CASE("exit codes and signals") {
    Session session;
    CHECK(session.run({cell_program(), "exit", "0"}).exit_code == 0);
    CHECK(session.run({cell_program(), "exit", "3"}).exit_code == 3);
    const EndedReport crashed = session.run({cell_program(), "raise", "11"});
    CHECK(crashed.signal == SIGSEGV);
    CHECK_FALSE(crashed.exit_code.has_value());
    CHECK_FALSE(crashed.stopped);
    CHECK_FALSE(crashed.kill_sent);
}

TEST_CASE("what is used is measured") {
    Session session;
    const EndedReport end = session.run({"sh", "-c", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"});
    CHECK(end.user_s + end.system_s > 0);
    CHECK(end.duration_s > 0);
    CHECK(end.max_rss_bytes > 100'000);
}

TEST_CASE("a stop") {
    Session session;
    const std::string ready = session.folder.file("ready");
    SUBCASE("that is obeyed") {
        const SpawnRequest request = session.request({cell_program(), "ready-wait", ready});
        session.send(request);
        session.read_until([&] { return exists(ready); });
        session.send(StopRequest{request.ticket, false});
        const EndedReport end = session.ended(request.ticket);
        CHECK(end.signal == SIGTERM);
        CHECK(end.stopped);
        CHECK_FALSE(end.kill_sent);
    }
    SUBCASE("that is not") {
        SpawnRequest request = session.request({cell_program(), "ready-linger", ready});
        request.grace_s = 0.05;
        session.send(request);
        session.read_until([&] { return exists(ready); });
        session.send(StopRequest{request.ticket, false});
        const EndedReport end = session.ended(request.ticket);
        CHECK(end.signal == SIGKILL);
        CHECK(end.stopped);
        CHECK(end.kill_sent);
    }
    SUBCASE("at once") {
        const SpawnRequest request = session.request({cell_program(), "ready-linger", ready});
        session.send(request);
        session.read_until([&] { return exists(ready); });
        session.send(StopRequest{request.ticket, true});
        CHECK(session.ended(request.ticket).signal == SIGKILL);
    }
    SUBCASE("of what has ended") {
        const SpawnRequest request = session.request({cell_program(), "exit", "0"});
        session.run(request);
        session.send(StopRequest{request.ticket, false});
        CHECK(session.run({cell_program(), "exit", "0"}).exit_code == 0);
    }
}

TEST_CASE("a timeout") {
    Session session;
    SUBCASE("ends a process") {
        SpawnRequest request = session.request({cell_program(), "wait"});
        request.timeout_s = 0.05;
        const EndedReport end = session.run(request);
        CHECK(end.timed_out);
        CHECK(end.signal == SIGTERM);
        CHECK(end.duration_s >= 0.05);
    }
    SUBCASE("ends a stopped one") {
        SpawnRequest request = session.request({cell_program(), "raise", std::to_string(SIGSTOP)});
        request.timeout_s = 0.2;
        const EndedReport end = session.run(request);
        CHECK(end.timed_out);
        CHECK(end.signal == SIGTERM);
    }
    SUBCASE("in the far future never comes") {
        SpawnRequest request = session.request({cell_program(), "exit", "0"});
        request.timeout_s = 1e300;
        CHECK_FALSE(session.run(request).timed_out);
    }
}

TEST_CASE("an attempt ends only when its daemons are gone") {
    Session session;
    const std::string mark = unique_mark();
    for (const char* mode : {"leave", "leave-clean"}) {
        CAPTURE(mode);
        SpawnRequest request = session.request({cell_program(), mode, mark});
        request.grace_s = 0.1;
        const EndedReport end = session.run(request);
        CHECK(end.exit_code == 0);
        CHECK(end.leaked_processes == 1);
        CHECK(marked_processes(mark).empty());
    }
}

TEST_CASE("another attempt's daemon is left alone") {
    Session session;
    const std::string ready = session.folder.file("ready");
    const std::string mark = unique_mark();
    SpawnRequest holder = session.request({cell_program(), "cling", ready, mark});
    holder.grace_s = 0.1;
    session.send(holder);
    session.read_until([&] { return exists(ready); });
    CHECK(marked_processes(mark).size() == 3);
    const EndedReport end = session.run({cell_program(), "exit", "0"});
    CHECK(end.leaked_processes == 0);
    CHECK(marked_processes(mark).size() == 3);
    session.send(StopRequest{holder.ticket, false});
    CHECK(session.ended(holder.ticket).leaked_processes == 2);
    CHECK(marked_processes(mark).empty());
}
