#include <tessera/campaign/expression.hpp>

#include <fmt/core.h>

#include <array>
#include <utility>

namespace tessera {

namespace {

constexpr std::size_t max_depth = 100;
constexpr std::string_view special = "=!<>~()[],\"'";

bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool is_word(char c) {
    return !is_space(c) && special.find(c) == std::string_view::npos;
}

} // namespace

/// Recursive descent straight from the text; the result is a postfix program.
class ExpressionParser {
public:
    explicit ExpressionParser(std::string_view text)
        : text_(text) {}

    Expression parse() {
        any_of(0);
        skip_spaces();
        if (at_ != text_.size()) fail(at_, "expected 'and', 'or' or the end");
        return std::move(result_);
    }

private:
    using Operator = Comparison::Operator;
    using Code = Expression::Code;

    [[noreturn]] void fail(std::size_t position, const std::string& what) const {
        throw ExpressionError(text_, position, what);
    }

    void any_of(std::size_t depth) {
        all_of(depth);
        while (keyword("or")) {
            all_of(depth);
            result_.program_.push_back({Code::either});
        }
    }

    void all_of(std::size_t depth) {
        term(depth);
        while (keyword("and")) {
            term(depth);
            result_.program_.push_back({Code::both});
        }
    }

    void term(std::size_t depth) {
        if (depth > max_depth) fail(at_, "nested too deeply");
        if (keyword("not")) {
            term(depth + 1);
            result_.program_.push_back({Code::negate});
        } else if (symbol("(")) {
            any_of(depth + 1);
            if (!symbol(")")) fail(at_, "expected ')'");
        } else {
            comparison();
        }
    }

    void comparison() {
        Comparison parsed;
        parsed.reference = reference();
        parsed.op = comparison_operator(parsed.reference);
        if (parsed.op == Operator::in)
            parsed.literals = literal_list();
        else
            parsed.literals.push_back(literal());
        result_.program_.push_back({Code::test, result_.comparisons_.size()});
        result_.comparisons_.push_back(std::move(parsed));
    }

    Reference reference() {
        skip_spaces();
        const std::size_t start = at_;
        if (at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'')) return {quoted(), "", start};
        const std::string_view word = bare();
        if (word.empty()) fail(start, "expected a name, 'not' or '('");
        const std::size_t dot = word.find('.');
        if (dot == 0 || dot == word.size() - 1) fail(start, fmt::format("'{}' is not a name", word));
        if (dot == std::string_view::npos) return {std::string(word), "", start};
        return {std::string(word.substr(0, dot)), std::string(word.substr(dot + 1)), start};
    }

    Operator comparison_operator(const Reference& after) {
        static constexpr std::array<std::pair<std::string_view, Operator>, 7> symbols{{
            {"!=", Operator::not_equal},
            {"<=", Operator::less_equal},
            {">=", Operator::greater_equal},
            {"<", Operator::less},
            {">", Operator::greater},
            {"~", Operator::glob},
            {"=", Operator::equal},
        }};
        if (keyword("in")) return Operator::in;
        const std::size_t start = at_;
        for (const auto& [spelling, op] : symbols) {
            if (!symbol(spelling)) continue;
            if (op == Operator::equal && text_.substr(start).starts_with("=="))
                fail(start, "equality is written '='");
            return op;
        }
        fail(start, fmt::format("expected a comparison (= != < <= > >= ~ in) after '{}'", after.text()));
    }

    std::vector<Literal> literal_list() {
        std::vector<Literal> literals;
        if (!symbol("[")) fail(at_, "expected '[' after 'in'");
        do
            literals.push_back(literal());
        while (symbol(","));
        if (!symbol("]")) fail(at_, "expected ',' or ']'");
        return literals;
    }

    Literal literal() {
        skip_spaces();
        if (at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'')) return {quoted(), std::nullopt};
        const std::size_t start = at_;
        const std::string_view word = bare();
        if (word.empty()) fail(start, "expected a value");
        return {std::string(word), parse_bare_word(word)};
    }

    std::string quoted() {
        const std::size_t start = at_;
        const std::size_t end = text_.find(text_[start], start + 1);
        if (end == std::string_view::npos) fail(start, "this quote is never closed");
        at_ = end + 1;
        return std::string(text_.substr(start + 1, end - start - 1));
    }

    std::string_view bare() {
        const std::size_t start = at_;
        while (at_ < text_.size() && is_word(text_[at_]))
            ++at_;
        return text_.substr(start, at_ - start);
    }

    bool symbol(std::string_view wanted) {
        skip_spaces();
        if (!text_.substr(at_).starts_with(wanted)) return false;
        at_ += wanted.size();
        return true;
    }

    bool keyword(std::string_view wanted) {
        skip_spaces();
        const std::size_t start = at_;
        if (bare() == wanted) return true;
        at_ = start;
        return false;
    }

    void skip_spaces() {
        while (at_ < text_.size() && is_space(text_[at_]))
            ++at_;
    }

    std::string_view text_;
    std::size_t at_ = 0;
    Expression result_;
};

Expression Expression::parse(std::string_view text) {
    return ExpressionParser(text).parse();
}

} // namespace tessera
