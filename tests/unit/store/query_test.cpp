#include "fixture.hpp"

#include <tessera/base/error.hpp>
#include <tessera/campaign/expression.hpp>
#include <tessera/store/query.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>

using namespace tessera;

namespace {

using Row = std::vector<TableCell>;

TableCell text(const char* value) {
    return std::string(value);
}

TableCell whole(std::int64_t value) {
    return value;
}

const TableCell null;

/// The hello campaign, run: product = x for each cell, but the cells in `failed` failed.
fixture::Journal hello(const fixture::Matrix& matrix, const std::vector<std::size_t>& failed = {}) {
    auto journal = fixture::journal(matrix);
    for (std::size_t i = 0; i < matrix.size(); ++i) {
        const bool bad = std::find(failed.begin(), failed.end(), i) != failed.end();
        journal.add(matrix.step(i));
        journal.add(fixture::dispatched(matrix.step_key(i)));
        auto outcome = fixture::outcome(fixture::first_part, matrix.step_key(i),
                                        bad ? OutcomeKind::failed : OutcomeKind::succeeded);
        outcome.metrics = {fixture::metric("product", matrix.x(i))};
        journal.add(outcome);
    }
    return journal;
}

TextTable ask(const Tables& tables, const Query& query, bool live = true) {
    const auto state =
        campaign_state(tables, acceptance_of(tables), [&](const std::string&) { return live; });
    return run_query(tables, state, query);
}

Query where(const std::string& expression) {
    Query query;
    query.columns = {"x", "y", "repeat"};
    query.where = expression;
    return query;
}

std::vector<std::string> statuses(const Tables& tables, bool live = true) {
    Query query;
    query.columns = {"status"};
    std::vector<std::string> found;
    for (const Row& row : ask(tables, query, live).rows)
        found.push_back(std::get<std::string>(row[0]));
    return found;
}

bool same(const TableCell& a, const TableCell& b) {
    const auto* x = std::get_if<double>(&a);
    const auto* y = std::get_if<double>(&b);
    if (x == nullptr || y == nullptr) return a == b;
    return (std::isnan(*x) && std::isnan(*y)) || *x == *y || std::abs(*x - *y) <= 1e-12 * std::abs(*y);
}

} // namespace

TEST_CASE("the smallest campaign gives exactly the keys that were asked for") {
    Query query;
    query.metrics = {"product"};
    query.group_by = {"x"};
    query.aggregates = {Aggregate::mean, Aggregate::count};
    const TextTable table = ask(hello({}).tables(), query);
    CHECK(table.headers == std::vector<std::string>{"x", "product_mean", "product_count"});
    CHECK(table.rows ==
          std::vector<Row>{{whole(1), 1.0, whole(4)}, {whole(2), 2.0, whole(4)}, {whole(3), 3.0, whole(4)}});
}

TEST_CASE("rows have axes, repeat, cell, status and metrics, in the order of the campaign") {
    const fixture::Matrix matrix;
    const TextTable table = ask(hello(matrix, {1}).tables(), {});
    CHECK(table.headers == std::vector<std::string>{"x", "y", "repeat", "cell", "status", "product"});
    REQUIRE(table.rows.size() == 12);
    for (std::size_t i = 0; i < 12; ++i) {
        CHECK(table.rows[i][0] == whole(matrix.x(i)));
        CHECK(table.rows[i][1] == text(matrix.y(i) == 0 ? "a" : "b"));
        CHECK(table.rows[i][2] == whole(matrix.repeat(i)));
        CHECK(table.rows[i][3] == TableCell(matrix.cell_id(i).hex()));
        CHECK(table.rows[i][4] == text(i == 1 ? "failed" : "succeeded"));
        CHECK(table.rows[i][5] == (i == 1 ? null : TableCell(double(matrix.x(i)))));
    }
}

TEST_CASE("an expression selects by axes, fields, repeat, status, id, metrics and attempts") {
    const fixture::Matrix matrix;
    const Tables tables = hello(matrix, {1}).tables();
    CHECK(ask(tables, where("x = 2")).rows.size() == 4);
    CHECK(ask(tables, where("x >= 2 and y = a")).rows.size() == 4);
    CHECK(ask(tables, where("y.size > 10")).rows.size() == 6);
    CHECK(ask(tables, where("y.label ~ 'Ünit*' and not repeat = 0")).rows.size() == 6);
    CHECK(ask(tables, where("status = failed")).rows == std::vector<Row>{{whole(1), text("a"), whole(1)}});
    CHECK(ask(tables, where("product in [1, 3]")).rows.size() == 7);
    CHECK(ask(tables, where("product != 1")).rows.size() == 8);
    CHECK(ask(tables, where("metric:product > 2")).rows.size() == 4);
    CHECK(ask(tables, where("cell = " + matrix.cell_id(7).hex())).rows.size() == 1);
    CHECK(ask(tables, where("cell = '" + matrix.cell_id(7).hex().substr(0, 10) + "'")).rows.size() == 1);
    CHECK(ask(tables, where("cell != '" + matrix.cell_id(7).hex().substr(0, 10) + "'")).rows.size() == 11);
    CHECK(ask(tables, where("exit_code = 3 and attempt.message ~ *code*")).rows.size() == 1);
    CHECK(ask(tables, where("x = 99")).rows.empty());
}

TEST_CASE("unknown names are errors that suggest the right one") {
    const Tables tables = hello({}).tables();
    Query query;
    query.metrics = {"prodct"};
    CHECK_THROWS_WITH_AS(ask(tables, query), doctest::Contains("did you mean 'product'?"), UserError);
    CHECK_THROWS_WITH_AS(ask(tables, where("statsu = failed")), doctest::Contains("'status'"), UserError);
    CHECK_THROWS_AS(ask(tables, where("x =")), ExpressionError);
    query = {};
    query.group_by = {"y.lable"};
    CHECK_THROWS_WITH_AS(ask(tables, query), doctest::Contains("--group-by"), UserError);
    query.columns = {"x"};
    CHECK_THROWS_WITH_AS(ask(tables, query), doctest::Contains("--columns"), UserError);
    CHECK_THROWS_WITH_AS(parse_aggregate("maen"), doctest::Contains("'mean'"), UserError);
}

TEST_CASE("a metric with the name of an axis or of a column of every row gets a prefix") {
    const fixture::Matrix matrix{1, 1, 1};
    auto journal = fixture::journal(matrix);
    auto outcome = fixture::outcome(fixture::first_part, matrix.step_key(0));
    outcome.metrics = {fixture::metric("x", 5), fixture::metric("status", 6), fixture::metric("host", 7),
                       fixture::metric("product", 8)};
    outcome.metrics.push_back(fixture::metric("product", 9));
    outcome.metrics.back().role = MetricRole::baseline;
    journal.add(outcome);
    const Tables tables = journal.tables();
    const TextTable table = ask(tables, {});
    CHECK(table.headers == std::vector<std::string>{"x", "y", "repeat", "cell", "status", "product",
                                                    "metric:x", "metric:status", "host", "product.baseline"});
    CHECK(std::vector<TableCell>(table.rows[0].begin() + 5, table.rows[0].end()) ==
          Row{8.0, 5.0, 6.0, 7.0, 9.0});
    Query query;
    query.columns = {"host", "attempt.host"};
    query.metrics = {"metric:x"};
    CHECK(ask(tables, query).rows == std::vector<Row>{{7.0, text("node1"), 5.0}});
}

TEST_CASE("of a series the last value counts, of a gang the lowest member, and a single value before both") {
    const fixture::Matrix matrix{1, 1, 1};
    auto outcome = fixture::outcome(fixture::first_part, matrix.step_key(0));
    const auto add = [&](const char* name, double value, std::optional<std::int64_t> index,
                         std::optional<std::uint32_t> member = std::nullopt) {
        outcome.metrics.push_back(fixture::metric(name, value));
        outcome.metrics.back().series_index = index;
        outcome.metrics.back().member = member;
    };
    add("loss", 1, 1);
    add("loss", 3, 30);
    add("loss", 2, 2);
    add("final", 7, std::nullopt);
    add("final", 8, 100);
    add("again", 1, std::nullopt);
    add("again", 2, std::nullopt);
    add("gang", 1, std::nullopt, 3);
    add("gang", 2, std::nullopt, 0);
    add("gang", 3, std::nullopt, 1);
    auto journal = fixture::journal(matrix);
    journal.add(outcome);
    Query query;
    query.columns = {"loss", "final", "again", "gang"};
    CHECK(ask(journal.tables(), query).rows == std::vector<Row>{{3.0, 7.0, 2.0, 2.0}});
}

TEST_CASE("groups without results are there, with nulls and a count of nothing") {
    const fixture::Matrix matrix;
    std::vector<std::size_t> all(matrix.size());
    for (std::size_t i = 0; i < all.size(); ++i)
        all[i] = i;
    Query query;
    query.metrics = {"product"};
    query.group_by = {"y", "y.size"};
    const TextTable table = ask(hello(matrix, all).tables(), query);
    CHECK(table.headers ==
          std::vector<std::string>{"y", "y.size", "product_mean", "product_ci95", "product_count"});
    CHECK(table.rows == std::vector<Row>{{text("a"), whole(10), null, null, whole(0)},
                                         {text("b"), whole(20), null, null, whole(0)}});
    CHECK(ask(fixture::journal({0, 2, 1}).tables(), query).rows.empty());
}

TEST_CASE("status of cells") {
    const fixture::Matrix matrix{6, 1, 1};
    auto journal = fixture::journal(matrix);
    journal.add(fixture::dispatched(matrix.step_key(1)));
    journal.add(fixture::outcome(fixture::first_part, matrix.step_key(2), OutcomeKind::timed_out));
    journal.add(fixture::outcome(fixture::first_part, matrix.step_key(3), OutcomeKind::preempted));
    journal.add(fixture::outcome(fixture::first_part, matrix.step_key(4)));
    journal.add(fixture::outcome(fixture::first_part, matrix.step_key(5)));
    journal.add(InvalidatedRecord{{{matrix.step_key(5), 2}}, "why", "who", 0});
    const std::vector<std::string> running{"pending", "running", "failed", "pending", "succeeded", "pending"};
    CHECK(statuses(journal.tables()) == running);
    const std::vector<std::string> dead{"pending", "pending", "failed", "pending", "succeeded", "pending"};
    CHECK(statuses(journal.tables(), false) == dead);
}

TEST_CASE("a cell whose needed step failed is blocked") {
    const fixture::Matrix matrix{2, 1, 1};
    CellBatch cells = matrix.cells();
    cells.other_steps = {{fixture::id(1)}, {}};
    fixture::Journal journal(fixture::first_part);
    journal.add(DefinitionRecord(matrix.definition()));
    journal.add(DefinitionRecord(cells));
    journal.add(fixture::outcome(fixture::first_part, fixture::id(1), OutcomeKind::failed));
    CHECK(statuses(journal.tables()) == std::vector<std::string>{"blocked", "pending"});
}

TEST_CASE("cells that the newest complete definition lacks are left out") {
    const fixture::Matrix large{3, 2, 2};
    const fixture::Matrix small{1, 2, 2};
    TableBuilder builder(hello(large).tables());
    builder.add(fixture::journal(small, fixture::second_part).tables());
    CHECK(ask(builder.tables(), {}).rows.size() == 4);
    TableBuilder torn(hello(large).tables());
    fixture::Journal second(fixture::second_part);
    second.add(DefinitionRecord(small.definition()));
    torn.add(second.tables());
    CHECK(ask(torn.tables(), {}).rows.size() == 12);
}

TEST_CASE("the numbers of Student's t distribution") {
    // Table 26.10 of Abramowitz and Stegun.
    CHECK(student_t95(1) == doctest::Approx(12.706).epsilon(1e-4));
    CHECK(student_t95(2) == doctest::Approx(4.303).epsilon(1e-4));
    CHECK(student_t95(5) == doctest::Approx(2.571).epsilon(2e-4));
    CHECK(student_t95(30) == doctest::Approx(2.042).epsilon(2e-4));
    CHECK(student_t95(120) == doctest::Approx(1.980).epsilon(2e-4));
    CHECK(std::abs(student_t95(2000) - student_t95(2001)) < 2e-6);
    CHECK(student_t95(1'000'000'000) == doctest::Approx(1.959964).epsilon(1e-6));
}

TEST_CASE("aggregates") {
    const auto of = [](Aggregate kind, std::vector<double> values) { return aggregate(kind, values); };
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double infinity = std::numeric_limits<double>::infinity();
    CHECK(of(Aggregate::median, {5, 1, 3}) == TableCell(3.0));
    CHECK(of(Aggregate::median, {4, 1, 3, 2}) == TableCell(2.5));
    CHECK(same(of(Aggregate::std, {1, 2, 3, 4}), 1.2909944487358056));
    CHECK(same(of(Aggregate::std, {7}), null));
    CHECK(same(of(Aggregate::ci95, {1, 2}), 12.706204736174694 * 0.5));
    CHECK(same(of(Aggregate::mean, {1, nan}), nan));
    CHECK(same(of(Aggregate::max, {1, infinity}), infinity));
    CHECK(same(of(Aggregate::min, {nan, 1}), nan));
    CHECK(of(Aggregate::count, {nan, 1}) == whole(2));
    CHECK(of(Aggregate::mean, {}) == null);
}

TEST_CASE("grouped queries agree with a plain model over random campaigns") {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 random(seed);
        const fixture::Matrix matrix{1 + static_cast<std::uint32_t>(random() % 5),
                                     1 + static_cast<std::uint32_t>(random() % 4),
                                     1 + static_cast<std::uint32_t>(random() % 4)};
        auto journal = fixture::journal(matrix);
        std::map<std::pair<std::int64_t, std::int64_t>, std::vector<double>> model;
        for (std::size_t i = 0; i < matrix.size(); ++i) {
            auto& group = model[{matrix.y(i), matrix.x(i)}];
            const bool succeeds = random() % 4 != 0;
            auto outcome = fixture::outcome(fixture::first_part, matrix.step_key(i),
                                            succeeds ? OutcomeKind::succeeded : OutcomeKind::lost);
            const double value = random() % 10 == 0 ? std::numeric_limits<double>::quiet_NaN()
                                                    : static_cast<double>(random() % 1000) / 7;
            outcome.metrics = {fixture::metric("loss", value)};
            if (succeeds) group.push_back(value);
            journal.add(outcome);
        }
        Query query;
        query.metrics = {"loss"};
        query.group_by = {"y", "x"};
        for (std::size_t i = 0; i < aggregate_names.size(); ++i)
            query.aggregates.push_back(static_cast<Aggregate>(i));
        const Tables tables = journal.tables();
        if (tables.metrics.size() == 0) continue;
        const bool any =
            std::any_of(model.begin(), model.end(), [](const auto& group) { return !group.second.empty(); });
        if (!any) continue;
        const TextTable table = ask(tables, query);
        REQUIRE(table.rows.size() == model.size());
        std::size_t row = 0;
        for (auto& [key, values] : model) {
            CHECK(table.rows[row][0] == text(key.first == 0   ? "a"
                                             : key.first == 1 ? "b"
                                             : key.first == 2 ? "c"
                                                              : "d"));
            CHECK(table.rows[row][1] == whole(key.second));
            for (std::size_t i = 0; i < aggregate_names.size(); ++i)
                CHECK(same(table.rows[row][2 + i], aggregate(static_cast<Aggregate>(i), values)));
            ++row;
        }
    }
}
