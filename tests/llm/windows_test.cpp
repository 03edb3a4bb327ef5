#include <tessera/base/error.hpp>
#include <tessera/text/wikitext.hpp>
#include <tessera/text/windows.hpp>

#include <doctest/doctest.h>

using namespace tessera::llm;

namespace {

using Ids = std::vector<std::int32_t>;

/// One id for each byte: its code.
Ids encode_bytes(std::string_view text) {
    return {text.begin(), text.end()};
}

WindowOptions options(Definition definition, std::int64_t context, std::int64_t limit = 0) {
    return {definition, context, limit, 1};
}

} // namespace

TEST_CASE("rows are lines, blank ones empty") {
    CHECK(wikitext_rows(" \n = A = \n \n text \n") ==
          std::vector<std::string>{"", " = A = \n", "", " text \n"});
    CHECK(wikitext_rows("last") == std::vector<std::string>{"last"});
    CHECK(wikitext_rows("\n\n") == std::vector<std::string>{"", ""});
    CHECK(wikitext_rows("").empty());
}

TEST_CASE("gptq: one text, one BOS, the remainder dropped but counted") {
    const auto cut = cut_windows({"ab", "", "c"}, encode_bytes, options(Definition::gptq, 3));
    // BOS a b \n \n \n \n c
    CHECK(cut.tokens == 8);
    REQUIRE(cut.windows.size() == 2);
    CHECK(cut.windows[0] == Ids{1, 'a', 'b'});
    CHECK(cut.windows[1] == Ids{'\n', '\n', '\n'});
}

TEST_CASE("study: a BOS before each row, a blank row is one BOS") {
    const auto cut = cut_windows({"ab", "", "c"}, encode_bytes, options(Definition::study, 3));
    REQUIRE(cut.windows.size() == 2);
    CHECK(cut.windows[0] == Ids{1, 'a', 'b'});
    CHECK(cut.windows[1] == Ids{1, 1, 'c'});
    CHECK(cut.tokens == 6);
}

TEST_CASE("study: each batch of 1,000 rows is cut by itself") {
    // 1,000 rows of two tokens each, then 4 more: 2,000 tokens give 285 windows of 7 with 5 dropped; 8 give
    // one more.
    const auto cut =
        cut_windows(std::vector<std::string>(1004, "x"), encode_bytes, options(Definition::study, 7));
    CHECK(cut.windows.size() == 286);
    CHECK(cut.windows.back() == Ids{1, 'x', 1, 'x', 1, 'x', 1});
    CHECK(cut.tokens == 286 * 7);
}

TEST_CASE("a limit takes windows from the start") {
    for (const Definition definition : {Definition::study, Definition::gptq}) {
        const std::vector<std::string> rows(50, "abc");
        const auto all = cut_windows(rows, encode_bytes, options(definition, 5));
        const auto some = cut_windows(rows, encode_bytes, options(definition, 5, 4));
        REQUIRE(some.windows.size() == 4);
        CHECK(std::equal(some.windows.begin(), some.windows.end(), all.windows.begin()));
    }
}

TEST_CASE("text shorter than a window gives none") {
    CHECK(cut_windows({}, encode_bytes, options(Definition::study, 4)).windows.empty());
    CHECK(cut_windows({}, encode_bytes, options(Definition::gptq, 4)).windows.empty());
    CHECK(cut_windows({"ab"}, encode_bytes, options(Definition::gptq, 4)).windows.empty());
}

TEST_CASE("definitions have names") {
    CHECK(parse_definition("study") == Definition::study);
    CHECK(definition_name(parse_definition("gptq")) == "gptq");
    CHECK_THROWS_WITH_AS(parse_definition("gtpq"), doctest::Contains("did you mean 'gptq'"),
                         tessera::UserError);
}
