#include "scenario.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace tessera;
using namespace tessera::scenario;

namespace {

using Strings = std::vector<std::string>;

const std::string tools = "[define.tool]\na = { args = [\"--x\", \"1 2\"], none = [], n = 3, f = 1.0, e = "
                          "\"\", q = \"$HOME '\\\"\\n\" }\n";

Strings argv(const std::string& argument) {
    return commands(plan(campaign("tool = [\"a\"]", argument, tools))).front();
}

} // namespace

TEST_CASE("a list that is a whole argument becomes arguments") {
    CHECK(argv("\"${tool.args}\", \"end\"") == Strings{"echo", "--x", "1 2", "end"});
    CHECK(argv("\"${tool.none}\", \"end\"") == Strings{"echo", "end"});
    CHECK(argv("\"-${tool.args}\"") == Strings{"echo", "---x,1 2"});
}

TEST_CASE("dollars that are no placeholders are left alone") {
    CHECK(argv("\"$HOME $5 $$ $\"") == Strings{"echo", "$HOME $5 $$ $"});
    CHECK(argv("\"$${tool}\"") == Strings{"echo", "${tool}"});
    CHECK(argv("\"$$${tool}\"") == Strings{"echo", "$${tool}"});
    CHECK(argv("\"${tool}$${tool}${tool}\"") == Strings{"echo", "a${tool}a"});
}

TEST_CASE("substitution neither splits nor expands again") {
    CHECK(argv("\"${tool.q}\", \"${tool.e}\"") == Strings{"echo", "$HOME '\"\n", ""});
    const Plan planned = plan(campaign("x = [\"${y}\", \"a b\"]", "\"${x}\""));
    CHECK(echoes(planned) == Strings{"${y}", "a b"});
}

TEST_CASE("numbers keep their look") {
    CHECK(argv("\"${tool.n}\", \"${tool.f}\", \"${tool.n}/${tool.f}\"") ==
          Strings{"echo", "3", "1.0", "3/1.0"});
}

TEST_CASE("repeat, seed and the campaign's folder") {
    const Plan planned = plan("[campaign]\nname='c'\nrepeats=2\nseed=7\n[workload]\ncommand=['x','${repeat}',"
                              "'${seed}','${paths.campaign}/run.py']");
    const StepSpec spec = planned.resolve(1);
    CHECK(spec.argv == Strings{"x", "1", std::to_string(*spec.seed), "/study/run.py"});
    CHECK(*spec.seed != *planned.resolve(0).seed);
    CHECK(spec.repeat == 1);
    CHECK(spec.campaign_folder == "/study");
}

TEST_CASE("placeholders work in the environment, stdin, keep and resources") {
    const Plan planned = plan(campaign(
        "n = [2, 3]", "\"${n}\"",
        "env = { N = \"${n}\", A = \"2\" }\nstdin = \"${n}\\n\"\nkeep = [\"out-${n}/*\"]\n"
        "[env]\nA = \"1\"\nB = \"${n}b\"\n"
        "[resources]\ncores = \"${n}\"\nmemory = \"${n}GiB\"\ntimeout = \"${n}m\"\ndevices = \"${n}\""));
    const StepSpec spec = planned.resolve(1);
    CHECK(spec.env == std::vector<EnvEntry>{{"A", "2"}, {"B", "3b"}, {"N", "3"}});
    CHECK(spec.stdin_text == "3\n");
    CHECK(spec.keep == Strings{"out-3/*"});
    CHECK(spec.resources == Resources{3, 3ULL << 30U, 3});
    CHECK(spec.timeout_s == 180);
}

TEST_CASE("resources of the workload stand over those of the campaign") {
    const Plan planned = plan("[campaign]\nname='c'\n[workload]\ncommand=['x']\n[workload.resources]\ncores="
                              "4\n[resources]\ncores=2\nmemory=1024");
    CHECK(planned.resources(0) == Resources{4, 1024, 0});
    CHECK_FALSE(planned.timeout_s(0).has_value());
}

TEST_CASE("what has no value is an error with the place") {
    CHECK(problem(campaign("x = [1]", "\"${xs}\"")) ==
          "6:20 workload.command[1]: there is nothing called ${xs} (did you mean 'x'?)");
    CHECK(problem(campaign("tool = [\"a\"]", "\"${tool.arg}\"", tools)) ==
          "6:20 workload.command[1]: tool = \"a\" has no field 'arg' (did you mean 'args'?)");
    CHECK(problem(campaign("x = [1]", "\"${x\"")).substr(0, 28) == "6:20 workload.command[1]: '$");
    CHECK(problem(campaign("x = [1]", "\"${= 4 / x}\"")).substr(0, 28) == "6:20 workload.command[1]: '$");
    CHECK(problem(campaign("x = [1]", "\"${cell}\"")).find("TESSERA_CELL") != std::string::npos);
    CHECK(problem(campaign("x = [1]\n[[matrix.include]]\nx = 1\nz = 2\n[[matrix.include]]\nx = 3",
                           "\"${x}${z}\""))
              .find("axis 'z' has no value in some cells") != std::string::npos);
}

TEST_CASE("a field is asked only of the values that occur") {
    const std::string fields = "[define.p]\na = { bits = 4 }\nb = {}\n";
    const std::string matrix = "p = [\"a\", \"b\"]\n";
    CHECK(problem(campaign(matrix, "\"${p.bits}\"", fields)).find("p = \"b\" has no field 'bits'") !=
          std::string::npos);
    CHECK(echoes(plan(campaign(matrix + "[[matrix.exclude]]\np = \"b\"", "\"${p.bits}\"", fields))) ==
          Strings{"4"});
}

TEST_CASE("resources are checked in the final text") {
    const auto with = [](const std::string& resources) {
        return problem(campaign("n = [2, \"two\"]", "\"${n}\"", "[resources]\n" + resources));
    };
    CHECK(with("cores = \"${n}\"") ==
          "8:9 resources.cores must be an integer from 1 to 1000000, not \"two\"");
    CHECK(with("cores = 0").substr(0, 20) == "8:9 resources.cores ");
    CHECK(with("cores = 1.5").substr(0, 20) == "8:9 resources.cores ");
    CHECK(with("devices = -1").substr(0, 22) == "8:11 resources.devices");
    CHECK(with("memory = \"lots\"").substr(0, 21) == "8:10 resources.memory");
    CHECK(with("timeout = \"0s\"").substr(0, 22) == "8:11 resources.timeout");
    CHECK(with("timeout = \"1 hour\"").substr(0, 22) == "8:11 resources.timeout");
    CHECK(with("timeout = \"1${repeat}m\"").find("cannot stand in a resource") != std::string::npos);
    CHECK(with("timeout = \"90\"") == "0 problems");
}

TEST_CASE("what no process can be given is an error") {
    CHECK(problem(campaign("x = [\"a\\u0000b\"]", "\"${x}\"")).find("NUL") != std::string::npos);
    CHECK(problem("[campaign]\nname='c'\n[workload]\ncommand=['']").find("empty") != std::string::npos);
    CHECK(problem("[campaign]\nname='c'\n[matrix]\nx=['ls','']\n[workload]\ncommand=['${x}']")
              .find("x = \"\"") != std::string::npos);
}

TEST_CASE("cells see their axes and fields as JSON") {
    const Plan planned = plan(campaign("tool = [\"a\"]\nx = [1, 1.5]", "\"${x}\"",
                                       "[define.tool]\na = { path = \"bin/a\", revision = \"1\" }"));
    CHECK(nlohmann::json::parse(planned.resolve(1).axes_json) ==
          nlohmann::json{{"tool", "a"}, {"tool.path", "/study/bin/a"}, {"tool.revision", "1"}, {"x", 1.5}});
}
