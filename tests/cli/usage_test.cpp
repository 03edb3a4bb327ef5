#include "program.hpp"

#include <doctest/doctest.h>

using namespace tessera::test;

namespace {

constexpr const char* commands[] = {"init", "plan", "run",  "status",    "query",
                                    "show", "logs", "exec", "invalidate"};

/// The program ends with 2 and says each of `words` on stderr, and nothing on stdout.
void check_refused(const Outcome& outcome, const std::vector<std::string>& words) {
    CAPTURE(outcome.out);
    CAPTURE(outcome.err);
    CHECK(outcome.exit_code == 2);
    CHECK(outcome.out.empty());
    for (const std::string& word : words) {
        CAPTURE(word);
        CHECK(outcome.err.find(word) != std::string::npos);
    }
}

} // namespace

TEST_CASE("help and version") {
    const TemporaryFolder folder;
    const Outcome help = run_tessera(folder.path(), {"--help"});
    require_code(help, 0);
    for (const std::string command : commands) {
        CAPTURE(command);
        CHECK(help.out.find("  " + command) != std::string::npos);
        const Outcome one = run_tessera(folder.path(), {command, "--help"});
        require_code(one, 0);
        CHECK(one.out.find("usage: tessera " + command) == 0);
        CHECK(one.out.find("--help") != std::string::npos);
        CHECK(one.err.empty());
    }

    const Outcome version = run_tessera(folder.path(), {"--version"});
    require_code(version, 0);
    CHECK(version.out.rfind("tessera ", 0) == 0);
    for (const char* library : {"HDF5 ", "Boost ", "fmt ", "nlohmann-json ", "OpenSSL ", "hwloc "})
        CHECK(version.out.find(library) != std::string::npos);

    CHECK(run_tessera(folder.path(), {}).exit_code == 2);
}

TEST_CASE("a command or option that does not exist is answered with a suggestion") {
    const TemporaryFolder folder;
    check_refused(run_tessera(folder.path(), {"qurey"}),
                  {"unknown command 'qurey'", "did you mean 'query'?"});
    check_refused(run_tessera(folder.path(), {"run", "a.toml", "--worker", "2"}),
                  {"unknown option '--worker'", "did you mean '--workers'?"});
    for (const std::string command : commands) {
        CAPTURE(command);
        check_refused(run_tessera(folder.path(), {command, "--hepl"}),
                      {"unknown option '--hepl'", "did you mean '--help'?"});
    }
    check_refused(run_tessera(folder.path(), {"init", "one", "two"}), {"see --help"});
}

TEST_CASE("values of options that make no sense") {
    const TemporaryFolder folder;
    folder.write("a.toml", shell_campaign("a", "[1, 2]", "true"));
    check_refused(run_tessera(folder.path(), {"run", "a.toml", "--workers", "-1"}), {"--workers", "-1"});
    check_refused(run_tessera(folder.path(), {"run", "a.toml", "--workers", "two"}), {"workers", "two"});
    check_refused(run_tessera(folder.path(), {"run", "a.toml", "--limit", "0"}), {"--limit"});
    check_refused(run_tessera(folder.path(), {"run", "a.toml", "--mpi", "lam"}), {"--mpi=lam", "there is:"});
    check_refused(run_tessera(folder.path(), {"run", "a.toml", "--progress", "plan"}),
                  {"did you mean 'plain'?"});
    check_refused(run_tessera(folder.path(), {"run", "a.toml", "--where", "x = 1", "--select", "x = 1"}),
                  {"--where", "--select"});
    check_refused(run_tessera(folder.path(), {"run", "a.toml", "--where", "x ="}), {"x ="});
    check_refused(run_tessera(folder.path(), {"run", "a.toml", "--where", "xx = 1"}),
                  {"xx", "did you mean 'x'?"});
    check_refused(run_tessera(folder.path(), {"run", "a.toml", "--rerun", "xx = 1"}), {"xx"});
    check_refused(run_tessera(folder.path(), {"plan", "a.toml", "--where", "xx = 1"}),
                  {"xx", "did you mean 'x'?"});
    check_refused(run_tessera(folder.path(), {"plan", "a.toml", "--format", "jsn"}),
                  {"did you mean 'json'?"});
    CHECK(!folder.has("a"));
}

TEST_CASE("a selection of nothing runs nothing and says so once") {
    const TemporaryFolder folder;
    folder.write("a.toml", shell_campaign("a", "[1, 2]", "true"));
    for (const std::string workers : {"0", "1"}) {
        CAPTURE(workers);
        const Outcome outcome =
            run_tessera(folder.path(), {"run", "a.toml", "--workers", workers, "--where", "x = 9"});
        check_refused(outcome, {"--where selects no cell"});
        CHECK(outcome.err.find("--where") == outcome.err.rfind("--where"));
        CHECK(!folder.has("a"));
    }
}

TEST_CASE("commands say what they need") {
    const TemporaryFolder folder;
    check_refused(run_tessera(folder.path(), {"run"}), {"which campaign?"});
    check_refused(run_tessera(folder.path(), {"plan"}), {"which campaign?"});
    check_refused(run_tessera(folder.path(), {"status"}), {"which campaign directory?"});
    check_refused(run_tessera(folder.path(), {"query"}), {"which campaign directory?"});
    for (const std::string command : {"show", "logs", "exec"})
        check_refused(run_tessera(folder.path(), {command, "D"}), {"which cell?", "tessera " + command});
    check_refused(run_tessera(folder.path(), {"invalidate", "D"}), {"which cells?"});
    check_refused(run_tessera(folder.path(), {"invalidate", "D", "x = 1"}), {"--reason"});
}

TEST_CASE("files and directories that are not what they should be") {
    const TemporaryFolder folder;
    folder.write("a.toml", shell_campaign("a", "[1, 2]",
                                          "echo '{\"metric\": \"m\", \"value\": 1}' >> $TESSERA_METRICS"));
    folder.write("b.toml", shell_campaign("b", "[1, 2]", "true"));
    folder.write("full/of", "other things");

    check_refused(run_tessera(folder.path(), {"run", "none.toml"}), {"none.toml"});
    check_refused(run_tessera(folder.path(), {"plan", "none.toml"}), {"none.toml"});
    for (const std::string command : {"status", "query"})
        check_refused(run_tessera(folder.path(), {command, "none"}), {"none"});
    for (const std::string command : {"show", "logs", "exec"})
        check_refused(run_tessera(folder.path(), {command, "full", "00"}), {"full"});
    check_refused(run_tessera(folder.path(), {"invalidate", "none", "x = 1", "--reason", "r"}), {"none"});

    check_refused(run_tessera(folder.path(), {"run", "a.toml", "--workers", "0", "--dir", "full"}), {"full"});
    CHECK(folder.read("full/of") == "other things");

    require_code(run_tessera(folder.path(), {"run", "a.toml", "--workers", "0", "--dir", "D"}), 0);
    for (const std::string workers : {"0", "1"}) {
        CAPTURE(workers);
        check_refused(run_tessera(folder.path(), {"run", "b.toml", "--workers", workers, "--dir", "D"}),
                      {"D", "'a'", "'b'"});
    }
    check_refused(run_tessera(folder.path(), {"show", "D", "zz"}), {"no cell's id starts with 'zz'"});
    check_refused(run_tessera(folder.path(), {"query", "D", "--metric", "loss"}), {"loss"});
    check_refused(run_tessera(folder.path(), {"query", "D", "--where", "y = 1"}), {"y"});
    check_refused(run_tessera(folder.path(), {"query", "D", "--group-by", "x", "--agg", "men"}),
                  {"did you mean 'mean'?"});
}

TEST_CASE("all mistakes of a campaign file come at once, each with its place") {
    const TemporaryFolder folder;
    folder.write("bad.toml",
                 "[campaign]\nname = \"bad\"\nrepeat = 2\n\n[matrix]\nx = [1, 1]\n\n"
                 "[workload]\ncommand = [\"echo\", \"${z}\"]\n\n[resources]\ntimeout = \"soon\"\n");
    for (const std::string command : {"plan", "run"}) {
        CAPTURE(command);
        check_refused(run_tessera(folder.path(), {command, "bad.toml"}),
                      {"bad.toml:3:1: ", "did you mean 'repeats'?", "bad.toml:6:9: "});
    }
    folder.write("late.toml", "[campaign]\nname = \"bad\"\n\n[matrix]\nx = [1, 2]\n\n[workload]\n"
                              "command = [\"echo\", \"${z}\"]\n\n[resources]\ntimeout = \"soon\"\n");
    check_refused(run_tessera(folder.path(), {"run", "late.toml"}),
                  {"late.toml:8:", "${z}", "late.toml:11:11: "});
    folder.write("broken.toml", "[campaign\n");
    check_refused(run_tessera(folder.path(), {"run", "broken.toml"}), {"broken.toml:1:"});
    CHECK(!folder.has("bad"));
}
