#include <tessera/controller/exit_code.hpp>

#include <doctest/doctest.h>

using namespace tessera;

TEST_CASE("exit codes follow the documented order") {
    struct Row {
        const char* what;
        RunResult result;
        int stop_code;
        int code;
    };

    const auto result = [](std::uint64_t succeeded, std::uint64_t failed, std::uint64_t left) {
        RunResult r;
        r.planned = succeeded + failed + left;
        r.succeeded = succeeded;
        r.failed = failed;
        r.left = left;
        return r;
    };
    RunResult blocked = result(3, 0, 0);
    blocked.blocked = 1;
    RunResult too_large = result(3, 0, 0);
    too_large.unplaceable = 1;
    RunResult trouble = result(1, 0, 3);
    trouble.trouble = "disk full";
    const Row rows[] = {
        {"all succeeded", result(4, 0, 0), 0, 0},
        {"all succeeded although stopped", result(4, 0, 0), 130, 0},
        {"some failed", result(3, 1, 0), 0, 1},
        {"some blocked", blocked, 0, 1},
        {"some ask for too much", too_large, 0, 1},
        {"work left", result(2, 1, 1), 0, 3},
        {"interrupted", result(2, 1, 1), 130, 130},
        {"terminated", result(2, 0, 2), 143, 143},
        {"failed and stopped with nothing left", result(3, 1, 0), 143, 1},
        {"disk trouble", trouble, 0, 3},
    };
    for (const Row& row : rows) {
        CAPTURE(row.what);
        CHECK(run_end(row.result, row.stop_code).code == row.code);
        CHECK_FALSE(run_end(row.result, row.stop_code).reason.empty());
    }
}
