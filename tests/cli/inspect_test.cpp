#include "program.hpp"

#include <doctest/doctest.h>

using namespace tessera::test;
using nlohmann::json;

namespace {

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

/// Bytes that are no text: NUL, a stray continuation byte, no newline at the end. The shell's own printf
/// makes them.
constexpr const char* raw_script = R"(printf 'a\000b\220c %s' "$1"
printf 'err\000\377' >&2
echo '{"metric": "n", "value": 1, "unit": "s"}' >> "$TESSERA_METRICS"
test "$1" != 2 || : > left-behind
test "$1" != 2)";

std::string raw_stdout(int x) {
    return std::string("a\0b\x90", 4) + "c " + std::to_string(x);
}

const std::string raw_stderr("err\0\xff", 5);

struct Finished {
    TemporaryFolder folder;

    Finished() {
        folder.write("c.toml", shell_campaign("c", "[1, 2]", raw_script));
        require_code(run_tessera(folder.path(), {"run", "c.toml", "--workers", "0", "--dir", "D"}), 1);
    }

    std::string cell(int x) const { return cell_id(folder.path(), "D", "x = " + std::to_string(x)); }

    Outcome call(std::vector<std::string> args) const { return run_tessera(folder.path(), std::move(args)); }
};

} // namespace

TEST_CASE_FIXTURE(Finished, "logs are printed byte for byte, from the pack and from the folder") {
    for (const int x : {1, 2}) {
        CAPTURE(x);
        const Outcome logs = call({"logs", "D", cell(x)});
        require_code(logs, 0);
        CHECK(logs.out == raw_stdout(x));
        CHECK(logs.err == raw_stderr);
    }
    const std::string id = cell(1);
    const Outcome only_out = call({"logs", "D", id, "--stdout"});
    CHECK(only_out.out == raw_stdout(1));
    CHECK(only_out.err.empty());
    const Outcome only_err = call({"logs", "D", id, "--stderr", "--attempt", "1"});
    CHECK(only_err.out.empty());
    CHECK(only_err.err == raw_stderr);
    const Outcome missing = call({"logs", "D", id, "--attempt", "7"});
    require_code(missing, 2);
    CHECK(contains(missing.err, "no attempt 7"));
    require_code(call({"logs", "D", id.substr(0, 12)}), 0);
}

TEST_CASE_FIXTURE(Finished, "status counts, names the commonest failure and what helps") {
    const Outcome status = call({"status", "D"});
    require_code(status, 0);
    CHECK(contains(status.out, "c: 2 cells"));
    CHECK(contains(status.out, "with exit code 1"));
    CHECK(contains(status.out, "1 x exit code 1"));
    CHECK(contains(status.out, "(x=2)"));
    CHECK(contains(status.out, "remedy for the commonest: look at `tessera logs " + folder.file("D ") +
                                   cell(2).substr(0, 8)));
    CHECK(contains(status.out, "--retry-failed"));

    const json as_json = call({"status", "D", "--format", "json"}).json();
    CHECK(as_json["name"] == "c");
    CHECK(as_json["cells"] == 2);
    CHECK(as_json["status"]["succeeded"] == 1);
    CHECK(as_json["status"]["failed"] == 1);
    REQUIRE(as_json["failures"].size() == 1);
    CHECK(as_json["failures"][0]["class"] == "exit");
    CHECK(as_json["failures"][0]["example"] == cell(2));
}

TEST_CASE_FIXTURE(Finished, "show tells axes, attempts, command, files, metrics and where it came from") {
    const Outcome failed = call({"show", "D", cell(2)});
    require_code(failed, 0);
    for (const std::string part :
         {"axes         x=2", "status       failed", "attempt 1 (failed, exit code 1", "command      sh -c",
          "left-behind", "tessera.stdout", "c.toml", "provenance"}) {
        CAPTURE(part);
        CAPTURE(failed.out);
        CHECK(contains(failed.out, part));
    }
    const Outcome succeeded = call({"show", "D", cell(1)});
    require_code(succeeded, 0);
    CHECK(contains(succeeded.out, "status       succeeded"));
    CHECK(contains(succeeded.out, "log pack     parts/"));
    CHECK(contains(succeeded.out, "metrics of the accepted attempt"));
    CHECK(contains(succeeded.out, "1 s"));

    const Outcome upper = call({"show", "D", "zz"});
    require_code(upper, 2);
}

TEST_CASE_FIXTURE(Finished, "an ambiguous beginning of an id is refused") {
    folder.write("many.toml", shell_campaign("many", "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]", "true"));
    require_code(call({"run", "many.toml", "--workers", "0"}), 0);
    std::string shared;
    std::map<char, int> first_digits;
    for (const json& row : query(folder.path(), "many", {"--columns", "cell"}))
        if (++first_digits[row["cell"].get<std::string>()[0]] > 1)
            shared = row["cell"].get<std::string>().substr(0, 1);
    // 17 cells, 16 digits.
    REQUIRE(!shared.empty());
    const Outcome outcome = call({"show", "many", shared});
    require_code(outcome, 2);
    CHECK(contains(outcome.err, "give more digits"));
}

namespace {

/// Tells everything that a cell can see and that does not change from run to run.
constexpr const char* telling_script = R"sh(printf '%s|' "$@"
cat
env | grep -v -e '^TESSERA_' -e '^PWD=' -e '^TMPDIR=' -e '^OLDPWD=' -e '^_=' -e '^OMPI' -e '^SHLVL=' | sort
echo "$TESSERA_STEP $TESSERA_CORES $TESSERA_SEED"
cat "$TESSERA_AXES"
test "$TESSERA_METRICS" = "$PWD/tessera.metrics.jsonl" && test "$PWD" = "$(pwd -P)" && echo at home
test -e "$TESSERA_ARTIFACT" && echo artifact
exit 7)sh";

constexpr const char* odd_env = R"([workload.env]
ODD = '''it's "quoted" $HOME
second line'''
EMPTY = ""
)";

} // namespace

TEST_CASE("exec runs a cell in the foreground as it was run, and its printed line does the same") {
    const TemporaryFolder folder;
    folder.write("c.toml", "[campaign]\nname = \"c\"\n[matrix]\nx = [\"a 'b' $c\", \"-d\"]\n[workload]\n"
                           "command = [\"sh\", \"-c\", '''\n" +
                               std::string(telling_script) +
                               "\n''', \"sh\", \"${x}\"]\nstdin = \"in '$x'\\n\"\n" + odd_env);
    require_code(run_tessera(folder.path(), {"run", "c.toml", "--workers", "0"}), 1);
    const std::string cell = cell_id(folder.path(), "c", R"(x = "a 'b' $c")");
    const auto before = query(folder.path(), "c", {"--columns", "cell,status,attempt"});

    const Outcome executed = run_tessera(folder.path(), {"exec", "c", cell});
    require_code(executed, 7);
    CHECK(executed.out.rfind("a 'b' $c|in '$x'\n", 0) == 0);
    CHECK(contains(executed.out, "ODD=it's \"quoted\" $HOME\nsecond line\n") == false); // sorted apart
    CHECK(contains(executed.out, "ODD=it's \"quoted\" $HOME\n"));
    CHECK(contains(executed.out, "EMPTY=\n"));
    CHECK(contains(executed.out, "OMP_NUM_THREADS=1\n"));
    CHECK(contains(executed.out, "at home\n"));
    CHECK(contains(executed.err, "exit code 7"));

    Command print = tessera_command(folder.path(), {"exec", "c", cell, "--print"});
    print.env = {"TMPDIR=" + folder.path()};
    const Outcome line = run(print);
    require_code(line, 0);
    const TemporaryFolder elsewhere;
    const Outcome by_shell = run({{"sh", "-c", line.out}, elsewhere.path(), {}});
    CHECK(by_shell.err.empty());
    CHECK(std::filesystem::is_empty(elsewhere.path()));
    CHECK(by_shell.exit_code == 7);
    CHECK(by_shell.out == executed.out);

    CHECK(query(folder.path(), "c", {"--columns", "cell,status,attempt"}) == before);
    const Outcome logged = run_tessera(folder.path(), {"logs", "c", cell});
    CHECK(logged.out == executed.out);
}

TEST_CASE("exec gives a cell as many of the visible devices as it asks for") {
    const TemporaryFolder folder;
    const auto call = [&](std::vector<std::string> args, const std::string& devices) {
        Command command = tessera_command(folder.path(), std::move(args));
        command.env = {"CUDA_VISIBLE_DEVICES=" + devices};
        return run(command);
    };
    folder.write("c.toml", shell_campaign("c", "[1]", "echo \"$TESSERA_DEVICES|$CUDA_VISIBLE_DEVICES\"",
                                          "[resources]\ndevices = 2"));
    require_code(call({"run", "c.toml", "--workers", "0"}, "GPU-a,GPU-b,GPU-c"), 0);
    const std::string cell = cell_id(folder.path(), "c", "x = 1");

    const Outcome enough = call({"exec", "c", cell}, "GPU-d,GPU-e,GPU-f");
    require_code(enough, 0);
    CHECK(enough.out == "GPU-d,GPU-e|GPU-d,GPU-e\n");
    CHECK(contains(enough.err, "devices: CUDA_VISIBLE_DEVICES=GPU-d,GPU-e\n"));
    CHECK_FALSE(contains(enough.err, "only"));

    const Outcome too_few = call({"exec", "c", cell}, "GPU-d");
    CHECK(too_few.out == "GPU-d|GPU-d\n");
    CHECK(contains(too_few.err, "asks for 2 devices, but only 1 can be seen here"));
    CHECK(call({"exec", "c", cell}, "").out == "|\n");

    const Outcome line = call({"exec", "c", cell, "--print"}, "GPU-d,GPU-e,GPU-f");
    CHECK(contains(line.out, " CUDA_VISIBLE_DEVICES=GPU-d,GPU-e "));
}

TEST_CASE("a cell's metrics file that is a FIFO does not block exec") {
    const TemporaryFolder folder;
    folder.write("c.toml", shell_campaign("c", "[1]", "mkfifo \"$TESSERA_METRICS\""));
    require_code(run_tessera(folder.path(), {"run", "c.toml", "--workers", "0"}), 0);
    const Outcome executed = run_tessera(folder.path(), {"exec", "c", cell_id(folder.path(), "c", "x = 1")});
    require_code(executed, 0);
    CHECK(contains(executed.err, "tessera.metrics.jsonl: not a regular file"));
}

TEST_CASE("show tells the problems of an attempt and the line that ran it") {
    const TemporaryFolder folder;
    folder.write("c.toml", shell_campaign("c", "[1]", R"sh(ln -s nowhere tessera.stdout
echo lost
printf '%s\n' '{"metric": "m", "text": "a\u0000b"}' >> "$TESSERA_METRICS")sh"));
    for (const std::string workers : {"0", "1"}) {
        const std::string dir = "a 'dir' " + workers;
        require_code(run_tessera(folder.path(), {"run", "c.toml", "--workers", workers, "--dir", dir}), 0);
        const Outcome shown = run_tessera(folder.path(), {"show", dir, cell_id(folder.path(), dir, "x = 1")});
        require_code(shown, 0);
        CAPTURE(shown.out);
        CHECK(contains(shown.out, "  problem      stdout was not kept in full: "));
        CHECK(contains(shown.out, "  problem      line 1: a NUL character"));
        CHECK(contains(shown.out, "  run          tessera run c.toml "));
        CHECK_FALSE(contains(shown.out, "--for-parent"));

        const json stored = query(folder.path(), dir, {"--columns", "m"});
        CHECK(stored[0]["m"] == "a\uFFFDb");
        std::filesystem::remove(folder.file(dir + "/results.h5"));
        CHECK(query(folder.path(), dir, {"--columns", "m"}) == stored);
    }
}

TEST_CASE("exec of a cell that has not run takes its command from the campaign file") {
    const TemporaryFolder folder;
    folder.write("c.toml", shell_campaign("c", "[1, 2]", "echo \"I am $1\""));
    require_code(run_tessera(folder.path(), {"run", "c.toml", "--workers", "0", "--where", "x = 1"}), 0);
    const std::string cell = cell_id(folder.path(), "c", "x = 2");
    const Outcome refused = run_tessera(folder.path(), {"exec", "c", cell});
    require_code(refused, 2);
    CHECK(contains(refused.err, "--campaign"));
    const Outcome done = run_tessera(folder.path(), {"exec", "c", cell, "--campaign", "c.toml"});
    require_code(done, 0);
    CHECK(done.out == "I am 2\n");
    const Outcome no_logs = run_tessera(folder.path(), {"logs", "c", cell});
    require_code(no_logs, 2);
    CHECK(contains(no_logs.err, "has not run yet"));
}
