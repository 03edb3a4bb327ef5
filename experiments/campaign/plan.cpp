#include <tessera/base/text.hpp>
#include <tessera/campaign/plan.hpp>
#include <tessera/campaign/plan_builder.hpp>
#include <tessera/campaign/step_compiler.hpp>

#include <nlohmann/json.hpp>

namespace tessera {

Plan::Plan(std::unique_ptr<const StepCompiler> compiler)
    : compiler_(std::move(compiler))
    , repeats_(compiler_->campaign().repeats) {}

Plan::Plan(Plan&&) noexcept = default;
Plan& Plan::operator=(Plan&&) noexcept = default;
Plan::~Plan() = default;

Plan Plan::make(Campaign campaign) {
    const std::string path = campaign.path;
    Problems problems(path);
    Problems warnings(path);
    auto compiler = std::make_unique<const StepCompiler>(std::move(campaign), problems, warnings);
    if (compiler->is_complete()) check_all_resources(*compiler, problems);
    problems.throw_if_any();

    Plan plan(std::move(compiler));
    PlanBuilder(plan, *plan.compiler_).build(problems);
    problems.throw_if_any();
    plan.warnings_ = warnings.sorted();
    return plan;
}

const Campaign& Plan::campaign() const {
    return compiler_->campaign();
}

const Matrix& Plan::matrix() const {
    return compiler_->matrix();
}

std::vector<std::uint32_t> Plan::codes(CellIndex cell) const {
    std::vector<std::uint32_t> codes;
    matrix().codes(cell / repeats_, codes);
    return codes;
}

std::span<const StepIndex> Plan::other_steps(CellIndex) const {
    return {};
}

std::span<const StepIndex> Plan::needs(StepIndex) const {
    return {};
}

std::span<const CellIndex> Plan::cells_of(StepIndex step) const {
    return std::span(cells_by_step_)
        .subspan(first_of_step_[step], first_of_step_[step + 1] - first_of_step_[step]);
}

StepSpec Plan::resolve(StepIndex step) const {
    const CellIndex cell = first_cell(step);
    const auto codes = this->codes(cell);
    StepSpec spec = compiler_->resolve(compiler_->context(codes, repeat(cell)));
    const bool shared = cells_of(step).size() > 1;
    if (!shared) spec.cell = cell_id(cell).hex();
    spec.axes_json = axes_of(cell, !shared).dump();
    return spec;
}

Resources Plan::resources(StepIndex step) const {
    const auto codes = this->codes(first_cell(step));
    return compiler_->resources(compiler_->context(codes, 0));
}

std::optional<double> Plan::timeout_s(StepIndex step) const {
    const auto codes = this->codes(first_cell(step));
    return compiler_->timeout_s(compiler_->context(codes, 0));
}

std::string Plan::executor(StepIndex step) const {
    const auto codes = this->codes(first_cell(step));
    return compiler_->executor(compiler_->context(codes, 0));
}

std::string Plan::accelerator(StepIndex step) const {
    const auto codes = this->codes(first_cell(step));
    return compiler_->accelerator(compiler_->context(codes, 0));
}

const RetryPolicy& Plan::retry(StepIndex) const {
    return campaign().retry;
}

std::string Plan::axes_json(CellIndex cell) const {
    return axes_of(cell, true).dump();
}

nlohmann::json Plan::axes_of(CellIndex cell, bool with_labels) const {
    auto json = nlohmann::json::object();
    for (std::size_t i = 0; i < matrix().axes().size(); ++i) {
        const Axis& axis = matrix().axes()[i];
        const std::uint32_t code = this->code(cell, i);
        if (code == 0 || (axis.label && !with_labels)) continue;
        const AxisValue& value = axis.values[code - 1];
        json[axis.name] = value.value.to_json();
        for (const Definition::Field& field : value.definition.fields)
            json[axis.name + "." + field.name] =
                field_value(campaign(), field.name, field.value.value).to_json();
    }
    return json;
}

std::optional<CellIndex> Plan::find_cell(std::string_view id_prefix) const {
    std::optional<CellIndex> found;
    const std::string prefix = to_lower(id_prefix);
    for (CellIndex cell = 0; cell < cell_count(); ++cell) {
        if (!cell_ids_[cell].hex().starts_with(prefix)) continue;
        if (found) return std::nullopt;
        found = cell;
    }
    return found;
}

} // namespace tessera
