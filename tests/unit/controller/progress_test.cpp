#include <tessera/cli/progress_view.hpp>
#include <tessera/controller/progress.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>

using namespace tessera;

namespace {

Progress half_way() {
    Progress progress;
    progress.part = "20260101T000000Z-00000000";
    progress.phase = "running";
    progress.cells = 10;
    progress.succeeded = 5;
    progress.reused = 2;
    progress.failed = 1;
    progress.active = 2;
    progress.workers = 2;
    progress.elapsed_s = 61;
    progress.remaining_s = 30;
    progress.running.push_back({1, "abc x=\xC3\xA9", 12.5});
    progress.failures = {"cell abc: exit code 3\nwith a second line"};
    return progress;
}

} // namespace

TEST_CASE("progress passes through one line of JSON") {
    const Progress before = half_way();
    const std::string line = to_json(before);
    CHECK(line.find('\n') == std::string::npos);
    const auto after = parse_progress(line);
    REQUIRE(after.has_value());
    CHECK(after->part == before.part);
    CHECK(after->succeeded == 5);
    CHECK(after->remaining_s == 30);
    CHECK(after->running.at(0).what == before.running[0].what);
    CHECK(after->failures == before.failures);
    for (const char* bad : {"", "{}", "[1]", "{\"phase\":\"running\"}", "not json"})
        CHECK_FALSE(parse_progress(bad).has_value());
}

TEST_CASE("the painted lines fit the width and tell what counts") {
    const auto lines = progress_lines(half_way(), 80);
    REQUIRE(lines.size() == 3);
    CHECK(lines[1].find("5/10 cells (2 from before), 1 failed, 2 running on 2 workers") == 0);
    for (const std::size_t width : {10U, 40U, 80U})
        for (const std::string& line : progress_lines(half_way(), width))
            CHECK(line.size() <= width);
}

TEST_CASE("plain progress is a line now and then, and each failure once") {
    std::ostringstream out;
    ProgressView view(out, ProgressStyle::plain, 0);
    Progress progress = half_way();
    view.show(progress, Moment{});
    progress.failures.clear();
    view.show(progress, Moment{} + from_seconds(1));
    view.show(progress, Moment{} + from_seconds(11));
    const std::string text = out.str();
    CHECK(std::count(text.begin(), text.end(), '\n') == 4);
    CHECK(text.find("exit code 3") == text.rfind("exit code 3"));
}

TEST_CASE("repainting goes up exactly as many lines as were painted") {
    std::ostringstream out;
    ProgressView view(out, ProgressStyle::repaint, 80);
    Progress progress = half_way();
    progress.failures.clear();
    view.show(progress, Moment{});
    view.show(progress, Moment{});
    CHECK(out.str().find("\x1b[3A\x1b[J") != std::string::npos);
}
