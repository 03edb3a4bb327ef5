#include "scenario.hpp"

#include <doctest/doctest.h>

using namespace tessera;
using namespace tessera::scenario;

namespace {

using Strings = std::vector<std::string>;

const std::string two_by_two = "x = [1, 2]\ny = [\"a\", \"b\"]\n";

Strings xy(const std::string& rules) {
    return echoes(plan(campaign(two_by_two + rules, "\"${x}${y}\"")));
}

} // namespace

TEST_CASE("the first axis changes slowest, repeats fastest") {
    CHECK(xy("") == Strings{"1a", "1b", "2a", "2b"});
    const Plan planned = plan(
        "[campaign]\nname='c'\nrepeats=2\n[matrix]\nx=[1,2]\n[workload]\ncommand=['echo','${x}${repeat}']");
    CHECK(echoes(planned) == Strings{"10", "11", "20", "21"});
    CHECK(planned.repeat(3) == 1);
}

TEST_CASE("a campaign without a matrix is one cell a repeat") {
    CHECK(plan("[campaign]\nname='c'\nrepeats=3\n[workload]\ncommand=['x']").cell_count() == 3);
}

TEST_CASE("exclude by value, list, glob, comparison and field") {
    CHECK(xy("[[matrix.exclude]]\nx = 1\ny = \"a\"") == Strings{"1b", "2a", "2b"});
    CHECK(xy("[[matrix.exclude]]\nx = 1\n[[matrix.exclude]]\ny = \"a\"") == Strings{"2b"});
    CHECK(xy("[[matrix.exclude]]\nx = 2\ny = [\"b\", \"a\"]") == Strings{"1a", "1b"});
    CHECK(xy("[[matrix.exclude]]\ny = \"*a\"") == Strings{"1b", "2b"});
    CHECK(xy("[[matrix.exclude]]\nx = { ge = 2, lt = 5 }") == Strings{"1a", "1b"});
    CHECK(xy("[[matrix.exclude]]\nx = { gt = 2 }").size() == 4);
    const std::string fields = "[define.y]\na = { kind = \"fake\", bits = 4 }\nb = { kind = \"real\" }\n";
    const auto with_fields = [&](const std::string& rule) {
        return echoes(plan(campaign(two_by_two + rule, "\"${x}${y}\"", fields)));
    };
    CHECK(with_fields("[[matrix.exclude]]\ny.kind = \"real\"") == Strings{"1a", "2a"});
    CHECK(with_fields("[[matrix.exclude]]\n\"y.kind\" = [\"real\", \"none\"]") == Strings{"1a", "2a"});
    CHECK(with_fields("[[matrix.exclude]]\ny = { kind = \"fake\", bits = { le = 4 } }\nx = 1") ==
          Strings{"1b", "2a", "2b"});
    CHECK(with_fields("[[matrix.exclude]]\ny = { bits = { ge = 0 } }") == Strings{"1b", "2b"});
}

TEST_CASE("an exclude that matches nothing is a warning") {
    const Plan planned = plan(campaign(two_by_two + "[[matrix.exclude]]\nx = { gt = 9 }", "\"${x}${y}\""));
    REQUIRE(planned.warnings().size() == 1);
    CHECK(planned.warnings()[0].place.line == 6);
    CHECK(planned.matrix().excluded_count() == 0);
}

TEST_CASE("zipped axes move together") {
    CHECK(xy("[[matrix.zip]]\naxes = [\"x\", \"y\"]") == Strings{"1a", "2b"});
    const Plan planned = plan(
        campaign("z = [7, 8]\n" + two_by_two + "[[matrix.zip]]\naxes = [\"y\", \"x\"]", "\"${z}${x}${y}\""));
    CHECK(echoes(planned) == Strings{"71a", "72b", "81a", "82b"});
}

TEST_CASE("an include adds a cell, with new values too") {
    CHECK(xy("[[matrix.include]]\nx = 9\ny = \"a\"") == Strings{"1a", "1b", "2a", "2b", "9a"});
    CHECK(xy("[[matrix.exclude]]\nx = 1\n[[matrix.include]]\nx = 1\ny = \"b\"") == Strings{"2a", "2b", "1b"});
    CHECK(xy("[matrix.defaults]\ny = \"b\"\n[[matrix.include]]\nx = 9") ==
          Strings{"1a", "1b", "2a", "2b", "9b"});
}

TEST_CASE("an include with an axis that the matrix lacks extends the cells it matches") {
    const auto with_z = [](const std::string& rules) {
        return echoes(plan(campaign(two_by_two + "[matrix.defaults]\nz = 0\n" + rules, "\"${x}${y}${z}\"")));
    };
    CHECK(with_z("[[matrix.include]]\nx = 1\nz = 5") == Strings{"1a5", "1b5", "2a0", "2b0"});
    CHECK(with_z("[[matrix.include]]\ny = \"*\"\nz = 5\n[[matrix.include]]\nx = { gt = 1 }\nz = 6") ==
          Strings{"1a5", "1b5", "2a6", "2b6"});
    CHECK(with_z("[[matrix.include]]\nx = 9\ny = \"a\"\nz = 5") ==
          Strings{"1a0", "1b0", "2a0", "2b0", "9a5"});
}

TEST_CASE("what an include cannot do is an error") {
    CHECK(problem(campaign(two_by_two + "[[matrix.include]]\nx = 1\ny = \"b\"", "\"${x}${y}\"")) ==
          "6:1 this include adds a cell that the matrix already has: x = 1, y = \"b\"");
    CHECK(problem(campaign(two_by_two +
                               "[[matrix.include]]\nx = 7\ny = \"c\"\n[[matrix.include]]\nx = 7\ny = \"c\"",
                           "\"${x}${y}\"")) ==
          "9:1 this include adds a cell that the matrix already has: x = 7, y = \"c\"");
    CHECK(problem(campaign(two_by_two + "[[matrix.include]]\nx = [7, 8]\ny = \"a\"", "\"${x}${y}\"")) ==
          "7:1 an include that adds a cell names one value of each axis, without '*', lists or fields");
    CHECK(problem(campaign(two_by_two + "[[matrix.include]]\ny = \"c*\"\nz = 1", "\"${x}${y}\"")) ==
          "7:1 this include matches no cell, and cannot add one without a plain value here");
}

TEST_CASE("values may be tables of named fields") {
    const std::string rows = "s = [{ name = \"small\", w = 2 }, { name = \"big\", w = 8 }]";
    CHECK(echoes(plan(campaign(rows, "\"${s}-${s.w}\""))) == Strings{"small-2", "big-8"});
    CHECK(echoes(plan(campaign("[matrix.s]\nsmall = { w = 2 }\nbig = { w = 8 }", "\"${s}-${s.w}\""))) ==
          Strings{"small-2", "big-8"});
    CHECK(problem(campaign("s = [{ w = 2 }, { name = \"big\", w = 8 }]", "\"${s}\"")).substr(0, 5) ==
          "4:6 m");
}

TEST_CASE("counts that do not fit are refused") {
    std::string axes;
    for (const char* name : {"a", "b", "c", "d"}) {
        axes.append(name).append(" = [0");
        for (int i = 1; i < 300; ++i)
            axes.append(",").append(std::to_string(i));
        axes += "]\n";
    }
    CHECK(problem(campaign(axes, "\"${a}${b}${c}${d}\"")) ==
          "3:2 the campaign has more than 100000000 cells: axes, or repeats, have too many values");
    CHECK(problem(
              "[campaign]\nname='c'\nrepeats=4294967295\n[matrix]\nx=[1,2]\n[workload]\ncommand=['a','${x}']")
              .substr(0, 25) == "4:2 the campaign has more");
}

TEST_CASE("excluding everything is an error") {
    CHECK(problem(campaign(two_by_two + "[[matrix.exclude]]\nx = [1, 2]", "\"${x}${y}\"")) ==
          "3:2 the matrix has no cells: all of them are excluded");
}
