#include <tessera/campaign/campaign_parser.hpp>
#include <tessera/campaign/step_compiler.hpp>
#include <tessera/campaign/step_encoding.hpp>

#include <fmt/core.h>

#include <algorithm>

namespace tessera {

namespace {

bool holds_nul(const CompiledText& text) {
    const auto has_nul = [](std::string_view bytes) { return bytes.find('\0') != std::string_view::npos; };
    for (const CompiledText::Piece& piece : text.pieces()) {
        if (has_nul(piece.text)) return true;
        if (!piece.binding) continue;
        for (const auto& substitute : piece.binding->by_code)
            if (substitute && has_nul(substitute->value.display())) return true;
    }
    return false;
}

bool is_zeros(std::string_view text) {
    return text.find_first_not_of('0') == std::string_view::npos;
}

} // namespace

StepCompiler::StepCompiler(Campaign campaign, Problems& problems, Problems& warnings)
    : campaign_(std::move(campaign))
    , matrix_(campaign_, problems, warnings) {
    // Whatever else is wrong with the matrix: what its cells say is checked too, so that one look shows
    // everything.
    if (matrix_.point_count() > 0) compile(problems, warnings);
}

void StepCompiler::compile(Problems& problems, Problems& warnings) {
    const SeenCodes seen = find_seen_codes(matrix_);
    Binder binder(campaign_, matrix_, seen, problems);
    accelerator_axis_ = matrix_.find_axis("accelerator");
    find_executors();
    compile_texts(binder, problems);
    compile_resources(binder, problems);
    check_arguments(seen, problems);

    // Fields in alphabetical order; those that only some campaigns have are left out where absent, so that a
    // new one renames nothing.
    add_constant(std::string(step_encoding::version) + step_encoding::end_mark);
    add_accelerator();
    const auto open = [&](std::string_view name) {
        add_constant(std::string(name) + step_encoding::end_mark);
    };
    const std::string close(1, step_encoding::close_mark);
    open("command");
    for (const CompiledText& argument : command_)
        add_text(argument);
    add_constant(close);
    segments_.push_back({Segment::Kind::devices, {}, {}});
    if (!env_.empty()) {
        open("env");
        for (const auto& [name, value] : env_) {
            std::string escaped;
            step_encoding::append_text(escaped, name);
            open(escaped);
            add_text(value);
        }
        add_constant(close);
    }
    segments_.push_back({Segment::Kind::executor, {}, {}});
    add_models(binder, seen, warnings);
    if (stdin_) {
        open("stdin");
        add_text(*stdin_);
        add_constant(close);
    }
}

void StepCompiler::compile_texts(Binder& binder, Problems& problems) {
    const StepSource& step = campaign_.steps.back();
    for (const TextTemplate& argument : step.command)
        command_.emplace_back(argument, binder);
    for (const auto& [name, value] : step.env)
        env_.emplace_back(name, CompiledText(value, binder));
    if (step.stdin_text) stdin_.emplace(*step.stdin_text, binder);
    for (const TextTemplate& glob : step.keep)
        keep_.emplace_back(glob, binder);

    const auto note = [&](const CompiledText& text, bool nul_allowed) {
        depends_on_repeat_ = depends_on_repeat_ || text.depends_on_repeat();
        if (!nul_allowed && holds_nul(text))
            problems.add(text.source().place,
                         text.source().what + " holds a NUL character, which no process can be given");
    };
    for (const CompiledText& argument : command_)
        note(argument, false);
    for (const auto& [name, value] : env_)
        note(value, false);
    if (stdin_) note(*stdin_, true);
}

void StepCompiler::compile_resources(Binder& binder, Problems& problems) {
    const ResourcesSource& source = campaign_.steps.back().resources;
    const auto compile = [&](const std::optional<ResourceSource>& from, std::optional<CompiledResource>& to) {
        if (from) to.emplace(*from, binder, problems);
    };
    compile(source.devices, resources_.devices);
    compile(source.cores, resources_.cores);
    compile(source.memory, resources_.memory);
    compile(source.timeout, resources_.timeout);
}

/// The program's name must not be empty for any value of the axis that gives it.
void StepCompiler::check_arguments(const SeenCodes& seen, Problems& problems) const {
    if (command_.empty() || command_.front().pieces().size() > 1) return;
    const CompiledText& program = command_.front();
    const auto report = [&](const std::string& why) {
        problems.add(program.source().place,
                     program.source().what + " names the program, but is empty" + why);
    };
    if (program.pieces().empty()) return report("");
    const auto& binding = program.pieces().front().binding;
    if (!binding || binding->source != Binding::Source::axis) return;
    const Axis& axis = matrix_.axes()[binding->axis];
    for (std::uint32_t code = 1; code < seen[binding->axis].size(); ++code) {
        const auto& substitute = binding->by_code[code];
        if (!seen[binding->axis][code] || !substitute) continue;
        const auto* list = substitute->value.get_if<Value::Array>();
        const bool empty = list != nullptr && !list->empty() ? list->front().display().empty()
                                                             : substitute->value.display().empty();
        if (empty) report(fmt::format(" where {} = {}", axis.name, quoted(axis.values[code - 1].value)));
    }
}

void StepCompiler::find_executors() {
    const auto& fixed = campaign_.steps.back().executor;
    const std::string common = fixed ? fixed->value.display() : "cpu";
    executor_by_code_.push_back(common);
    if (accelerator_axis_ == matrix_.axes().size()) return;
    for (const AxisValue& value : matrix_.axes()[accelerator_axis_].values) {
        const PlacedValue* own = value.definition.find("executor");
        executor_by_code_.push_back(own != nullptr && !fixed ? own->value.display() : common);
    }
}

void StepCompiler::add_accelerator() {
    if (accelerator_axis_ == matrix_.axes().size()) return;
    const Axis& axis = matrix_.axes()[accelerator_axis_];
    Segment segment{
        Segment::Kind::fields_by_code, {}, {Binding::Source::axis, accelerator_axis_, {std::nullopt}}};
    for (const AxisValue& value : axis.values) {
        Substitute field;
        step_encoding::append_field(field.in_text, "accelerator", value.value);
        segment.binding.by_code.emplace_back(std::move(field));
    }
    segments_.push_back(std::move(segment));
}

void StepCompiler::add_models(Binder& binder, const SeenCodes& seen, Problems& warnings) {
    const std::size_t index = matrix_.find_axis("model");
    if (index == matrix_.axes().size()) return;
    const Axis& axis = matrix_.axes()[index];
    Segment segment{Segment::Kind::fields_by_code, {}, {Binding::Source::axis, index, {std::nullopt}}};
    for (std::uint32_t code = 1; code <= axis.values.size(); ++code) {
        const AxisValue& model = axis.values[code - 1];
        const std::string meaning = seen[index][code] ? binder.model_meaning(model) : std::string();
        std::optional<Substitute> field;
        if (!meaning.empty()) step_encoding::append_field(field.emplace().in_text, "model", Value(meaning));
        segment.binding.by_code.push_back(std::move(field));
        const PlacedValue* revision = model.definition.find("revision");
        if (revision != nullptr && is_zeros(revision->value.display()))
            warnings.add(revision->place,
                         fmt::format("the revision of model {} is only zeros: put the real one here",
                                     quoted(model.value)),
                         true);
    }
    segments_.push_back(std::move(segment));
}

void StepCompiler::add_constant(std::string_view bytes) {
    if (segments_.empty() || segments_.back().kind != Segment::Kind::constant) segments_.emplace_back();
    segments_.back().bytes += bytes;
}

void StepCompiler::add_text(const CompiledText& text) {
    const bool whole = text.source().is_whole_placeholder();
    for (const CompiledText::Piece& piece : text.pieces()) {
        if (piece.binding) {
            segments_.push_back(
                {whole ? Segment::Kind::argument : Segment::Kind::binding, {}, *piece.binding});
        } else {
            std::string escaped;
            step_encoding::append_text(escaped, piece.text);
            add_constant(escaped);
        }
    }
    if (!whole) add_constant(std::string_view(&step_encoding::end_mark, 1));
}

} // namespace tessera
