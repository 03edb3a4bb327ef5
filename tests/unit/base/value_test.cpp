#include <tessera/base/value.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>

using namespace tessera;

TEST_CASE("1, 1.0, \"1\" and true are four values") {
    CHECK(Value(1) != Value(1.0));
    CHECK(Value(1) != Value("1"));
    CHECK(Value(1) != Value(true));
    CHECK(Value(1).canonical() != Value(1.0).canonical());
    CHECK(Value(1).canonical() != Value("1").canonical());
    CHECK(Value(Value::Array{1, 2}).canonical() !=
          Value(Value::Array{Value(Value::Array{1}), 2}).canonical());
    CHECK(Value(Value::Array{"ab", "c"}).canonical() != Value(Value::Array{"a", "bc"}).canonical());
    CHECK(Value(0.0).canonical() != Value(-0.0).canonical());
}

TEST_CASE("substitution writes numbers in their shortest form") {
    CHECK(Value(7).display() == "7");
    CHECK(Value(1.0).display() == "1.0");
    CHECK(Value(0.3).display() == "0.3");
    CHECK(Value(3e-5).display() == "3e-05");
    CHECK(Value(true).display() == "true");
    CHECK(Value("a b").display() == "a b");
    CHECK(Value(Value::Array{16, 8, 4}).display() == "16,8,4");
    CHECK(Value(Value::Table{{"a", 1}}).display() == "{\"a\":1}");
}

TEST_CASE("values pass through JSON with their types; NaN becomes a string") {
    const Value value(
        Value::Table{{"i", 1}, {"f", 2.5}, {"s", "x"}, {"b", false}, {"l", Value::Array{1, "y"}}});
    CHECK(Value::from_json(value.to_json()) == value);
    CHECK(Value(std::numeric_limits<double>::quiet_NaN()).to_json() == "NaN");
    CHECK(Value(-std::numeric_limits<double>::infinity()).to_json() == "-Infinity");
}
