#include <tessera/base/fd.hpp>
#include <tessera/worker/metrics_line.hpp>
#include <tessera/worker/metrics_reader.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <string>
#include <sys/stat.h>
#include <vector>

#include <fcntl.h>

using namespace tessera;

namespace {

MetricPoint point(std::string_view line) {
    auto parsed = parse_metric_line(line);
    if (const auto* problem = std::get_if<MetricLineProblem>(&parsed)) FAIL_CHECK(problem->text);
    return std::holds_alternative<MetricPoint>(parsed) ? std::get<MetricPoint>(parsed) : MetricPoint{};
}

std::string problem(std::string_view line) {
    const auto parsed = parse_metric_line(line);
    const auto* found = std::get_if<MetricLineProblem>(&parsed);
    return found == nullptr ? std::string() : found->text;
}

} // namespace

TEST_CASE("values") {
    struct Case {
        const char* text;
        double value;
    };

    constexpr double infinity = std::numeric_limits<double>::infinity();
    for (const Case& item : std::vector<Case>{{"12.3", 12.3},
                                              {"0", 0},
                                              {"-0.5", -0.5},
                                              {"1e3", 1000},
                                              {"1E-3", 0.001},
                                              {"1e+2", 100},
                                              {"9007199254740993", 9007199254740992.0},
                                              {"Infinity", infinity},
                                              {"-Infinity", -infinity},
                                              {"1e-400", 0},
                                              {"4.9e-324", 4.9e-324}}) {
        CAPTURE(item.text);
        CHECK(point(std::string(R"({"metric": "m", "value": )") + item.text + "}").value == item.value);
    }
    CHECK(std::isnan(point(R"({"metric": "m", "value": NaN})").value));
}

TEST_CASE("all members") {
    const MetricPoint full = point(
        R"( {"direction":"lower","unit":"s","step":7,"value":1.5,"metric":"acc,none","more":[{"a":"]"},[]]} )");
    CHECK(full.name == "acc,none");
    CHECK(full.value == 1.5);
    CHECK(full.series_index == 7);
    CHECK(full.unit == "s");
    CHECK(full.direction == Direction::lower);
    CHECK_FALSE(full.text.has_value());
    CHECK(point(R"({"metric": "m", "text": "yes", "direction": "higher"})").text == "yes");
    CHECK(point(R"({"metric": "m", "value": 1, "step": -3})").series_index == -3);
    CHECK(point(R"({"metric": "m", "value": 1, "step": 3.0})").series_index == 3);
    CHECK_FALSE(point(R"({"metric": "m", "value": 1, "step": null, "unit": null})").series_index.has_value());
}

TEST_CASE("strings") {
    CHECK(point(R"({"metric": "a\"\\\/\u00e9\u20AC\ud83d\ude00", "value": 1})").name == "a\"\\/é€😀");
    CHECK(point(R"({"metric": "m", "text": "\ud800 \ud800\u0041 \udc00"})").text == "\uFFFD \uFFFD \uFFFD");
    CHECK(point("{\"metric\": \"m\", \"text\": \"\xC0\xFFz\"}").text->find('z') != std::string::npos);
    CHECK(point("{\"metric\": \"m\", \"text\": \"\xC0\xFFz\"}").text->find('\xC0') == std::string::npos);
}

TEST_CASE("bad lines say why") {
    const std::vector<std::pair<std::string, const char*>> cases = {
        {"garbage", "object"},
        {"[1]", "object"},
        {"{", "key"},
        {R"({"metric": "m", "value": 1)", "'}'"},
        {R"({"metric": "m", "value": 1} x)", "after the object"},
        {R"({"metric": "m"})", "exactly one"},
        {R"({"metric": "m", "value": 1, "text": "a"})", "exactly one"},
        {R"({"metric": "m", "value": null})", "exactly one"},
        {R"({"value": 1})", "\"metric\" is missing"},
        {R"({"metric": "", "value": 1})", "empty"},
        {R"({"metric": 3, "value": 1})", "must be a string"},
        {R"({"metric": "a\nb", "value": 1})", "control character"},
        {R"({"metric": "m", "value": "1"})", "must be a number"},
        {R"({"metric": "m", "value": true})", "must be a number"},
        {R"({"metric": "m", "value": [1]})", "must be a number"},
        {R"({"metric": "m", "value": 1e400})", "too large"},
        {R"({"metric": "m", "value": 01})", "not a JSON value"},
        {R"({"metric": "m", "value": .5})", "not a JSON value"},
        {R"({"metric": "m", "value": 1.})", "not a JSON value"},
        {R"({"metric": "m", "value": 1e})", "not a number"},
        {R"({"metric": "m", "value": nan})", "not a JSON value"},
        {R"({"metric": "m", "value": inf})", "not a JSON value"},
        {R"({"metric": "m", "value": NaNs})", "'}'"},
        {R"({"metric": "m", "value": 1, "value": 2})", "twice"},
        {R"({"metric": "m", "value": 1, "step": 1.5})", "integer"},
        {R"({"metric": "m", "value": 1, "step": 99999999999999999999})", "integer"},
        {R"({"metric": "m", "value": 1, "direction": "up"})", "\"lower\" or \"higher\""},
        {R"({"metric": "m", "text": "\x"})", "escape"},
        {R"({"metric": "m", "text": "\u12"})", "hexadecimal"},
        {std::string("{\"metric\": \"m\0\", \"value\": 1}", 28), "control character"},
        {std::string("\0", 1), "object"},
        {R"({"metric": ")" + std::string(300, 'm') + R"(", "value": 1})", "longer than"},
    };
    for (const auto& item : cases) {
        CAPTURE(item.first);
        CHECK(problem(item.first).find(item.second) != std::string::npos);
    }
}

TEST_CASE("deep nesting and long numbers are only input") {
    const std::string deep(500'000, '[');
    CHECK(problem(R"({"x": )" + deep) != "");
    CHECK(
        point(R"({"x": )" + deep + std::string(deep.size(), ']') + R"(, "metric": "m", "value": 2})").value ==
        2);
    CHECK(problem(R"({"metric": "m", "value": )" + std::string(100'000, '9') + "}").find("too large") !=
          std::string::npos);
}

TEST_CASE("every prefix and every changed byte of a line is safe") {
    const std::string line =
        R"({"metric": "p\u00e9", "value": -1.5e3, "step": 2, "unit": "s", "x": [{"y": "]"}], "direction": "lower"})";
    std::size_t bad = 0;
    for (std::size_t length = 0; length < line.size(); ++length)
        bad += problem(line.substr(0, length)).empty() ? 0 : 1;
    CHECK(bad == line.size());
    std::size_t answers = 0;
    for (std::size_t at = 0; at < line.size(); ++at) {
        for (int byte = 0; byte < 256; ++byte) {
            std::string changed = line;
            changed[at] = static_cast<char>(byte);
            answers += parse_metric_line(changed).index() < 2 ? 1 : 0;
        }
    }
    CHECK(answers == 256 * line.size());
}

TEST_CASE("a bad line loses nothing else") {
    MetricsParser parser(1000);
    parser.feed("{\"metric\": \"a\", \"value\": 1}\nnonsense\n\n{\"metric\": \"b\",", 0.5);
    parser.feed(" \"value\": 2}\r\n{\"metric\": \"c\", \"value\": 3}", 1.5);
    CHECK(parser.points().size() == 2);
    parser.finish(2);
    REQUIRE(parser.points().size() == 3);
    CHECK(parser.points()[0].t_s == 0.5);
    CHECK(parser.points()[1].t_s == 1.5);
    CHECK(parser.points()[2].name == "c");
    REQUIRE(parser.problems().size() == 1);
    CHECK(parser.problems()[0].find("line 2: ") == 0);
    CHECK_FALSE(parser.truncated());
}

TEST_CASE("NUL in a text or a unit is replaced and reported, in a name refused") {
    MetricsParser parser(1000);
    parser.feed("{\"metric\": \"a\", \"text\": \"x\\u0000y\"}\n"
                "{\"metric\": \"b\", \"value\": 1, \"unit\": \"\\u0000\"}\n"
                "{\"metric\": \"c\", \"value\": 1, \"unit\": \"s\"}\n"
                "{\"metric\": \"d\\u0000\", \"value\": 1}\n",
                0);
    REQUIRE(parser.points().size() == 3);
    CHECK(parser.points()[0].text == "x\uFFFDy");
    CHECK(parser.points()[1].unit == "\uFFFD");
    CHECK(parser.points()[2].unit == "s");
    REQUIRE(parser.problems().size() == 3);
    CHECK(parser.problems()[0] == "line 1: a NUL character (\\u0000) was replaced by U+FFFD");
    CHECK(parser.problems()[1].find("line 2: a NUL") == 0);
    CHECK(parser.problems()[2].find("line 4: \"metric\" holds a control character") == 0);
}

TEST_CASE("an unfinished last line is reported") {
    MetricsParser parser(1000);
    parser.feed(R"({"metric": "a", "val)", 0);
    parser.finish(0);
    CHECK(parser.points().empty());
    REQUIRE(parser.problems().size() == 1);
    CHECK(parser.problems()[0].find("line 1: ") == 0);
}

TEST_CASE("what passes the limit is left out, and so is the line that it cuts") {
    const std::string line = "{\"metric\": \"a\", \"value\": 1}\n";
    MetricsParser parser(2 * line.size() + 5);
    for (int i = 0; i < 4; ++i)
        parser.feed(line, 0);
    parser.finish(0);
    CHECK(parser.points().size() == 2);
    CHECK(parser.truncated());
    CHECK(parser.problems().empty());
}

TEST_CASE("at most twenty problems are kept") {
    MetricsParser parser(1U << 20U);
    for (int i = 0; i < 50; ++i)
        parser.feed("x\n", 0);
    REQUIRE(parser.problems().size() == 20);
    CHECK(parser.problems().back().find("and 30 bad lines more") != std::string::npos);
}

TEST_CASE("an overlong line is passed over") {
    MetricsParser parser(16U << 20U);
    parser.feed(std::string(2U << 20U, 'x') + "\n{\"metric\": \"a\", \"value\": 1}\n", 0);
    CHECK(parser.points().size() == 1);
    CHECK(parser.problems().size() == 1);
}

TEST_CASE("a file is followed while it grows") {
    const std::string folder = std::filesystem::temp_directory_path() / ("tessera-" + Id128::random().hex());
    std::filesystem::create_directory(folder);
    const std::string path = folder + "/metrics";
    MetricsReader reader(path, 1U << 20U);
    CHECK(reader.read_new(0).empty());
    {
        const UniqueFd file = open_file(path, O_WRONLY | O_CREAT | O_APPEND);
        write_all(file.get(), "{\"metric\": \"a\", \"value\": 1}\n{\"metric\"", path);
        CHECK(reader.read_new(1).size() == 1);
        CHECK(reader.read_new(2).empty());
        write_all(file.get(), ": \"b\", \"value\": 2}", path);
        CHECK(reader.read_new(3).empty());
    }
    const std::vector<MetricPoint> last = reader.finish(4);
    REQUIRE(last.size() == 1);
    CHECK(last[0].name == "b");
    CHECK(reader.points().size() == 2);
    CHECK(reader.problems().empty());

    SUBCASE("a FIFO of that name does not block") {
        const std::string fifo = folder + "/fifo";
        REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
        MetricsReader odd(fifo, 100);
        CHECK(odd.finish(0).empty());
        REQUIRE(odd.problems().size() == 1);
        CHECK(odd.problems()[0].find("not a regular file") != std::string::npos);
    }
    SUBCASE("a link of that name is not followed") {
        const std::string link = folder + "/link";
        std::filesystem::create_symlink(path, link);
        MetricsReader odd(link, 1U << 20U);
        CHECK(odd.finish(0).empty());
        REQUIRE(odd.problems().size() == 1);
        CHECK(odd.problems()[0].find("not a regular file") != std::string::npos);
    }
    std::filesystem::remove_all(folder);
}
