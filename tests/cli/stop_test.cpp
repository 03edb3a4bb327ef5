#include "program.hpp"

#include <doctest/doctest.h>

#include <csignal>

using namespace tessera::test;
using nlohmann::json;

namespace {

/// Cell 1 ends at once; the others say that they run and wait for `go`.
constexpr const char* waiting_script = R"(cd "$TESSERA_CAMPAIGN_FOLDER"
echo "$1" >> ran
test "$1" = 1 && exit 0
: > "begun-$1"
while test ! -e go; do sleep 0.05; done)";

/// As above, but SIGTERM does not end them.
constexpr const char* stubborn_script = R"(trap '' TERM
cd "$TESSERA_CAMPAIGN_FOLDER"
echo "$1" >> ran
: > "begun-$1"
while test ! -e go; do sleep 0.05; done)";

/// More than any machine runs at once.
constexpr int cells = 300;

std::string numbers(int count) {
    std::string list = "[1";
    for (int x = 2; x <= count; ++x)
        list.append(", ").append(std::to_string(x));
    return list + "]";
}

std::vector<std::string> run_args(const std::string& workers) {
    return {"run", "c.toml", "--workers", workers, "--dir", "D"};
}

void stop_and_resume(const std::string& workers, int signal) {
    CAPTURE(workers);
    const TemporaryFolder folder;
    folder.write("c.toml", shell_campaign("c", numbers(cells), waiting_script));
    RunningProgram program(tessera_command(folder.path(), run_args(workers)));
    REQUIRE(eventually([&] { return folder.has("begun-2"); }));
    REQUIRE(eventually([&] {
        return !query(folder.path(), "D", {"--where", "x = 1 and status = succeeded"}).empty();
    }));
    program.signal(signal);
    const Outcome stopped = program.wait();
    require_code(stopped, 128 + signal);
    CHECK(stopped.out.find("stopp") != std::string::npos);

    // What ran was preempted, not failed, and nothing new was begun.
    CHECK(folder.lines("ran").size() < cells);
    for (const json& row : query(folder.path(), "D", {"--columns", "x,status"})) {
        CAPTURE(row.dump());
        CHECK(row["status"] == (row["x"] == 1 ? "succeeded" : "pending"));
    }
    folder.write("go", "");
    require_code(run_tessera(folder.path(), run_args(workers)), 0);
    const auto ran = folder.lines("ran");
    CHECK(std::count(ran.begin(), ran.end(), "1") == 1);
    for (const json& row : query(folder.path(), "D", {"--columns", "x,status"}))
        CHECK(row["status"] == "succeeded");
}

} // namespace

TEST_CASE("Ctrl-C and SIGTERM stop a run in order, and another goes on") {
    SUBCASE("one process") {
        stop_and_resume("0", SIGINT);
    }
    SUBCASE("ranks, SIGINT") {
        stop_and_resume("2", SIGINT);
    }
    SUBCASE("ranks, SIGTERM") {
        stop_and_resume("2", SIGTERM);
    }
}

TEST_CASE("SIGTERM to one process is told by its code") {
    stop_and_resume("0", SIGTERM);
}

TEST_CASE("a cell that is stopped may put things in order, and runs again") {
    const TemporaryFolder folder;
    folder.write("c.toml", shell_campaign("c", "[1, 2]", R"sh(cd "$TESSERA_CAMPAIGN_FOLDER"
test -e saved && exit 0
trap 'sleep 0.3; : > saved; exit 0' TERM
: > "begun-$1"
while :; do sleep 0.05; done)sh"));
    RunningProgram program(tessera_command(folder.path(), run_args("0")));
    REQUIRE(eventually([&] { return folder.has("begun-1") || folder.has("begun-2"); }));
    program.signal(SIGTERM);
    require_code(program.wait(), 143);
    CHECK(folder.has("saved"));
    for (const json& row : query(folder.path(), "D"))
        CHECK(row["status"] == "pending");
    require_code(run_tessera(folder.path(), run_args("0")), 0);
}

TEST_CASE("a second signal does not wait for cells that ignore the first") {
    for (const std::string workers : {"0", "1"}) {
        CAPTURE(workers);
        const TemporaryFolder folder;
        // The grace time is longer than a test may take.
        folder.write("c.toml", shell_campaign("c", "[1, 2]", stubborn_script));
        RunningProgram program(tessera_command(folder.path(), run_args(workers)));
        REQUIRE(eventually([&] { return folder.has("begun-1") || folder.has("begun-2"); }));
        program.signal(SIGINT);
        REQUIRE(eventually([&] { return program.out().find("stopping") != std::string::npos; }));
        program.signal(SIGINT);
        require_code(program.wait(), 130);
        folder.write("go", "");
        require_code(run_tessera(folder.path(), run_args(workers)), 0);
    }
}
