#pragma once

#include <tessera/base/error.hpp>
#include <tessera/base/value.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

/// The language of `--where` (and `--select`, `--rerun`, `invalidate`):
///
///     expression = term { ("and" | "or") term }         "and" binds tighter than "or"
///     term       = "not" term | "(" expression ")" | NAME[.FIELD] comparison
///     comparison = ("=" | "!=" | "<" | "<=" | ">" | ">=" | "~") literal | "in" "[" literal { "," literal }
///     "]"
///
/// A bare word is a string, or a number or boolean where the value it meets is one; text in single or double
/// quotes is a string only. `~` matches a glob with `*` and `?`. An absent value matches no comparison, not
/// even `!=`.

/// Text that does not follow the grammar. `position` is the byte in the text where it stops making sense; the
/// message shows it.
class ExpressionError : public UserError {
public:
    ExpressionError(std::string_view text, std::size_t position, const std::string& what);

    std::size_t position;
};

/// What stands left of an operator: an axis, a metric or a column, and what follows its first dot.
struct Reference {
    std::string name;
    std::string field; ///< empty if there is none
    std::size_t position = 0;

    /// As it was written; metrics may hold dots.
    std::string text() const { return field.empty() ? name : name + "." + field; }
};

/// What stands right of an operator.
struct Literal {
    std::string text;
    std::optional<Value> typed; ///< its reading as a number or boolean, if it is a bare word that has one
};

struct Comparison {
    enum class Operator : std::uint8_t {
        equal,
        not_equal,
        less,
        less_equal,
        greater,
        greater_equal,
        glob,
        in
    };

    Reference reference;
    Operator op = Operator::equal;
    std::vector<Literal> literals; ///< exactly one unless `op` is `in`

    bool holds(const std::optional<Value>& value) const;
};

class Expression {
public:
    using Lookup = std::function<std::optional<Value>(const Reference&)>;

    /// Throws ExpressionError.
    static Expression parse(std::string_view text);

    /// True if the values that `lookup` gives satisfy the expression.
    bool matches(const Lookup& lookup) const;

    /// The comparisons in the order of writing. For columns of codes: find out once per code where a
    /// comparison holds, then combine() per row.
    const std::vector<Comparison>& comparisons() const { return comparisons_; }

    /// The value of the whole, given which comparisons (by index) hold.
    bool combine(const std::function<bool(std::size_t)>& holds) const;

private:
    friend class ExpressionParser;

    enum class Code : std::uint8_t { test, negate, both, either };

    struct Instruction {
        Code code;
        std::size_t comparison = 0; ///< of `test`
    };

    std::vector<Comparison> comparisons_;
    std::vector<Instruction> program_; ///< postfix
};

/// Orders two values as `<` of an expression does: numbers with numbers of either type, strings with strings;
/// empty otherwise and where a NaN takes part.
std::optional<std::partial_ordering> compare_values(const Value& left, const Value& right);

/// The number or boolean that a bare word reads as, if any.
std::optional<Value> parse_bare_word(std::string_view word);

} // namespace tessera
