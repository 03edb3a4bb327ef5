#include "harness.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <sys/wait.h>
#include <vector>

#include <spawn.h>
#include <unistd.h>

using namespace tessera;
using namespace tessera::test;

namespace {

pid_t start_rank(const std::vector<std::string>& arguments) {
    std::vector<char*> argv;
    for (const std::string& argument : arguments)
        argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    pid_t pid = -1;
    REQUIRE(::posix_spawn(&pid, argv[0], nullptr, nullptr, argv.data(), environ) == 0);
    return pid;
}

} // namespace

TEST_CASE("nothing outlives a killed rank by more than the grace time and two seconds") {
    ScratchFolder folder;
    const std::string mark = unique_mark();
    constexpr int cells = 3;
    constexpr int grace_s = 1;
    const pid_t rank =
        start_rank({rank_program(), supervisor_program(), folder.path(), std::to_string(cells),
                    std::to_string(grace_s), cell_program(), "cling", folder.file("ready-@"), mark});
    REQUIRE(eventually(std::chrono::seconds(30), [&] {
        for (int cell = 0; cell < cells; ++cell)
            if (!exists(folder.file("ready-" + std::to_string(cell)))) return false;
        return true;
    }));
    // Each cell with its two daemons, all deaf to SIGTERM, and the rank, which has the mark among its
    // arguments.
    REQUIRE(marked_processes(mark).size() == 3 * cells + 1);

    ::kill(rank, SIGKILL);
    ::waitpid(rank, nullptr, 0);
    CHECK(eventually(std::chrono::seconds(grace_s + 2), [&] { return marked_processes(mark).empty(); }));
    for (const pid_t left : marked_processes(mark))
        ::kill(left, SIGKILL);
}

TEST_CASE("the supervisor ends with its client") {
    pid_t supervisor = -1;
    {
        Session session;
        CHECK(session.run({cell_program(), "exit", "0"}).exit_code == 0);
        supervisor = session.client.pid();
        CHECK(is_alive(supervisor));
    }
    CHECK(eventually(std::chrono::seconds(30), [&] { return !is_alive(supervisor); }));
    ::waitpid(supervisor, nullptr, 0);
}

TEST_CASE("a supervisor that dies is replaced, and what it left is swept away") {
    Session session;
    const std::string ready = session.folder.file("ready");
    const std::string mark = unique_mark();
    const SpawnRequest request = session.request({cell_program(), "cling", ready, mark});
    session.send(request);
    session.read_until([&] { return exists(ready); });
    ::kill(session.client.pid(), SIGKILL);
    session.read_until([&] { return !session.deaths.empty(); });
    CHECK(session.deaths[0].find("signal 9") != std::string::npos);
    CHECK(session.client.alive());

    session.send(SweepRequest{request.ticket, request.attempt, 0.1});
    CHECK(session.ended(request.ticket).leaked_processes >= 1);
    // The daemon that kept its environment is gone. The other one shows nothing that could tell whose it is.
    const std::vector<pid_t> left = marked_processes(mark);
    CHECK(left.size() <= 1);
    for (const pid_t pid : left)
        ::kill(pid, SIGKILL);
    CHECK(session.run({cell_program(), "exit", "2"}).exit_code == 2);
}

TEST_CASE("a supervisor that cannot start is not started for ever") {
    Session session("/bin/false");
    session.read_until([&] { return !session.client.alive(); });
    CHECK(session.client.start_problem().find("/bin/false") != std::string::npos);
}
