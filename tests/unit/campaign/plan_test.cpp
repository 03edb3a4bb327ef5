#include "scenario.hpp"

#include <tessera/campaign/step_encoding.hpp>

#include <doctest/doctest.h>

#include <unordered_set>

using namespace tessera;
using namespace tessera::scenario;

namespace {

using Cells = std::vector<CellIndex>;

const std::string grid =
    campaign("x = [1, 2, 3]\ny = [\"a\", \"b\"]", "\"${x}${y}\"", "[define.y]\na = { bits = 4 }\nb = {}\n");

Cells select(const std::string& where) {
    return plan(grid).select(Expression::parse(where));
}

std::string selection_error(const std::string& where) {
    try {
        select(where);
        return "none";
    } catch (const UserError& error) {
        return error.what();
    }
}

} // namespace

TEST_CASE("an axis that changes nothing is refused unless it is a label") {
    const std::string text = campaign("x = [1, 2]\ny = [\"a\", \"b\"]", "\"${x}\"");
    CHECK(
        problem(text).substr(0, 94) ==
        "5:1 axis 'y' changes nothing: the cells {x = 1, y = \"a\"} and {x = 1, y = \"b\"} would run the sa");
    std::string labelled = text;
    labelled.replace(labelled.find("[matrix]"), 0, "labels = [\"y\"]\n");
    const Plan planned = plan(labelled);
    CHECK(planned.cell_count() == 4);
    CHECK(planned.step_count() == 2);
    CHECK(planned.last_step(0) == planned.last_step(1));
    CHECK(planned.cells_of(0).size() == 2);
    CHECK(planned.cells_of(1)[0] == 2);
    CHECK(planned.resolve(0).cell.empty());
    CHECK(planned.resolve(0).axes_json == "{\"x\":1}");
    CHECK(planned.cell_id(0) != planned.cell_id(1));
}

TEST_CASE("axes that only together change nothing are named together") {
    CHECK(problem(campaign("x = [\"a\", \"ab\"]\ny = [\"bc\", \"c\"]", "\"${x}${y}\"")).substr(0, 41) ==
          "4:1 axes 'x', 'y' together change nothing");
}

TEST_CASE("each dead axis is reported once") {
    CHECK(problems(campaign("x = [1, 2]\ny = [1, 2]\nz = [1, 2]", "\"${x}\"")).size() == 2);
}

TEST_CASE("the accelerator always counts, as does the number of devices") {
    const std::string axes = "accelerator = [\"a\", \"b\"]";
    CHECK(plan(campaign(axes, "\"x\"")).step_count() == 2);
    CHECK(plan(campaign("devices = [1, 2]", "\"x\"", "[resources]\ndevices = \"${devices}\"")).step_count() ==
          2);
    CHECK(problems(campaign("cores = [1, 2]", "\"x\"", "[resources]\ncores = \"${cores}\"")).size() == 1);
}

TEST_CASE("executors come from the accelerator, or from the workload for all") {
    const std::string axes = "accelerator = [\"gpu\", \"host\"]";
    const std::string more = "[accelerators]\ngpu = { executor = \"cuda\" }\nhost = {}\n";
    const Plan planned = plan(campaign(axes, "\"x\"", more));
    CHECK(planned.executor(0) == "cuda");
    CHECK(planned.resources(0).devices == 1);
    CHECK(planned.accelerator(0) == "gpu");
    CHECK(planned.executor(1) == "cpu");
    CHECK(planned.resources(1).devices == 0);
    CHECK(plan(campaign(axes, "\"x\"", "executor = \"null\"\n" + more)).executor(0) == "null");
    CHECK(plan(campaign("x = [1]", "\"x\"")).executor(0) == "cpu");
}

TEST_CASE("cells and steps are found by id and key") {
    const Plan planned = plan(grid);
    CHECK(planned.find_cell(planned.cell_id(3).hex()) == CellIndex{3});
    CHECK(planned.find_cell(planned.cell_id(3).short_hex()) == CellIndex{3});
    CHECK_FALSE(planned.find_cell("").has_value());
    CHECK_FALSE(planned.find_cell("zz").has_value());
    CHECK(planned.find_step(planned.step_key(5)) == StepIndex{5});
    CHECK_FALSE(planned.find_step(StepKey{}).has_value());
    CHECK(planned.resolve(2).cell == planned.cell_id(2).hex());
    CHECK(planned.needs(0).empty());
    CHECK(planned.other_steps(0).empty());
}

TEST_CASE("expressions select cells") {
    CHECK(select("x = 2") == Cells{2, 3});
    CHECK(select("x >= 2 and y = b") == Cells{3, 5});
    CHECK(select("y.bits = 4 and not x = 1") == Cells{2, 4});
    CHECK(select("y.bits != 4").empty());
    CHECK(select("repeat = 0").size() == 6);
    CHECK(select("cell = " + plan(grid).cell_id(4).hex()) == Cells{4});
    CHECK(select("cell ~ " + plan(grid).cell_id(4).short_hex() + "*") == Cells{4});
    CHECK(select("step = " + plan(grid).step_key(1).hex()) == Cells{1});
    CHECK(selection_error("xx = 1") == "no cell has 'xx' (did you mean 'x'?)");
    CHECK(selection_error("repeet = 1") == "no cell has 'repeet' (did you mean 'repeat'?)");
    CHECK(selection_error("y.bit = 1") == "no value of axis 'y' has a field 'bit' (did you mean 'bits'?)");
}

TEST_CASE("a plan of many cells keeps every key apart") {
    std::string axes;
    std::string argument;
    for (const char* name : {"a", "b", "c", "d", "e"}) {
        axes.append(name).append(" = [0, 1, 2, 3, 4, 5]\n");
        argument.append("${").append(name).append("}");
    }
    const Plan planned = plan(campaign(axes, "\"" + argument + "\""));
    CHECK(planned.cell_count() == 7776);
    CHECK(planned.step_count() == 7776);
    std::unordered_set<CellId> ids;
    for (CellIndex cell = 0; cell < planned.cell_count(); ++cell)
        ids.insert(planned.cell_id(cell));
    CHECK(ids.size() == 7776);
    CHECK(echoes(planned)[7775] == "55555");
    CHECK(planned.find_step(planned.step_key(4711)) == StepIndex{4711});
}

TEST_CASE("revisions of zeros are told") {
    const Plan planned = plan("[campaign]\nname='c'\n[matrix]\nmodel=['m']\n[models]\nm={revision='0000'}\n["
                              "workload]\ncommand=['x']");
    REQUIRE(planned.warnings().size() == 1);
    CHECK(planned.warnings()[0].place == Place{6, 13});
}

TEST_CASE("settings of the campaign reach the steps") {
    const Plan planned = plan(campaign(
        "x = [1]", "\"${x}\"",
        "[files]\nattempts = \"all\"\n[retry]\nexit = 3\nbackoff = \"2m\"\n[telemetry]\ndetail = \"1s\""));
    CHECK(planned.resolve(0).keep_attempts == KeepAttempts::all);
    CHECK(planned.retry(0).exit == 3);
    CHECK(planned.retry(0).crash == 1);
    CHECK(planned.retry(0).backoff_s == 120);
    CHECK(planned.campaign().telemetry == TelemetryDetail::one_second);
}
