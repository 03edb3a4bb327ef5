#include <tessera/campaign/step_compiler.hpp>
#include <tessera/campaign/step_encoding.hpp>

#include <algorithm>

namespace tessera {

namespace {

/// The canonical form of a placeholder's value.
void append_binding(const Binding& binding, bool as_argument, const PointContext& context, std::string& out) {
    const std::optional<Substitute>* prepared = nullptr;
    if (binding.source == Binding::Source::axis)
        prepared = &binding.by_code[(*context.codes)[binding.axis]];
    else if (binding.source == Binding::Source::fixed && !binding.by_code.empty())
        prepared = &binding.by_code.front();
    if (prepared != nullptr) {
        if (*prepared) out += as_argument ? (*prepared)->as_argument : (*prepared)->in_text;
        return;
    }
    const auto value = bound_value(binding, context);
    if (!value) return;
    if (as_argument)
        step_encoding::append_argument(out, *value);
    else
        step_encoding::append_piece(out, *value);
}

template <typename T, typename Read>
std::optional<T> read(const std::optional<CompiledResource>& resource, const PointContext& context,
                      Read&& reader) {
    if (!resource) return std::nullopt;
    const auto value = resource->value(context);
    return value ? reader(*value).value : std::nullopt;
}

} // namespace

void StepCompiler::append_meaning(const PointContext& context, std::string& out) const {
    for (const Segment& segment : segments_) {
        switch (segment.kind) {
        case Segment::Kind::constant:
            out += segment.bytes;
            break;
        case Segment::Kind::binding:
        case Segment::Kind::fields_by_code:
            append_binding(segment.binding, false, context, out);
            break;
        case Segment::Kind::argument:
            append_binding(segment.binding, true, context, out);
            break;
        case Segment::Kind::devices:
            if (const std::uint32_t count = devices(context); count != 0)
                step_encoding::append_field(out, "devices", Value(std::int64_t{count}));
            break;
        case Segment::Kind::executor:
            // A step that runs nothing has another meaning; which device runs it is the accelerator's name.
            if (executor(context) == "null") step_encoding::append_field(out, "executor", Value("null"));
            break;
        }
    }
}

void StepCompiler::append_repeat(const PointContext& context, std::string& out) const {
    if (!campaign_.steps.back().per_repeat) return;
    step_encoding::append_field(out, "repeat", Value(std::int64_t{context.repeat}));
    step_encoding::append_field(out, "seed", Value(static_cast<std::int64_t>(context.seed)));
}

PointContext StepCompiler::context(const std::vector<std::uint32_t>& codes, std::uint32_t repeat) const {
    return {&codes, repeat, derived_seed(campaign_.seed, repeat)};
}

StepSpec StepCompiler::resolve(const PointContext& context) const {
    const StepSource& step = campaign_.steps.back();
    StepSpec spec;
    spec.name = step.name;
    spec.executor = executor(context);
    spec.accelerator = accelerator(context);
    for (const CompiledText& argument : command_)
        argument.append_arguments(context, spec.argv);
    for (const auto& [name, value] : env_)
        spec.env.push_back({name, value.text(context)});
    if (stdin_) spec.stdin_text = stdin_->text(context);
    for (const CompiledText& glob : keep_)
        glob.append_arguments(context, spec.keep);
    spec.resources = resources(context);
    spec.timeout_s = timeout_s(context);
    spec.keep_attempts = campaign_.keep_attempts;
    spec.campaign_folder = campaign_.folder;
    if (step.per_repeat) {
        spec.repeat = context.repeat;
        spec.seed = context.seed;
    }
    return spec;
}

Resources StepCompiler::resources(const PointContext& context) const {
    Resources result;
    const auto count_from = [](std::uint32_t least) {
        return [least](const Value& value) { return read_count(value, least); };
    };
    result.cores = read<std::uint32_t>(resources_.cores, context, count_from(1)).value_or(result.cores);
    result.memory_bytes = read<std::uint64_t>(resources_.memory, context, read_memory_bytes).value_or(0);
    result.devices = devices(context);
    return result;
}

std::optional<double> StepCompiler::timeout_s(const PointContext& context) const {
    return read<double>(resources_.timeout, context, read_timeout_s);
}

std::uint32_t StepCompiler::devices(const PointContext& context) const {
    const auto count = [](const Value& value) { return read_count(value, 0); };
    return read<std::uint32_t>(resources_.devices, context, count).value_or(default_devices(context));
}

std::uint32_t StepCompiler::default_devices(const PointContext& context) const {
    const std::string& name = executor(context);
    return name == "cuda" || name == "gaudi" ? 1 : 0;
}

const std::string& StepCompiler::executor(const PointContext& context) const {
    if (accelerator_axis_ == matrix_.axes().size()) return executor_by_code_.front();
    return executor_by_code_[(*context.codes)[accelerator_axis_]];
}

std::string StepCompiler::accelerator(const PointContext& context) const {
    if (accelerator_axis_ == matrix_.axes().size()) return {};
    const std::uint32_t code = (*context.codes)[accelerator_axis_];
    return code == 0 ? std::string() : matrix_.axes()[accelerator_axis_].values[code - 1].value.display();
}

void StepCompiler::check_resources(const PointContext& context, Problems& problems) const {
    const auto check = [&](const std::optional<CompiledResource>& resource, auto&& reader) {
        if (!resource) return;
        const auto value = resource->value(context);
        if (!value) return;
        const std::string problem = reader(*value).problem;
        if (!problem.empty()) problems.add(resource->place(), resource->what() + " " + problem);
    };
    check(resources_.devices, [](const Value& value) { return read_count(value, 0); });
    check(resources_.cores, [](const Value& value) { return read_count(value, 1); });
    check(resources_.memory, read_memory_bytes);
    check(resources_.timeout, read_timeout_s);
}

std::vector<std::size_t> StepCompiler::resource_axes() const {
    std::vector<std::size_t> axes;
    for (const auto* resource :
         {&resources_.devices, &resources_.cores, &resources_.memory, &resources_.timeout}) {
        if (!*resource) continue;
        for (const std::size_t axis : (*resource)->axes())
            if (std::find(axes.begin(), axes.end(), axis) == axes.end()) axes.push_back(axis);
    }
    return axes;
}

} // namespace tessera
