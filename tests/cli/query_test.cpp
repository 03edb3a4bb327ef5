#include "program.hpp"

#include <doctest/doctest.h>

using namespace tessera::test;
using nlohmann::json;

namespace {

/// A metric that is a number, one that is not finite, a text, a series, one that only some cells have, one
/// with the name of an axis, and a line that is no metric.
constexpr const char* measuring_script = R"sh({
echo "{\"metric\": \"loss\", \"value\": $1.5, \"unit\": \"nats\", \"direction\": \"lower\"}"
case $1 in
1) echo '{"metric": "odd", "value": NaN}';;
2) echo '{"metric": "odd", "value": Infinity}';;
3) echo '{"metric": "odd", "value": -Infinity}';;
esac
test "$1" != 1 || echo '{"metric": "seldom", "value": 7}'
echo '{"metric": "note", "text": "a, \"b\" | c"}'
echo "{\"metric\": \"x\", \"value\": $(($1 * 10))}"
echo '{"metric": "curve", "value": 3, "step": 1}'
echo 'no metric at all'
printf '{"metric": "last", "value": 1}'
} >> "$TESSERA_METRICS"
test "$1" != 4)sh";

struct Measured {
    TemporaryFolder folder;

    Measured() {
        folder.write("c.toml", shell_campaign("c", "[1, 2, 3, 4]", measuring_script));
        require_code(run_tessera(folder.path(), {"run", "c.toml", "--workers", "0", "--dir", "D"}), 1);
    }

    Outcome ask(std::vector<std::string> args) const {
        args.insert(args.begin(), {"query", "D"});
        Outcome outcome = run_tessera(folder.path(), args);
        require_code(outcome, 0);
        return outcome;
    }

    json rows(std::vector<std::string> args) const { return query(folder.path(), "D", std::move(args)); }
};

} // namespace

TEST_CASE_FIXTURE(Measured, "JSON keeps what is not finite, and null is what is not there") {
    CHECK(rows({"--columns", "x,odd,seldom,note,last"}) == json::parse(R"([
        {"x": 1, "odd": "NaN", "seldom": 7.0, "note": "a, \"b\" | c", "last": 1.0},
        {"x": 2, "odd": "Infinity", "seldom": null, "note": "a, \"b\" | c", "last": 1.0},
        {"x": 3, "odd": "-Infinity", "seldom": null, "note": "a, \"b\" | c", "last": 1.0},
        {"x": 4, "odd": null, "seldom": null, "note": null, "last": null}])"));
}

TEST_CASE_FIXTURE(Measured, "all columns of a row, and a metric with the name of an axis") {
    const json all = rows({});
    REQUIRE(all.size() == 4);
    for (const char* key :
         {"x", "repeat", "cell", "status", "loss", "odd", "seldom", "note", "metric:x", "last"}) {
        CAPTURE(key);
        CHECK(all[0].contains(key));
    }
    CHECK(all[0]["x"] == 1);
    CHECK(all[0]["metric:x"] == 10);
    CHECK(all[0]["repeat"] == 0);
    CHECK(all[0]["cell"].get<std::string>().size() == 32);
    CHECK(all[3]["status"] == "failed");
    CHECK(rows({"--metric", "metric:x", "--where", "metric:x > 10"}).size() == 2);
    CHECK(rows({"--columns", "x,metric:x,exit_code,message", "--where", "status = failed"}) ==
          json::parse(R"([{"x": 4, "metric:x": null, "exit_code": 1, "message": "exit code 1"}])"));
}

TEST_CASE_FIXTURE(Measured, "expressions over axes, status and metrics") {
    const auto xs = [&](const std::string& where) {
        std::vector<int> found;
        for (const json& row : rows({"--columns", "x", "--where", where}))
            found.push_back(row["x"]);
        return found;
    };
    using Xs = std::vector<int>;
    CHECK(xs("loss > 2 and status = succeeded") == Xs{2, 3});
    CHECK(xs("x in [1, 4]") == Xs{1, 4});
    CHECK(xs("not (x <= 2 or status = failed)") == Xs{3});
    CHECK(xs("note ~ \"a*c\" and x != 1") == Xs{2, 3});
    CHECK(xs("seldom = 7") == Xs{1});
    CHECK(xs("x = 99").empty());
}

TEST_CASE_FIXTURE(Measured, "CSV, Markdown and the table for people") {
    CHECK(ask({"--columns", "x,loss,odd,note", "--format", "csv"}).out ==
          "x,loss,odd,note\n1,1.5,NaN,\"a, \"\"b\"\" | c\"\n2,2.5,Infinity,\"a, \"\"b\"\" | c\"\n"
          "3,3.5,-Infinity,\"a, \"\"b\"\" | c\"\n4,,,\n");
    CHECK(ask({"--columns", "x,note", "--where", "x = 1", "--format", "markdown"}).out ==
          "| x | note |\n|---:|---|\n| 1 | a, \"b\" \\| c |\n");
    const std::string table = ask({"--columns", "x,loss,seldom"}).out;
    CHECK(table.find("x  loss  seldom\n") == 0);
    CHECK(table.find("\n2   2.5       -\n") != std::string::npos);
}

TEST_CASE_FIXTURE(Measured, "groups and aggregates") {
    CHECK(rows({"--metric", "loss", "--group-by", "status", "--agg", "mean,min,max,count"}) ==
          json::parse(R"([
        {"status": "succeeded", "loss_mean": 2.5, "loss_min": 1.5, "loss_max": 3.5, "loss_count": 3},
        {"status": "failed", "loss_mean": null, "loss_min": null, "loss_max": null, "loss_count": 0}])"));
    const json spread = rows({"--metric", "loss", "--group-by", "repeat", "--agg", "std,ci95,median"});
    REQUIRE(spread.size() == 1);
    CHECK(spread[0]["loss_std"].get<double>() == doctest::Approx(1));
    CHECK(spread[0]["loss_ci95"].get<double>() == doctest::Approx(2.484138));
    CHECK(spread[0]["loss_median"] == 2.5);
    CHECK(rows({"--metric", "loss", "--group-by", "x"})[0].contains("loss_ci95"));
}

TEST_CASE_FIXTURE(Measured, "lines that are no metrics are reported with their number") {
    const Outcome shown = run_tessera(folder.path(), {"show", "D", cell_id(folder.path(), "D", "x = 1")});
    require_code(shown, 0);
    CAPTURE(shown.out);
    CHECK(shown.out.find("line 7") != std::string::npos);
    CHECK(shown.out.find("curve[1]") != std::string::npos);
    CHECK(shown.out.find("nats") != std::string::npos);
}

TEST_CASE("a query of a campaign that runs shows what is finished") {
    const TemporaryFolder folder;
    folder.write("c.toml", shell_campaign("c", "[1, 2, 3]", R"sh(
echo "{\"metric\": \"m\", \"value\": $1}" >> "$TESSERA_METRICS"
test "$1" = 1 && exit 0
cd "$TESSERA_CAMPAIGN_FOLDER"
: > "begun-$1"
while test ! -e go; do sleep 0.05; done)sh"));
    RunningProgram program(tessera_command(folder.path(), {"run", "c.toml", "--workers", "1", "--dir", "D"}));
    REQUIRE(eventually([&] { return folder.has("begun-2"); }));
    REQUIRE(eventually([&] {
        return !query(folder.path(), "D", {"--where", "x = 2 and status = running"}).empty();
    }));
    const json rows = query(folder.path(), "D", {"--columns", "x,status,m", "--where", "x = 1"});
    CHECK(rows == json::parse(R"([{"x": 1, "status": "succeeded", "m": 1.0}])"));
    folder.write("go", "");
    require_code(program.wait(), 0);
}
