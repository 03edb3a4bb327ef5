#include <tessera/base/text.hpp>
#include <tessera/campaign/expression.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace tessera {

ExpressionError::ExpressionError(std::string_view text, std::size_t at, const std::string& what)
    : UserError(
          fmt::format("expression, at character {}: {}\n  {}\n  {:>{}}", at + 1, what, text, '^', at + 1))
    , position(at) {}

namespace {

using Operator = Comparison::Operator;

bool both_nan(const Value& left, const Value& right) {
    const auto* a = left.get_if<double>();
    const auto* b = right.get_if<double>();
    return a != nullptr && b != nullptr && std::isnan(*a) && std::isnan(*b);
}

std::partial_ordering compare_integer_with_float(std::int64_t integer, double number) {
    // Beyond 2^63 the sign decides; below it the conversion of the float's whole part is exact.
    if (std::isnan(number)) return std::partial_ordering::unordered;
    if (number >= 0x1p63) return std::partial_ordering::less;
    if (number < -0x1p63) return std::partial_ordering::greater;
    const double whole = std::trunc(number);
    const auto order = integer <=> static_cast<std::int64_t>(whole);
    if (order != 0) return order;
    return whole == number ? std::partial_ordering::equivalent : 0.0 <=> number - whole;
}

/// How a value stands to a literal. A literal with quotes, or a value that is a string, is compared as text.
std::optional<std::partial_ordering> compare(const Value& value, const Literal& literal) {
    if (value.is<std::string>()) return compare_values(value, Value(literal.text));
    if (literal.typed) return compare_values(value, *literal.typed);
    return std::nullopt;
}

bool equal(const Value& value, const Literal& literal) {
    if (literal.typed && (value == *literal.typed || both_nan(value, *literal.typed))) return true;
    if (value.is<Value::Array>() || value.is<Value::Table>()) return value.display() == literal.text;
    const auto order = compare(value, literal);
    return order && *order == 0;
}

} // namespace

std::optional<std::partial_ordering> compare_values(const Value& left, const Value& right) {
    if (const auto* a = left.get_if<std::string>()) {
        const auto* b = right.get_if<std::string>();
        return b ? std::optional<std::partial_ordering>(a->compare(*b) <=> 0) : std::nullopt;
    }
    std::optional<std::partial_ordering> order;
    if (const auto* a = left.get_if<std::int64_t>()) {
        if (const auto* b = right.get_if<std::int64_t>())
            order = *a <=> *b;
        else if (const auto* c = right.get_if<double>())
            order = compare_integer_with_float(*a, *c);
    } else if (const auto* d = left.get_if<double>()) {
        if (const auto* b = right.get_if<std::int64_t>())
            order = 0 <=> compare_integer_with_float(*b, *d);
        else if (const auto* c = right.get_if<double>())
            order = *d <=> *c;
    }
    if (order == std::partial_ordering::unordered) return std::nullopt;
    return order;
}

std::optional<Value> parse_bare_word(std::string_view word) {
    if (word == "true") return Value(true);
    if (word == "false") return Value(false);
    if (word.starts_with('+')) word.remove_prefix(1);
    std::int64_t integer = 0;
    const char* const end = word.data() + word.size();
    if (const auto [stop, error] = std::from_chars(word.data(), end, integer);
        error == std::errc{} && stop == end)
        return Value(integer);
    double number = 0;
    if (const auto [stop, error] = std::from_chars(word.data(), end, number);
        error == std::errc{} && stop == end)
        return Value(number);
    return std::nullopt;
}

bool Comparison::holds(const std::optional<Value>& value) const {
    if (!value) return false;
    if (op == Operator::in)
        return std::any_of(literals.begin(), literals.end(),
                           [&](const Literal& l) { return equal(*value, l); });
    const Literal& literal = literals.front();
    if (op == Operator::equal) return equal(*value, literal);
    if (op == Operator::not_equal) return !equal(*value, literal);
    if (op == Operator::glob) return glob_match(literal.text, value->display());
    const auto order = compare(*value, literal);
    if (!order) return false;
    switch (op) {
    case Operator::less:
        return *order < 0;
    case Operator::less_equal:
        return *order <= 0;
    case Operator::greater:
        return *order > 0;
    default:
        return *order >= 0;
    }
}

bool Expression::combine(const std::function<bool(std::size_t)>& holds) const {
    std::vector<bool> stack;
    const auto pop = [&] {
        const bool top = stack.back();
        stack.pop_back();
        return top;
    };
    for (const Instruction& step : program_) {
        if (step.code == Code::test) {
            stack.push_back(holds(step.comparison));
        } else if (step.code == Code::negate) {
            stack.back() = !stack.back();
        } else {
            const bool right = pop();
            const bool left = pop();
            stack.push_back(step.code == Code::both ? left && right : left || right);
        }
    }
    return stack.back();
}

bool Expression::matches(const Lookup& lookup) const {
    return combine([&](std::size_t i) { return comparisons_[i].holds(lookup(comparisons_[i].reference)); });
}

} // namespace tessera
