#include <tessera/base/sha256.hpp>
#include <tessera/campaign/campaign_parser.hpp>
#include <tessera/campaign/plan_builder.hpp>
#include <tessera/campaign/step_encoding.hpp>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

namespace tessera {

namespace {

constexpr std::uint64_t max_memo = 1U << 24U;

std::string_view bytes_of(const Id128& id) {
    return {reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size()};
}

/// True if every axis of `smaller` is in `larger`; both ascending.
bool within(const std::vector<std::size_t>& smaller, const std::vector<std::size_t>& larger) {
    return std::includes(larger.begin(), larger.end(), smaller.begin(), smaller.end());
}

} // namespace

PlanBuilder::PlanBuilder(Plan& plan, const StepCompiler& compiler)
    : plan_(&plan)
    , compiler_(&compiler) {
    const auto& axes = compiler.matrix().axes();
    axes_by_name_.resize(axes.size());
    std::iota(axes_by_name_.begin(), axes_by_name_.end(), std::size_t{0});
    std::sort(axes_by_name_.begin(), axes_by_name_.end(),
              [&](std::size_t a, std::size_t b) { return axes[a].name < axes[b].name; });
    for (std::uint32_t repeat = 0; repeat < plan.repeats_; ++repeat)
        repeats_.push_back(compiler.context(codes_, repeat));
    prepare_cell_fragments();
}

void PlanBuilder::prepare_cell_fragments() {
    for (const Axis& axis : compiler_->matrix().axes()) {
        std::vector<std::string> fragments(axis.values.size() + 1);
        for (std::uint32_t code = 1; code < fragments.size(); ++code)
            if (code != axis.default_code && !axis.machine)
                step_encoding::append_field(fragments[code], axis.name, axis.values[code - 1].value);
        cell_fragments_.push_back(std::move(fragments));
    }
}

void PlanBuilder::build(Problems& problems) {
    const std::size_t cells = std::size_t{compiler_->matrix().point_count()} * plan_->repeats_;
    plan_->cell_ids_.reserve(cells);
    plan_->last_steps_.reserve(cells);
    plan_->steps_.reserve(cells);
    for (PointIndex point = 0; point < compiler_->matrix().point_count(); ++point)
        add_point(point);
    report_conflicts(problems);
    if (!problems.empty()) return;
    group_cells_by_step();
    make_digest();
}

void PlanBuilder::add_point(PointIndex point) {
    compiler_->matrix().codes(point, codes_);
    cell_meaning_.assign(step_encoding::cell_version);
    cell_meaning_ += step_encoding::end_mark;
    const std::size_t key_at = cell_meaning_.size();
    cell_meaning_.append(sizeof(Id128), '\0');
    for (const std::size_t axis : axes_by_name_)
        cell_meaning_ += cell_fragments_[axis][codes_[axis]];
    const std::size_t cell_base = cell_meaning_.size();

    meaning_.clear();
    compiler_->append_meaning(repeats_.front(), meaning_);
    const std::size_t step_base = meaning_.size();
    Sha256 sha;
    for (const PointContext& context : repeats_) {
        if (compiler_->meaning_depends_on_repeat()) {
            meaning_.clear();
            compiler_->append_meaning(context, meaning_);
        } else {
            meaning_.resize(step_base);
        }
        compiler_->append_repeat(context, meaning_);
        const auto [step, is_new] = plan_->steps_.insert(sha.update(meaning_).finish_id());
        if (is_new)
            plan_->cells_by_step_.push_back(plan_->cell_count());
        else
            note_conflict(plan_->cells_by_step_[step] / plan_->repeats_, point);

        cell_meaning_.resize(cell_base);
        cell_meaning_.replace(key_at, sizeof(Id128), bytes_of(plan_->step_key(step)));
        step_encoding::append_field(cell_meaning_, "repeat", Value(std::int64_t{context.repeat}));
        plan_->cell_ids_.push_back(sha.update(cell_meaning_).finish_id());
        plan_->last_steps_.push_back(step);
    }
}

void PlanBuilder::note_conflict(PointIndex first, PointIndex second) {
    if (first == second) return;
    const Matrix& matrix = compiler_->matrix();
    std::vector<std::size_t> differing;
    for (std::size_t axis = 0; axis < matrix.axes().size(); ++axis)
        if (!matrix.axes()[axis].label && matrix.code(first, axis) != codes_[axis]) differing.push_back(axis);
    if (differing.empty()) return;
    Conflict& conflict = conflicts_[std::move(differing)];
    if (conflict.count++ == 0) {
        conflict.first = first;
        conflict.second = second;
    }
}

void PlanBuilder::report_conflicts(Problems& problems) const {
    const auto& axes = compiler_->matrix().axes();
    for (const auto& [differing, conflict] : conflicts_) {
        const bool explained =
            std::any_of(conflicts_.begin(), conflicts_.end(), [&, &set = differing](const auto& other) {
                return other.first.size() < set.size() && within(other.first, set);
            });
        if (explained) continue;
        std::vector<std::string> names;
        for (const std::size_t axis : differing)
            names.push_back(fmt::format("'{}'", axes[axis].name));
        const bool one = names.size() == 1;
        problems.add(
            axes[differing.front()].place,
            fmt::format("{} {} {} nothing: the cells {{{}}} and {{{}}} would run the same step and share its "
                        "result; use {} in the command, stdin or environment, or list {} in campaign.labels",
                        one ? "axis" : "axes", fmt::join(names, ", "), one ? "changes" : "together change",
                        describe(conflict.first), describe(conflict.second), one ? "it" : "them",
                        one ? "it" : "them"));
    }
}

std::string PlanBuilder::describe(PointIndex point) const {
    std::vector<std::string> parts;
    const auto& axes = compiler_->matrix().axes();
    for (std::size_t axis = 0; axis < axes.size(); ++axis)
        if (const std::uint32_t code = compiler_->matrix().code(point, axis); code != 0)
            parts.push_back(
                fmt::format("{} = {}", axes[axis].name, quoted(axes[axis].values[code - 1].value)));
    return fmt::format("{}", fmt::join(parts, ", "));
}

/// Counting sort of the cells by their step.
void PlanBuilder::group_cells_by_step() {
    const CellIndex cells = plan_->cell_count();
    auto& first = plan_->first_of_step_;
    first.assign(std::size_t{plan_->step_count()} + 1, 0);
    for (CellIndex cell = 0; cell < cells; ++cell)
        ++first[plan_->last_steps_[cell] + 1];
    std::partial_sum(first.begin(), first.end(), first.begin());
    plan_->cells_by_step_.resize(cells);
    std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
    for (CellIndex cell = 0; cell < cells; ++cell)
        plan_->cells_by_step_[next[plan_->last_steps_[cell]]++] = cell;
}

void PlanBuilder::make_digest() {
    Value::Array axes;
    for (const Axis& axis : compiler_->matrix().axes()) {
        Value::Array values;
        for (const AxisValue& value : axis.values) {
            Value::Table fields;
            for (const Definition::Field& field : value.definition.fields)
                fields.emplace(field.name, field.value.value);
            Value::Array pair;
            pair.push_back(value.value);
            pair.emplace_back(std::move(fields));
            values.emplace_back(std::move(pair));
        }
        axes.push_back(Value(Value::Array{Value(axis.name), Value(std::move(values))}));
    }
    Sha256 sha;
    sha.update("tessera campaign 1\n").update(Value(compiler_->campaign().name).canonical());
    sha.update(Value(std::move(axes)).canonical());
    for (const CellId& id : plan_->cell_ids_)
        sha.update(bytes_of(id));
    plan_->digest_ = sha.finish_id();
}

void check_all_resources(const StepCompiler& compiler, Problems& problems) {
    const Matrix& matrix = compiler.matrix();
    const std::vector<std::size_t> axes = compiler.resource_axes();
    std::uint64_t combinations = 1;
    for (const std::size_t axis : axes)
        combinations = std::min(max_memo + 1, combinations * (matrix.axes()[axis].values.size() + 1));
    std::vector<bool> checked(combinations <= max_memo ? combinations : 0, false);
    std::vector<std::uint32_t> codes;
    for (PointIndex point = 0; point < matrix.point_count(); ++point) {
        std::uint64_t combination = 0;
        for (const std::size_t axis : axes)
            combination = combination * (matrix.axes()[axis].values.size() + 1) + matrix.code(point, axis);
        if (!checked.empty() && checked[combination]) continue;
        if (!checked.empty()) checked[combination] = true;
        matrix.codes(point, codes);
        compiler.check_resources(compiler.context(codes, 0), problems);
        if (axes.empty()) return;
    }
}

} // namespace tessera
