#include <tessera/campaign/expression.hpp>

#include <doctest/doctest.h>

#include <map>
#include <string>

using namespace tessera;

namespace {

const std::map<std::string, Value> row = {
    {"x", Value(3)},        {"lr", Value(0.5)},       {"name", Value("tiny-3t")}, {"flag", Value(true)},
    {"code", Value("007")}, {"model.bits", Value(4)}, {"whole", Value(2.0)},      {"acc.norm", Value(0.25)}};

bool matches(const std::string& text) {
    return Expression::parse(text).matches([](const Reference& reference) -> std::optional<Value> {
        const auto found = row.find(reference.text());
        return found == row.end() ? std::nullopt : std::optional(found->second);
    });
}

std::size_t error_position(const std::string& text) {
    try {
        Expression::parse(text);
    } catch (const ExpressionError& error) {
        return error.position;
    }
    return std::string::npos;
}

} // namespace

TEST_CASE("comparisons cross number types but not number and string") {
    CHECK(matches("x = 3"));
    CHECK(matches("x = 3.0"));
    CHECK(matches("whole = 2"));
    CHECK(matches("x >= 3 and x < 3.5"));
    CHECK(matches("lr<1"));
    CHECK_FALSE(matches("x = \"3\""));
    CHECK_FALSE(matches("x < tiny"));
    CHECK(matches("flag = true"));
    CHECK_FALSE(matches("flag = false"));
}

TEST_CASE("a bare word meets a string as text") {
    CHECK(matches("code = 007"));
    CHECK(matches("code = '007'"));
    CHECK_FALSE(matches("code = 7"));
    CHECK(matches("name = tiny-3t"));
    CHECK(matches("name < tinz"));
}

TEST_CASE("globs, lists and fields") {
    CHECK(matches("name ~ tiny-*"));
    CHECK(matches("name ~tiny-?t"));
    CHECK_FALSE(matches("name ~ tiny"));
    CHECK(matches("x in [1, 3]"));
    CHECK(matches("name in [big, \"tiny-3t\"]"));
    CHECK_FALSE(matches("x in [1,2]"));
    CHECK(matches("model.bits = 4"));
    CHECK(matches("acc.norm > 0.2"));
}

TEST_CASE("and binds tighter than or, not tighter than both") {
    CHECK(matches("x = 3 or x = 1 and lr = 9"));
    CHECK_FALSE(matches("(x = 3 or x = 1) and lr = 9"));
    CHECK(matches("not x = 1 and lr = 0.5"));
    CHECK(matches("not (x = 1 or lr = 9)"));
    CHECK(matches("not not x = 3"));
}

TEST_CASE("an absent value matches no comparison") {
    CHECK_FALSE(matches("missing = 1"));
    CHECK_FALSE(matches("missing != 1"));
    CHECK(matches("not missing = 1"));
    CHECK(matches("x != 1"));
    CHECK(matches("x != tiny"));
}

TEST_CASE("integers beyond the precision of floats compare exactly") {
    CHECK(*compare_values(Value(std::int64_t{9007199254740993}), Value(9007199254740992.0)) > 0);
    CHECK(*compare_values(Value(9007199254740992.0), Value(std::int64_t{9007199254740993})) < 0);
    CHECK(*compare_values(Value(-1), Value(-0.5)) < 0);
    CHECK(*compare_values(Value(std::int64_t{1}), Value(1e300)) < 0);
    CHECK_FALSE(compare_values(Value(1), Value(0.0 / 0.0 * 1)).has_value());
    CHECK_FALSE(compare_values(Value(1), Value("1")).has_value());
}

TEST_CASE("errors say where the text stops making sense") {
    CHECK(error_position("") == 0);
    CHECK(error_position("x") == 1);
    CHECK(error_position("x == 3") == 2);
    CHECK(error_position("x = ") == 4);
    CHECK(error_position("x = 3 y = 4") == 6);
    CHECK(error_position("(x = 3") == 6);
    CHECK(error_position("x in 3") == 5);
    CHECK(error_position("x in [1, ") == 9);
    CHECK(error_position("x in [1 2]") == 8);
    CHECK(error_position("x = 'open") == 4);
    CHECK(error_position("x. = 1") == 0);
    CHECK(error_position("and") == 3);
    CHECK(error_position(std::string(500, '(') + "x = 1") == 101);
    CHECK_THROWS_WITH(Expression::parse("x = 3 &"),
                      "expression, at character 7: expected 'and', 'or' or the end\n"
                      "  x = 3 &\n        ^");
}

TEST_CASE("a long chain needs no deep stack") {
    std::string text = "x = 3";
    for (int i = 0; i < 100'000; ++i)
        text += " and x = 3";
    CHECK(matches(text));
}
