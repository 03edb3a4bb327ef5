#include <tessera/campaign/expression.hpp>
#include <tessera/store/cell_filter.hpp>

#include <algorithm>

namespace tessera {

namespace {

constexpr std::size_t shortest_id_digits = 6;

bool is_short_id(const std::string& text) {
    return text.size() >= shortest_id_digits &&
           text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

/// = and != and in, with ids cut to the length that the user wrote.
bool id_holds(const Comparison& comparison, const std::string& id) {
    using Operator = Comparison::Operator;
    const Operator op = comparison.op;
    if (op != Operator::equal && op != Operator::not_equal && op != Operator::in)
        return comparison.holds(Value(id));
    const bool equal =
        std::any_of(comparison.literals.begin(), comparison.literals.end(), [&](const Literal& literal) {
            return is_short_id(literal.text) ? id.starts_with(literal.text) : id == literal.text;
        });
    return equal != (op == Operator::not_equal);
}

/// One comparison over the cells.
class Test {
public:
    Test(const Comparison& comparison, CellColumn column, bool on_id)
        : comparison_(&comparison)
        , column_(std::move(column))
        , on_id_(on_id) {
        for (const auto& value : column_.dictionary)
            holds_for_code_.push_back(comparison.holds(value));
    }

    bool holds(std::uint32_t cell) const {
        if (column_.coded()) return holds_for_code_[column_.code(cell)];
        const auto value = column_.compute(cell);
        if (on_id_) return id_holds(*comparison_, *value->get_if<std::string>());
        return comparison_->holds(value);
    }

private:
    const Comparison* comparison_;
    CellColumn column_;
    bool on_id_;
    std::vector<bool> holds_for_code_;
};

} // namespace

Column<std::uint32_t> filter_cells(const CellColumns& columns, const Column<std::uint32_t>& cells,
                                   const std::string& where) {
    const Expression expression = Expression::parse(where);
    std::vector<Test> tests;
    for (const Comparison& comparison : expression.comparisons()) {
        const std::string name = comparison.reference.text();
        tests.emplace_back(comparison, columns.find(name, "--where", true), name == "cell");
    }
    Column<std::uint32_t> kept;
    for (const std::uint32_t cell : cells)
        if (expression.combine([&](std::size_t i) { return tests[i].holds(cell); })) kept.push_back(cell);
    return kept;
}

} // namespace tessera
