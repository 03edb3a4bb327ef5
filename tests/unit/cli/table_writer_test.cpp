#include <tessera/base/error.hpp>
#include <tessera/cli/table_writer.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>
#include <sstream>

using namespace tessera;

namespace {

std::string written(const TextTable& table, TableFormat format, std::size_t max_width = 0) {
    std::ostringstream out;
    write_table(out, table, format, max_width);
    return out.str();
}

TextTable sample() {
    TextTable table;
    table.headers = {"x", "näme", "loss"};
    table.rows.push_back({std::int64_t{1}, std::string("日本"), 0.123456789});
    table.rows.push_back(
        {std::int64_t{10}, std::string("a,\"b\"\nc"), std::numeric_limits<double>::quiet_NaN()});
    table.rows.push_back({TableCell(), true, -std::numeric_limits<double>::infinity()});
    return table;
}

} // namespace

TEST_CASE("columns are aligned by what a terminal shows, numbers to the right") {
    CHECK(written(sample(), TableFormat::table) == " x  näme           loss\n"
                                                   "--  --------  ---------\n"
                                                   " 1  日本       0.123457\n"
                                                   "10  a,\"b\"\\nc        NaN\n"
                                                   " -  true      -Infinity\n");
}

TEST_CASE("a narrow terminal cuts texts and never numbers") {
    TextTable table;
    table.headers = {"number", "text"};
    table.rows.push_back({123456.0, std::string(100, 'x') + "日"});
    const std::string text = written(table, TableFormat::table, 30);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
        CHECK(display_width(line) <= 30);
    CHECK(text.find("123456") != std::string::npos);
    CHECK(text.find("xxx…") != std::string::npos);
}

TEST_CASE("CSV quotes as RFC 4180 does, with full precision") {
    CHECK(written(sample(), TableFormat::csv) == "x,näme,loss\n"
                                                 "1,日本,0.123456789\n"
                                                 "10,\"a,\"\"b\"\"\nc\",NaN\n"
                                                 ",true,-Infinity\n");
}

TEST_CASE("JSON keeps types, with texts for what JSON has no number for") {
    const auto json = nlohmann::json::parse(written(sample(), TableFormat::json));
    CHECK(json == nlohmann::json::parse(R"([{"x": 1, "näme": "日本", "loss": 0.123456789},
                                           {"x": 10, "näme": "a,\"b\"\nc", "loss": "NaN"},
                                           {"x": null, "näme": true, "loss": "-Infinity"}])"));
    CHECK(nlohmann::json::parse(written({{"x"}, {}}, TableFormat::json)) == nlohmann::json::array());
    TextTable exact{{"v"}, {}};
    for (const double value : {0.1, 1e300, 5e-324, 1.0, 123456789.123456789})
        exact.rows.push_back({value});
    const auto read = nlohmann::json::parse(written(exact, TableFormat::json));
    for (std::size_t i = 0; i < exact.rows.size(); ++i)
        CHECK(read[i]["v"].get<double>() == std::get<double>(exact.rows[i][0]));
}

TEST_CASE("Markdown escapes what would end a cell") {
    TextTable table;
    table.headers = {"a|b", "n"};
    table.rows.push_back({std::string("x|y\nz"), std::int64_t{3}});
    CHECK(written(table, TableFormat::markdown) == "| a\\|b | n |\n|---|---:|\n| x\\|y\\\\nz | 3 |\n");
}

TEST_CASE("control characters do not reach the terminal") {
    TextTable table;
    table.headers = {"t"};
    table.rows.push_back({std::string("\x1b[31m\x07\xc2\x9b\xff")});
    const std::string text = written(table, TableFormat::table);
    CHECK(text.find('\x1b') == std::string::npos);
    CHECK(text.find("\\x1b[31m\\x07\\x9b\uFFFD") != std::string::npos);
}

TEST_CASE("widths of characters") {
    CHECK(display_width("abc") == 3);
    CHECK(display_width("äöü") == 3);
    CHECK(display_width("日本語") == 6);
    CHECK(display_width("e\u0301") == 1);
    CHECK(display_width("🙂") == 2);
}

TEST_CASE("an unknown format is an error with a suggestion") {
    CHECK_THROWS_WITH_AS(parse_table_format("jsn"), doctest::Contains("'json'"), UserError);
    CHECK(parse_table_format("markdown") == TableFormat::markdown);
}
