#include "kill_and_resume.hpp"

#include <doctest/doctest.h>

using namespace tessera::test;

TEST_CASE("a campaign whose ranks are all killed again and again comes to its end") {
    SUBCASE("ranks") {
        kill_and_resume({{"--workers", "2"}, 4, 1});
    }
    SUBCASE("one process") {
        kill_and_resume({{"--workers", "0"}, 4, 2});
    }
    SUBCASE("runs that store what they have") {
        kill_and_resume({{"--workers", "0"}, 6, 3, 6});
    }
}
