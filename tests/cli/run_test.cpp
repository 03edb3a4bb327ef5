#include "program.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <memory>

using namespace tessera::test;
using nlohmann::json;

namespace {

/// Leaves a line in `ran` each time that a cell runs; fails while the file `fail-X` is there.
constexpr const char* recording_script = R"sh(cd "$TESSERA_CAMPAIGN_FOLDER"
echo "$1 $TESSERA_ATTEMPT" >> ran
echo "{\"metric\": \"lines\", \"value\": $(grep -c "^$1 " ran)}" >> "$TESSERA_METRICS"
test ! -e "fail-$1")sh";

Outcome run_campaign(const TemporaryFolder& folder, std::vector<std::string> more = {}) {
    std::vector<std::string> args = {"run", "c.toml", "--workers", "0", "--dir", "D"};
    args.insert(args.end(), more.begin(), more.end());
    return run_tessera(folder.path(), args);
}

json statuses(const TemporaryFolder& folder) {
    json by_x;
    for (const json& row : query(folder.path(), "D", {"--columns", "x,status"}))
        by_x[row["x"].dump()] = row["status"];
    return by_x;
}

std::size_t runs(const TemporaryFolder& folder) {
    return folder.lines("ran").size();
}

} // namespace

TEST_CASE("a failed cell is a verdict: exit code 1, and no further run tries it") {
    const TemporaryFolder folder;
    folder.write("c.toml", shell_campaign("c", "[1, 2, 3]", recording_script));
    folder.write("fail-2", "");
    const Outcome first = run_campaign(folder);
    require_code(first, 1);
    CHECK(first.out.find("x=2") != std::string::npos);
    CHECK(statuses(folder) == json::parse(R"({"1": "succeeded", "2": "failed", "3": "succeeded"})"));

    require_code(run_campaign(folder), 1);
    CHECK(runs(folder) == 3);

    SUBCASE("but a run of other cells alone ends with 0") {
        require_code(run_campaign(folder, {"--where", "x != 2"}), 0);
        CHECK(runs(folder) == 3);
    }
    SUBCASE("until it is asked to, and the cause is gone") {
        require_code(run_campaign(folder, {"--retry-failed"}), 1);
        CHECK(runs(folder) == 4);
        std::filesystem::remove(folder.file("fail-2"));
        require_code(run_campaign(folder, {"--retry-failed"}), 0);
        CHECK(runs(folder) == 5);
        CHECK(statuses(folder)["2"] == "succeeded");
    }
}

TEST_CASE("--limit and --where leave work: exit code 3 only for cells that were asked for") {
    const TemporaryFolder folder;
    folder.write("c.toml", shell_campaign("c", "[1, 2, 3, 4]", recording_script));
    require_code(run_campaign(folder, {"--limit", "1"}), 3);
    CHECK(runs(folder) == 1);
    require_code(run_campaign(folder, {"--limit", "2"}), 3);
    CHECK(runs(folder) == 3);
    require_code(run_campaign(folder, {"--limit", "2"}), 0);
    CHECK(runs(folder) == 4);
}

TEST_CASE("--where runs what it selects, and a later run the rest") {
    const TemporaryFolder folder;
    folder.write("c.toml", shell_campaign("c", "[1, 2, 3, 4]", recording_script));
    require_code(run_campaign(folder, {"--select", "x >= 3"}), 0);
    CHECK(statuses(folder) ==
          json::parse(R"({"1": "pending", "2": "pending", "3": "succeeded", "4": "succeeded"})"));
    require_code(run_campaign(folder), 0);
    CHECK(runs(folder) == 4);
}

TEST_CASE("new values of an axis only add cells") {
    const TemporaryFolder folder;
    folder.write("c.toml", shell_campaign("c", "[1, 2]", recording_script));
    require_code(run_campaign(folder), 0);
    folder.write("c.toml",
                 "# another order and a comment\n" + shell_campaign("c", "[3, 2, 1]", recording_script));
    require_code(run_campaign(folder), 0);
    CHECK(runs(folder) == 3);
    CHECK(query(folder.path(), "D").size() == 3);
}

TEST_CASE("a new generation runs again, and the results of the old one stay") {
    const TemporaryFolder folder;
    folder.write("c.toml", shell_campaign("c", "[1, 2]", recording_script));
    require_code(run_campaign(folder), 0);

    SUBCASE("by --rerun") {
        require_code(run_campaign(folder, {"--rerun", "x = 2"}), 0);
    }
    SUBCASE("by invalidate") {
        const Outcome outcome =
            run_tessera(folder.path(), {"invalidate", "D", "x = 2", "--reason", "a wrong seed"});
        require_code(outcome, 0);
        CHECK(outcome.out.find("1 step") != std::string::npos);
        CHECK(runs(folder) == 2);
        CHECK(statuses(folder) == json::parse(R"({"1": "succeeded", "2": "pending"})"));
        require_code(run_campaign(folder), 0);
    }
    CHECK(runs(folder) == 3);
    const json rows = query(folder.path(), "D", {"--columns", "x,generation,lines"});
    CHECK(rows ==
          json::parse(R"([{"x": 1, "generation": 1, "lines": 1}, {"x": 2, "generation": 2, "lines": 2}])"));
    const Outcome shown = run_tessera(folder.path(), {"show", "D", cell_id(folder.path(), "D", "x = 2")});
    require_code(shown, 0);
    CHECK(shown.out.find("attempt 1 (succeeded") != std::string::npos);
    CHECK(shown.out.find("attempt 2 (succeeded") != std::string::npos);
    CHECK(shown.out.find("generation   2") != std::string::npos);
    require_code(run_campaign(folder), 0);
    CHECK(runs(folder) == 3);
}

TEST_CASE("invalidating what was never tried is no work") {
    const TemporaryFolder folder;
    folder.write("c.toml", shell_campaign("c", "[1, 2]", recording_script));
    require_code(run_campaign(folder, {"--where", "x = 1"}), 0);
    const Outcome outcome = run_tessera(folder.path(), {"invalidate", "D", "x = 2", "--reason", "r"});
    require_code(outcome, 0);
    CHECK(outcome.out.find("nothing to invalidate") != std::string::npos);
}

TEST_CASE("a crash is tried again at once if the campaign says so") {
    const TemporaryFolder folder;
    folder.write("c.toml", shell_campaign("c", "[1, 2]", R"sh(cd "$TESSERA_CAMPAIGN_FOLDER"
echo "$1" >> ran
test "$(grep -c "^$1\$" ran)" -gt 1 || kill -SEGV $$)sh",
                                          "[retry]\ncrash = 1\nbackoff = \"0s\""));
    const Outcome outcome = run_campaign(folder);
    require_code(outcome, 0);
    CHECK(outcome.out.find("tried again") != std::string::npos);
    CHECK(runs(folder) == 4);
}

TEST_CASE("a timeout and a program that is not there are failures of their own kind") {
    const TemporaryFolder folder;
    folder.write("c.toml", shell_campaign("c", "[1]", "exec sleep 1000", "[resources]\ntimeout = \"0.2s\""));
    require_code(run_campaign(folder), 1);
    const json status = run_tessera(folder.path(), {"status", "D", "--format", "json"}).json();
    CHECK(status["failures"][0]["class"] == "timeout");

    folder.write("n.toml", "[campaign]\nname = \"n\"\n[matrix]\nx = [1]\n"
                           "[workload]\ncommand = [\"no-such-program\", \"${x}\"]\n");
    require_code(run_tessera(folder.path(), {"run", "n.toml", "--workers", "0"}), 1);
    const json missing = run_tessera(folder.path(), {"status", "n", "--format", "json"}).json();
    CHECK(missing["failures"][0]["class"] == "verdict");
    CHECK(missing["failures"][0]["message"].get<std::string>().find("no-such-program") != std::string::npos);
}

TEST_CASE("a second run of a live campaign is refused, naming the first") {
    const TemporaryFolder folder;
    folder.write("c.toml", shell_campaign("c", "[1]", R"(cd "$TESSERA_CAMPAIGN_FOLDER"
: > begun
while test ! -e go; do sleep 0.05; done)"));
    RunningProgram first(tessera_command(folder.path(), {"run", "c.toml", "--workers", "1", "--dir", "D"}));
    REQUIRE(eventually([&] { return folder.has("begun"); }));
    const auto parts = [&] {
        return std::distance(std::filesystem::directory_iterator(folder.file("D/parts")), {});
    };
    for (const std::string workers : {"0", "1"}) {
        CAPTURE(workers);
        const Outcome second =
            run_tessera(folder.path(), {"run", "c.toml", "--workers", workers, "--dir", "D"});
        require_code(second, 2);
        CHECK(second.err.find("this campaign is being run by") != std::string::npos);
        CHECK(second.err.find("pid ") != std::string::npos);
        CHECK(second.err.find("being run by") == second.err.rfind("being run by"));
    }
    require_code(run_tessera(folder.path(), {"invalidate", "D", "x = 1", "--reason", "r"}), 2);
    CHECK(parts() == 1);

    SUBCASE("while status and query answer") {
        const Outcome status = run_tessera(folder.path(), {"status", "D"});
        require_code(status, 0);
        CHECK(status.out.find("last run running: ") != std::string::npos);
        CHECK(statuses(folder)["1"] == "running");
    }
    folder.write("go", "");
    require_code(first.wait(), 0);
    require_code(run_campaign(folder), 0);
}

TEST_CASE("of several runs that begin at once one has the campaign") {
    const TemporaryFolder folder;
    folder.write("c.toml", shell_campaign("c", "[1, 2, 3]", R"sh(cd "$TESSERA_CAMPAIGN_FOLDER"
echo "$1" >> ran
while test ! -e go; do sleep 0.05; done)sh"));
    std::vector<std::unique_ptr<RunningProgram>> programs;
    for (const char* workers : {"0", "1", "0", "1"})
        programs.push_back(std::make_unique<RunningProgram>(
            tessera_command(folder.path(), {"run", "c.toml", "--workers", workers, "--dir", "D"})));
    const auto ended = [&] {
        return std::count_if(programs.begin(), programs.end(),
                             [](const auto& program) { return program->has_ended(); });
    };
    CHECK(eventually([&] { return ended() == 3; }));
    folder.write("go", "");
    std::map<int, int> codes;
    for (const auto& program : programs)
        ++codes[program->wait().exit_code];
    CHECK(codes == std::map<int, int>{{0, 1}, {2, 3}});
    CHECK(runs(folder) == 3);
}

TEST_CASE("ranks of MPICH") {
    const TemporaryFolder folder;
    folder.write("c.toml", shell_campaign("c", "[1, 2, 3, 4, 5, 6]", recording_script));
    if (!std::filesystem::exists(TESSERA_BIN_DIR "/tessera-rank-mpich")) return;
    require_code(
        run_tessera(folder.path(), {"run", "c.toml", "--workers", "2", "--mpi", "mpich", "--dir", "D"}), 0);
    CHECK(runs(folder) == 6);
    CHECK(statuses(folder).size() == 6);
}

TEST_CASE("progress as JSON lines") {
    const TemporaryFolder folder;
    folder.write("c.toml", shell_campaign("c", "[1, 2, 3]", recording_script));
    const Outcome outcome = run_campaign(folder, {"--progress", "json"});
    require_code(outcome, 0);
    std::vector<json> lines;
    std::size_t start = 0;
    for (std::size_t end = 0; (end = outcome.out.find('\n', start)) != std::string::npos; start = end + 1)
        if (outcome.out[start] == '{') lines.push_back(json::parse(outcome.out.substr(start, end - start)));
    REQUIRE(!lines.empty());
    CHECK(lines.back()["succeeded"] == 3);
    CHECK(lines.back()["cells"] == 3);
}
