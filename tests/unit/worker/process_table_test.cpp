#include <tessera/base/fd.hpp>
#include <tessera/supervisor/process_table.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <sys/wait.h>
#include <vector>

#include <unistd.h>

using namespace tessera;

namespace {

constexpr pid_t supervisor = 10;

std::vector<pid_t> pids(const std::vector<ProcessEntry>& entries) {
    std::vector<pid_t> result;
    for (const ProcessEntry& entry : entries)
        result.push_back(entry.pid);
    return result;
}

/// Attempts 0 and 1 with the leaders 100 and 200, that began at 1000 and 2000.
std::vector<AttemptMark> two_attempts() {
    return {{"a", 100, true, 1000}, {"b", 200, true, 2000}};
}

ProcessTable table(std::vector<ProcessEntry> entries, std::map<pid_t, std::string> marks = {}) {
    entries.push_back({1, 0, 1, 'S', 0});
    entries.push_back({supervisor, 5, supervisor, 'S', 500});
    return ProcessTable(std::move(entries), [marks](pid_t pid) {
        const auto found = marks.find(pid);
        return found == marks.end()
                   ? std::string("HOME=/")
                   : std::string("HOME=/") + '\0' + "TESSERA_ATTEMPT=" + found->second + '\0';
    });
}

} // namespace

TEST_CASE("descendants, session and environment make a member") {
    const ProcessTable processes = table({{100, supervisor, 100, 'S', 1000},
                                          {101, 100, 100, 'S', 1100},        // child
                                          {102, 101, 102, 'S', 1100},        // grandchild in its own session
                                          {103, supervisor, 100, 'S', 1100}, // orphan of the session
                                          {104, supervisor, 104, 'S', 1100}, // daemon with the mark
                                          {105, 104, 105, 'S', 1100},        // its child, without
                                          {106, 1, 106, 'S', 1100},   // nobody's descendant, with the mark
                                          {107, 1, 107, 'S', 1100},   // a stranger
                                          {108, 100, 100, 'Z', 1100}, // dead
                                          {200, supervisor, 200, 'S', 2000}},
                                         {{104, "a"}, {106, "a"}});
    const auto attempts = two_attempts();
    CHECK(pids(processes.members(attempts, 0, supervisor)) ==
          std::vector<pid_t>{100, 101, 102, 103, 104, 105, 106});
    CHECK(pids(processes.members(attempts, 1, supervisor)) == std::vector<pid_t>{200});
}

TEST_CASE("the supervisor itself is no member even with a mark") {
    const ProcessTable processes = table({{100, supervisor, 100, 'S', 1000}}, {{supervisor, "a"}});
    CHECK(pids(processes.members(two_attempts(), 0, supervisor)) == std::vector<pid_t>{100});
}

TEST_CASE("an orphan without a sign belongs to the last attempt that can own it") {
    const std::vector<ProcessEntry> entries = {{300, supervisor, 300, 'S', 2500}};
    const std::vector<AttemptMark> both = two_attempts();
    CHECK(table(entries).members(both, 0, supervisor).empty());
    CHECK(table(entries).members(both, 1, supervisor).empty());
    CHECK(table(entries).members({both.data(), 1}, 0, supervisor).size() == 1);
    CHECK(table(entries).members({both.data() + 1, 1}, 0, supervisor).size() == 1);
    // Older than the second attempt: only the first can own it.
    CHECK(table({{300, supervisor, 300, 'S', 1500}}).members(both, 0, supervisor).size() == 1);
}

TEST_CASE("the number of a leader that was reaped may be another's") {
    std::vector<AttemptMark> attempts = two_attempts();
    attempts[0].leader_alive = false;
    const ProcessTable processes = table({{100, 1, 50, 'S', 3000}});
    CHECK(processes.members(attempts, 0, supervisor).empty());
}

TEST_CASE("a circle of parents ends") {
    const ProcessTable processes = table({{300, 301, 300, 'S', 1500}, {301, 300, 300, 'S', 1500}});
    CHECK(processes.members(two_attempts(), 0, supervisor).empty());
}

TEST_CASE("this machine's processes") {
    const ProcessTable processes = ProcessTable::read();
    const std::vector<AttemptMark> attempts = {{"none", ::getpid(), true, 0}};
    // The test's launcher may have other children.
    const std::vector<pid_t> found = pids(processes.members(attempts, 0, ::getppid()));
    CHECK(std::find(found.begin(), found.end(), ::getpid()) != found.end());
    CHECK(std::find(found.begin(), found.end(), ::getppid()) == found.end());
}

TEST_CASE("own children") {
    const auto is_child = [](pid_t pid) {
        const std::optional<std::vector<pid_t>> children = own_children();
        return children && std::find(children->begin(), children->end(), pid) != children->end();
    };
    Pipe pipe = make_pipe();
    const pid_t child = ::fork();
    if (child == 0) {
        pipe.write.reset();
        char byte = 0;
        ::_exit(::read(pipe.read.get(), &byte, 1) == 0 ? 0 : 1);
    }
    CHECK(is_child(child));
    pipe.write.reset();
    int status = -1;
    ::waitpid(child, &status, 0);
    CHECK(status == 0);
    CHECK_FALSE(is_child(child));
}
