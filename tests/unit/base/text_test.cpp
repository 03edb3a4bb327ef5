#include <tessera/base/text.hpp>

#include <doctest/doctest.h>

using namespace tessera;

TEST_CASE("a misspelt word finds its neighbour, a strange one finds none") {
    const std::vector<std::string> words = {"repeats", "seed", "description"};
    CHECK(closest("repaets", words) == "repeats");
    CHECK(closest("Seed", words) == "seed");
    CHECK_FALSE(closest("walltime", words).has_value());
    CHECK(did_you_mean("sed", words) == " (did you mean 'seed'?)");
    CHECK(did_you_mean("zzzz", words).empty());
}

TEST_CASE("globs match whole texts") {
    CHECK(glob_match("tiny*", "tinyllama"));
    CHECK(glob_match("*a*b*", "xxaxxbxx"));
    CHECK(glob_match("", ""));
    CHECK(glob_match("*", ""));
    CHECK(glob_match("a?c", "abc"));
    CHECK_FALSE(glob_match("a?c", "ac"));
    CHECK_FALSE(glob_match("tiny", "tinyllama"));
    CHECK_FALSE(glob_match("*aab", "aaaa"));
}

TEST_CASE("shell quoting keeps every word one word") {
    CHECK(shell_quote("plain-word_1.2/3") == "plain-word_1.2/3");
    CHECK(shell_quote("") == "''");
    CHECK(shell_quote("a b") == "'a b'");
    CHECK(shell_quote("it's $HOME") == "'it'\\''s $HOME'");
    const std::vector<std::string> argv = {"echo", "-n", "a\nb"};
    CHECK(shell_line(argv) == "echo -n 'a\nb'");
}

TEST_CASE("malformed UTF-8 is replaced and well-formed text is kept") {
    CHECK(repair_utf8("na\xC3\xAFve") == "na\xC3\xAFve");
    CHECK(repair_utf8("a\x90z") == "a\xEF\xBF\xBDz");
    CHECK(repair_utf8("\xED\xA0\x80") == "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
    CHECK(repair_utf8("\xF0\x9F\x98") == "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST_CASE("NUL is replaced") {
    CHECK(replace_nul("plain") == "plain");
    CHECK(replace_nul(std::string_view("\0a\0\0", 4)) == "\xEF\xBF\xBD"
                                                         "a\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST_CASE("durations and sizes are read with their units") {
    CHECK(parse_duration_s("90") == 90);
    CHECK(parse_duration_s("30s") == 30);
    CHECK(parse_duration_s("1h30m") == 5400);
    CHECK(parse_duration_s("250ms") == 0.25);
    CHECK(parse_duration_s("2d") == 172800);
    for (const char* bad : {"", "h", "-1s", "3 h", "10x", "1h-5m", "1h30", "1s1h", "1s1s", "99999999999h"})
        CHECK_FALSE(parse_duration_s(bad).has_value());

    CHECK(parse_bytes("512") == 512);
    CHECK(parse_bytes("2G") == 2147483648ULL);
    CHECK(parse_bytes("1.5GiB") == 1610612736ULL);
    CHECK(parse_bytes("2GB") == 2000000000ULL);
    for (const char* bad : {"", "G", "-5", "1Q", "1e30G"})
        CHECK_FALSE(parse_bytes(bad).has_value());
}

TEST_CASE("spans are written for people") {
    CHECK(format_duration(12.34) == "12.3 s");
    CHECK(format_duration(245) == "4 min 05 s");
    CHECK(format_duration(7830) == "2 h 10 min");
}
