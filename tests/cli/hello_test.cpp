#include "program.hpp"

#include <doctest/doctest.h>

#include <map>
#include <set>

using namespace tessera::test;
using nlohmann::json;

namespace {

constexpr const char* hello = R"toml([campaign]
name = "hello"
repeats = 2

[matrix]
x = [1, 2, 3]
y = ["a", "b"]

[workload]
command = ["sh", "-c", "echo ${y}; echo '{\"metric\": \"product\", \"value\": ${x}}' >> \"$TESSERA_METRICS\""]

[resources]
timeout = "30s"
)toml";

const json products = json::parse(R"([{"x": 1, "product_mean": 1.0, "product_count": 4},
    {"x": 2, "product_mean": 2.0, "product_count": 4},
    {"x": 3, "product_mean": 3.0, "product_count": 4}])");

json mean_products(const TemporaryFolder& folder) {
    return query(folder.path(), "D", {"--metric", "product", "--group-by", "x", "--agg", "mean,count"});
}

} // namespace

TEST_CASE("the smallest campaign runs as the documentation promises") {
    const TemporaryFolder folder;
    folder.write("hello.toml", hello);
    require_code(run_tessera(folder.path(), {"run", "hello.toml", "--workers", "2", "--dir", "D"}), 0);

    CHECK(mean_products(folder) == products);

    const json rows = query(folder.path(), "D");
    REQUIRE(rows.size() == 12);
    std::map<std::string, int> points;
    std::set<std::string> cells;
    for (const json& row : rows) {
        CHECK(row["status"] == "succeeded");
        CHECK(row["product"] == row["x"]);
        points[row["x"].dump() + row["y"].dump() + row["repeat"].dump()]++;
        cells.insert(row["cell"]);
    }
    CHECK(points.size() == 12);
    CHECK(cells.size() == 12);
    for (const char* y : {"a", "b"})
        for (const int x : {1, 2, 3})
            for (const int repeat : {0, 1})
                CHECK(points.count(std::to_string(x) + '"' + y + '"' + std::to_string(repeat)) == 1);

    SUBCASE("and again it runs nothing") {
        const Outcome again =
            run_tessera(folder.path(), {"run", "hello.toml", "--workers", "2", "--dir", "D"});
        require_code(again, 0);
        CHECK(again.out.find("12 from before") != std::string::npos);
        CHECK(mean_products(folder) == products);
        CHECK(query(folder.path(), "D", {"--columns", "cell,attempt"}).size() == 12);
    }
}

TEST_CASE("plan says what the smallest campaign is, and touches nothing") {
    const TemporaryFolder folder;
    folder.write("hello.toml", hello);

    const json plan = run_tessera(folder.path(), {"plan", "hello.toml", "--format", "json"}).json();
    CHECK(plan["cells"] == 12);
    CHECK(plan["steps"] == 12);
    CHECK(plan["axes"] == json::parse(R"({"x": [1, 2, 3], "y": ["a", "b"]})"));

    const json with_cells =
        run_tessera(folder.path(), {"plan", "hello.toml", "--format", "json", "--cells"}).json();
    REQUIRE(with_cells["cells"].is_array());
    REQUIRE(with_cells["cells"].size() == 12);
    std::set<std::string> ids;
    for (const json& cell : with_cells["cells"]) {
        ids.insert(cell["id"]);
        CHECK(cell["x"].is_number_integer());
        CHECK(cell["y"].is_string());
    }
    CHECK(ids.size() == 12);

    const json commands =
        run_tessera(folder.path(), {"plan", "hello.toml", "--format", "json", "--cells", "--commands"})
            .json();
    CHECK(
        commands["cells"][0]["command"] ==
        json::parse(
            R"(["sh", "-c", "echo a; echo '{\"metric\": \"product\", \"value\": 1}' >> \"$TESSERA_METRICS\""])"));

    const Outcome csv = run_tessera(folder.path(), {"plan", "hello.toml", "--format", "csv", "--cells"});
    require_code(csv, 0);
    CHECK(csv.out.rfind("cell,x,y,repeat,step\n", 0) == 0);

    const Outcome some =
        run_tessera(folder.path(), {"plan", "hello.toml", "--format", "json", "--where", "x >= 2"});
    CHECK(some.json()["cells"] == 8);

    const Outcome text = run_tessera(folder.path(), {"plan", "hello.toml", "--cells"});
    require_code(text, 0);
    CHECK(text.out.find("hello: 12 cells") != std::string::npos);
    CHECK(!folder.has("hello"));
}

TEST_CASE("plan reads no cell ids that run does not use") {
    const TemporaryFolder folder;
    folder.write("hello.toml", hello);
    require_code(run_tessera(folder.path(), {"run", "hello.toml", "--workers", "0"}), 0);
    const json planned =
        run_tessera(folder.path(), {"plan", "hello.toml", "--format", "json", "--cells"}).json()["cells"];
    std::set<std::string> ids;
    for (const json& cell : planned)
        ids.insert(cell["id"]);
    for (const json& row : query(folder.path(), "hello"))
        CHECK(ids.erase(row["cell"]) == 1);
    CHECK(ids.empty());
}

TEST_CASE("the example that init writes plans and runs") {
    const TemporaryFolder folder;
    const Outcome made = run_tessera(folder.path(), {"init", "study"});
    require_code(made, 0);
    CHECK(made.out.find("study/campaign.toml") != std::string::npos);
    CHECK(folder.read("study/campaign.toml").find("# ") != std::string::npos);

    const std::string study = folder.file("study");
    require_code(run_tessera(study, {"plan", "campaign.toml", "--cells", "--commands"}), 0);
    require_code(run_tessera(study, {"run", "campaign.toml", "--workers", "1"}), 0);
    const json rows = query(study, "example", {"--where", "model = large and precision = int8"});
    REQUIRE(rows.size() == 2);
    CHECK(rows[0]["score"] == 4096);

    SUBCASE("and is not overwritten") {
        const Outcome again = run_tessera(folder.path(), {"init", "study"});
        require_code(again, 2);
        CHECK(again.err.find("study/campaign.toml exists already") != std::string::npos);
    }
}
