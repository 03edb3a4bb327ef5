#include "scenario.hpp"

#include <doctest/doctest.h>

#include <sys/stat.h>

using namespace tessera;
using namespace tessera::scenario;

namespace {

using Strings = std::vector<std::string>;

const std::string head = "[campaign]\nname = \"c\"\n";
const std::string tail = "[workload]\ncommand = [\"run\", \"${x}\"]\n";

/// The only problem of a campaign with these lines in its matrix, which begins in line 4.
std::string in_matrix(const std::string& lines) {
    return problem(head + "[matrix]\n" + lines + "\n" + tail);
}

/// The only problem of a good campaign followed by these lines, which begin in line 7.
std::string after(const std::string& lines) {
    return problem(head + "[matrix]\nx = [1, 2]\n" + tail + lines);
}

std::string load_message(const std::string& path) {
    try {
        load_campaign(path);
        return "no error";
    } catch (const CampaignError& error) {
        return error.what();
    }
}

} // namespace

TEST_CASE("misspelt keys and sections get a suggestion") {
    CHECK(after("[resourses]\n") == "7:2 unknown section 'resourses' (did you mean 'resources'?)");
    CHECK(after("[resources]\ncore = 1") == "8:1 unknown key 'core' in [resources] (did you mean 'cores'?)");
    CHECK(after("[retry]\ncrahs = 1") == "8:1 unknown key 'crahs' in [retry] (did you mean 'crash'?)");
    CHECK(after("stdn = \"\"") == "7:1 unknown key 'stdn' in [workload] (did you mean 'stdin'?)");
    CHECK(after("[files]\nattempts = \"faild\"") ==
          "8:12 files.attempts cannot be 'faild' (did you mean 'failed'?): it is one of failed, all, none");
    CHECK(in_matrix("x = [1]\n[[matrix.exclud]]\nx = 1") ==
          "5:10 unknown key 'exclud' in [matrix] (did you mean 'exclude'?)");
    CHECK(after("executor = \"cuba\"") == "7:12 workload.executor cannot be 'cuba' (did you mean 'cuda'?): "
                                          "it is one of cpu, cuda, gaudi, null");
}

TEST_CASE("keys of the language that are not there yet are unknown") {
    CHECK(after("[metrics]\n") == "7:2 unknown section 'metrics'");
    CHECK(after("[steps.a]\ncommand = [\"a\"]") == "7:2 unknown section 'steps'");
    CHECK(after("[[override]]\n") == "7:3 unknown section 'override'");
    CHECK(after("outputs = { a = \"b\" }") == "7:1 unknown key 'outputs' in [workload]");
    CHECK(in_matrix("x = [1]\n[[matrix.block]]\nx = [2]").substr(0, 34) ==
          "5:10 'block' is a reserved word an");
}

TEST_CASE("required parts") {
    CHECK(problem("[workload]\ncommand = [\"a\"]") ==
          "0:0 a campaign needs a [campaign] section with a name");
    CHECK(problem("[campaign]\n[workload]\ncommand = [\"a\"]") == "1:2 [campaign] needs a name");
    CHECK(problem(head) == "0:0 a campaign needs a [workload] section with a command");
    CHECK(problem(head + "[workload]\n").substr(0, 31) == "3:2 [workload] needs a command,");
    CHECK(problem(head + "[workload]\ncommand = []") == "4:11 workload.command is empty");
    CHECK(problem("").substr(0, 1) == "2");
}

TEST_CASE("wrong types") {
    CHECK(problem("campaign = 3\n[workload]\ncommand = [\"a\"]").substr(0, 1) == "2");
    CHECK(problem("[campaign]\nname = 3\n[workload]\ncommand = [\"a\"]") ==
          "2:8 campaign.name must be a string, not an integer: write \"3\"");
    CHECK(after("stdin = 3") == "7:9 workload.stdin must be a string, not an integer: write \"3\"");
    CHECK(after("env = { A = 1.5 }") == "7:13 workload.env.A must be a string, not a float: write \"1.5\"");
    CHECK(problem(head + "[workload]\ncommand = \"run\"") ==
          "4:11 workload.command must be an array, not a string");
    CHECK(problem(head + "[workload]\ncommand = [\"run\", 3]") ==
          "4:19 workload.command[1] must be a string, not an integer: write \"3\"");
    CHECK(after("[models]\ntiny = 3").substr(0, 37) == "8:8 models.tiny must be a table of fi");
    CHECK(in_matrix("x = 3") == "4:5 matrix.x must be an array of values: write [3]");
    CHECK(in_matrix("x = [[1], [2]]").substr(0, 1) == "2");
}

TEST_CASE("numbers out of bounds") {
    const auto with = [](const std::string& line) {
        return problem("[campaign]\nname = \"c\"\n" + line + "\n[workload]\ncommand = [\"a\"]");
    };
    CHECK(with("repeats = 0") == "3:11 campaign.repeats must be at least 1, not 0");
    CHECK(with("repeats = -3") == "3:11 campaign.repeats must be at least 1, not -3");
    CHECK(with("repeats = 5000000000") == "3:11 campaign.repeats must be at most 4294967295, not 5000000000");
    CHECK(with("repeats = 1.0") == "3:11 campaign.repeats must be an integer, not a float");
    CHECK(with("seed = -1") == "3:8 campaign.seed must be at least 0, not -1");
    CHECK(after("[retry]\nlost = -1") == "8:8 retry.lost must be at least 0, not -1");
    CHECK(after("[retry]\nbackoff = \"soon\"").substr(0, 18) == "8:11 retry.backoff");
}

TEST_CASE("axes") {
    CHECK(in_matrix("x = []") == "4:1 axis 'x' has no values");
    CHECK(in_matrix("x = [1, 2, 1]") == "4:12 axis 'x' has the value 1 twice (first in line 4)");
    CHECK(in_matrix("x = [0.0, -0.0]") == "4:11 axis 'x' has the value -0.0 twice (first in line 4)");
    CHECK(in_matrix("x = [1.5, nan]") ==
          "4:11 matrix.x[1] is not a number (nan), which equals nothing, not even itself");
    CHECK(in_matrix("x = [1]\nX = [2]") ==
          "5:1 the name 'X' is already used by an axis (upper and lower case do not differ)");
    CHECK(in_matrix("x = [1]\nWorkload = [2]").find("already used by a step") != std::string::npos);
    CHECK(in_matrix("x = [1]\nSeed = [2]") == "5:1 'Seed' is a reserved word and cannot name an axis");
    CHECK(in_matrix("x = [1]\nmy-axis = [2]").substr(0, 31) == "5:1 'my-axis' cannot name an ax");
}

TEST_CASE("definitions") {
    CHECK(after("[define.y]\na = { b = 1 }") ==
          "7:9 [define.y] defines values of an axis that [matrix] does not have");
    CHECK(problem(head + "[matrix]\nx = [\"aaa\"]\n[define.x]\naab = { b = 1 }\n" + tail) ==
          "4:6 axis 'x': \"aaa\" is not defined in [define.x] (did you mean 'aab'?)");
    CHECK(problem(head + "[matrix]\nx = [1]\nmodel = [\"m\"]\n[models]\nm = { path = 1 }\n" + tail) ==
          "7:14 models.m.path must be a string, not integer");
    CHECK(
        problem(head + "[matrix]\nx = [1]\nmodel = [\"m\"]\n[models]\nm = { path = \"/no/where\" }\n" + tail)
            .substr(0, 45) == "7:14 cannot tell what lies at path = \"/no/whe");
    CHECK(problem(head +
                  "[matrix]\nx = [1]\naccelerator = [\"a\"]\n[accelerators]\na = { executor = \"cude\" }\n" +
                  tail) == "7:18 accelerators.a.executor cannot be 'cude' (did you mean 'cuda'?): it is one "
                           "of cpu, cuda, gaudi, null");
}

TEST_CASE("rules") {
    CHECK(in_matrix("x = [1]\n[[matrix.exclude]]\ny = 1") == "6:1 matrix.exclude: there is no axis 'y'");
    CHECK(in_matrix("x = [\"alpha\", \"beta\"]\n[[matrix.exclude]]\nx = \"betta\"") ==
          "6:5 matrix.exclude: axis 'x' has no value \"betta\" (did you mean 'beta'?)");
    CHECK(in_matrix("x = [1]\n[[matrix.exclude]]\nx.kind = 1") ==
          "6:3 matrix.exclude: no value of axis 'x' has a field 'kind'");
    CHECK(in_matrix("x = [1]\n[[matrix.exclude]]\nx = { ge = 1, le2 = 3 }").find("'le2' is no comparison") !=
          std::string::npos);
    CHECK(in_matrix("x = [1]\n[[matrix.exclude]]\n").find("empty") != std::string::npos);
    CHECK(in_matrix("x = [1]\n[[matrix.zip]]\naxes = [\"x\", \"xx\"]") ==
          "6:14 matrix.zip: there is no axis 'xx' (did you mean 'x'?)");
    CHECK(in_matrix("x = [1]\ny = [1, 2]\n[[matrix.zip]]\naxes = [\"x\", \"y\"]") ==
          "7:14 matrix.zip: axis 'y' has 2 values but 'x' has 1");
    CHECK(in_matrix("x = [1]\n[matrix.defaults]\nz = 1") == "6:1 matrix.defaults: there is no axis 'z'");
    CHECK(problem("[campaign]\nname = \"c\"\nlabels = [\"xy\"]\n[matrix]\nx = [1]\n" + tail) ==
          "3:11 campaign.labels: there is no axis 'xy' (did you mean 'x'?)");
}

TEST_CASE("environment variables that cannot be") {
    CHECK(after("env = { TESSERA_CELL = \"1\" }").find("set by Tessera itself") != std::string::npos);
    CHECK(after("env = { \"A=B\" = \"1\" }").find("cannot name an environment variable") !=
          std::string::npos);
}

TEST_CASE("text that is no TOML, or not UTF-8") {
    CHECK(problem("[campaign]\nname = \"a\"\nname = \"b\"").substr(0, 2) == "3:");
    CHECK(problem("[campaign\nname = \"a\"").substr(0, 2) == "1:");
    CHECK(problem("x = [1, 2").substr(0, 2) == "1:");
    CHECK(problem("# good\nx = \"a\xFF\"") == "2:7 this is not UTF-8: save the file with that encoding");
    CHECK(problem("[$a]").substr(0, 32) == "1:2 Error while parsing key: exp");
    CHECK(problem(std::string(5000, '[')).substr(0, 2) == "1:");
}

TEST_CASE("files that are none") {
    const Folder folder;
    CHECK(load_message(folder / "none.toml").find("there is no such campaign file") != std::string::npos);
    CHECK(load_message(folder / "").find("this is a folder") != std::string::npos);
    CHECK(load_message("/dev/zero").find("not a regular file") != std::string::npos);
    const std::string huge = folder.write("huge.toml", "");
    std::filesystem::resize_file(huge, (64ULL << 20U) + 1);
    CHECK(load_message(huge).find("larger than 64 MiB") != std::string::npos);
}

TEST_CASE("all problems come at once, in the order of the file") {
    const auto found = problems("[campaign]\nname = \"c\"\nrepeats = 0\n[matrix]\nx = []\n[workload]\ncomand "
                                "= [\"a\"]\n[files]\nkeep = 1\n");
    REQUIRE(found.size() == 5);
    CHECK(found[0].substr(0, 2) == "3:");
    CHECK(found[1].substr(0, 2) == "5:");
    CHECK(found[2].substr(0, 2) == "6:");
    CHECK(found[3] == "7:1 unknown key 'comand' in [workload] (did you mean 'command'?)");
    CHECK(found[4].substr(0, 2) == "9:");
}

TEST_CASE("the message has one line for each problem, with file, line and column") {
    try {
        parse_campaign("[campaign]\nrepeats = 0\n[workload]\ncommand = [\"a\"]", "dir/c.toml");
        FAIL("no error");
    } catch (const CampaignError& error) {
        CHECK(std::string(error.what()) == "dir/c.toml:1:2: [campaign] needs a name\n"
                                           "dir/c.toml:2:11: campaign.repeats must be at least 1, not 0");
    }
}

TEST_CASE("mistakes of the matrix and of the texts come in one go") {
    const auto found =
        problems(head + "[matrix]\nx = [1, 2]\n[[matrix.include]]\nx = 3\n[[matrix.include]]\nx = 3\n" +
                 "[workload]\ncommand = [\"run\", \"${x}\", \"${y}\"]\n[resources]\ntimeout = \"soon\"\n");
    CHECK(found.size() == 3);
}
