#include "harness.hpp"

#include <tessera/base/fd.hpp>

#include <doctest/doctest.h>

#include <cerrno>
#include <csignal>
#include <fstream>
#include <sys/stat.h>

#include <fcntl.h>
#include <unistd.h>

using namespace tessera;
using namespace tessera::test;

namespace {

void write_script(const std::string& path, const std::string& text, unsigned mode) {
    write_all(open_file(path, O_WRONLY | O_CREAT, mode).get(), text, path);
    ::chmod(path.c_str(), mode);
}

bool has_line(const std::string& text, const std::string& line) {
    return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

} // namespace

TEST_CASE("a cell inherits nothing but what it was given") {
    // Neither close-on-exec, as the descriptors of some MPI libraries, nor a blocked or ignored signal may
    // reach it.
    const UniqueFd leaky(::open("/dev/null", O_RDONLY));
    ::signal(SIGUSR2, SIG_IGN);
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    ::sigprocmask(SIG_BLOCK, &blocked, nullptr);
    Session session;
    SpawnRequest request = session.request({cell_program(), "report"});
    request.cpus = {0};
    const EndedReport end = session.run(request);
    ::sigprocmask(SIG_UNBLOCK, &blocked, nullptr);
    ::signal(SIGUSR2, SIG_DFL);

    CHECK(end.exit_code == 0);
    const std::string facts = read_file(request.stdout_path);
    CAPTURE(facts);
    CHECK(has_line(facts, "fd 0"));
    CHECK(has_line(facts, "fd 1"));
    CHECK(has_line(facts, "fd 2"));
    CHECK(facts.find("fd 3") == std::string::npos);
    CHECK(facts.find("blocked") == std::string::npos);
    CHECK(facts.find("ignored") == std::string::npos);
    CHECK(has_line(facts, "cpus 1"));
    CHECK(has_line(facts, "core 0"));
    CHECK(has_line(facts, "leader 1"));
    CHECK(has_line(facts, "death 9"));
    CHECK(has_line(facts, "cwd " + session.folder.path()));
    CHECK(has_line(facts, "env PATH=/usr/bin:/bin"));
    std::size_t variables = 0;
    for (std::size_t at = facts.find("env "); at != std::string::npos; at = facts.find("\nenv ", at + 1))
        ++variables;
    CHECK(variables == 2);
    CHECK(session.started[request.ticket].bound);
}

TEST_CASE("a cell is the kernel's first victim when memory ends") {
    Session session;
    const SpawnRequest request = session.request({cell_program(), "report"});
    session.run(request);
    int own = 0;
    std::ifstream("/proc/self/oom_score_adj") >> own;
    const std::string facts = read_file(request.stdout_path);
    CHECK(std::stoi(facts.substr(facts.find("\noom ") + 5)) > own);
}

TEST_CASE("the program is looked up in the cell's own PATH") {
    Session session;
    SpawnRequest request = session.request({"greet"});
    ::mkdir(session.folder.file("bin").c_str(), 0700);
    write_script(session.folder.file("bin/greet"), "#!/bin/sh\nexit 7\n", 0700);
    request.env[0] = "PATH=/nonexistent:" + session.folder.file("bin") + ":/usr/bin:/bin";
    CHECK(session.run(request).exit_code == 7);
}

TEST_CASE("a start that fails says what failed") {
    Session session;
    write_script(session.folder.file("plain"), "no program\n", 0600);
    write_script(session.folder.file("formless"), "no program\n", 0700);
    write_script(session.folder.file("orphan"), "#!/nonexistent/interpreter\n", 0700);

    struct Case {
        std::vector<std::string> argv;
        SpawnStage stage;
        int error;
    };

    const std::vector<Case> cases = {
        {{"no-such-command-anywhere"}, SpawnStage::exec, ENOENT},
        {{"/nonexistent/program"}, SpawnStage::exec, ENOENT},
        {{session.folder.file("plain")}, SpawnStage::exec, EACCES},
        {{session.folder.file("formless")}, SpawnStage::exec, ENOEXEC},
        {{session.folder.file("orphan")}, SpawnStage::interpreter, ENOENT},
        {{"./orphan"}, SpawnStage::interpreter, ENOENT},
        {{""}, SpawnStage::exec, ENOENT},
        {{}, SpawnStage::exec, ENOENT},
    };
    for (const Case& item : cases) {
        CAPTURE(item.argv.size());
        const EndedReport end = session.run(item.argv);
        CHECK(end.failed_stage == item.stage);
        CHECK(end.failed_errno == item.error);
        CHECK_FALSE(end.exit_code.has_value());
    }
    SpawnRequest nowhere = session.request({cell_program(), "exit", "0"});
    nowhere.folder = session.folder.file("no-folder");
    CHECK(session.run(nowhere).failed_stage == SpawnStage::folder);
    CHECK(session.run({cell_program(), "exit", "0"}).exit_code == 0);
}

TEST_CASE("too few descriptors fail a start and leave the supervisor alive") {
    ScratchFolder folder;
    const std::string program = folder.file("limited");
    write_script(program, "#!/bin/sh\nulimit -n 64\nexec " + supervisor_program() + "\n", 0700);
    Session session(program);
    std::vector<std::uint64_t> tickets;
    for (int i = 0; i < 40; ++i) {
        const SpawnRequest request = session.request({cell_program(), "wait"});
        tickets.push_back(request.ticket);
        session.send(request);
    }
    session.read_until([&] { return session.over.size() + session.started.size() == tickets.size(); });
    CHECK(session.started.size() >= 5);
    CHECK(session.over.size() >= 5);
    for (const auto& [ticket, end] : session.over) {
        CHECK(end.failed_stage == SpawnStage::resources);
        CHECK(end.failed_errno == EMFILE);
    }
    for (const auto& [ticket, begun] : session.started)
        session.send(StopRequest{ticket, true});
    session.read_until([&] { return session.over.size() == tickets.size(); });
    CHECK(session.run({cell_program(), "exit", "5"}).exit_code == 5);
    CHECK(session.deaths.empty());
}

TEST_CASE("a thousand short processes") {
    Session session;
    constexpr std::size_t total = 1000;
    constexpr std::size_t at_once = 8;
    std::size_t sent = 0;
    while (session.over.size() < total) {
        while (sent < total && sent - session.over.size() < at_once) {
            session.send(session.request({cell_program(), "exit", std::to_string(sent % 3)}));
            ++sent;
        }
        const std::size_t before = session.over.size();
        session.read_until([&] { return session.over.size() > before; });
    }
    for (const auto& [ticket, end] : session.over) {
        CHECK(end.exit_code == static_cast<int>((ticket - 1) % 3));
        CHECK(end.leaked_processes == 0);
    }
}
