#include <tessera/campaign/compiled_text.hpp>

#include <algorithm>

namespace tessera {

CompiledText::CompiledText(const TextTemplate& source, Binder& binder)
    : source_(source) {
    for (const TextTemplate::Piece& piece : source.pieces) {
        if (piece.is_text())
            pieces_.push_back({piece.text, std::nullopt});
        else
            pieces_.push_back({{}, binder.bind(piece.placeholder, source)});
    }
}

bool CompiledText::depends_on_repeat() const {
    return std::any_of(pieces_.begin(), pieces_.end(), [](const Piece& piece) {
        return piece.binding && (piece.binding->source == Binding::Source::repeat ||
                                 piece.binding->source == Binding::Source::seed);
    });
}

std::vector<std::size_t> CompiledText::axes() const {
    std::vector<std::size_t> axes;
    for (const Piece& piece : pieces_)
        if (piece.binding && piece.binding->source == Binding::Source::axis)
            axes.push_back(piece.binding->axis);
    std::sort(axes.begin(), axes.end());
    axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
    return axes;
}

std::optional<Value> CompiledText::value(const PointContext& context) const {
    if (source_.is_whole_placeholder()) return bound_value(*pieces_.front().binding, context);
    std::string joined;
    for (const Piece& piece : pieces_) {
        if (!piece.binding) {
            joined += piece.text;
            continue;
        }
        const auto value = bound_value(*piece.binding, context);
        if (!value) return std::nullopt;
        joined += value->display();
    }
    return Value(std::move(joined));
}

std::string CompiledText::text(const PointContext& context) const {
    const auto result = value(context);
    return result ? result->display() : std::string();
}

void CompiledText::append_arguments(const PointContext& context, std::vector<std::string>& out) const {
    const auto result = value(context);
    if (!result) return;
    const auto* list = result->get_if<Value::Array>();
    if (list == nullptr) {
        out.push_back(result->display());
        return;
    }
    for (const Value& item : *list)
        out.push_back(item.display());
}

std::optional<Value> bound_value(const Binding& binding, const PointContext& context) {
    switch (binding.source) {
    case Binding::Source::repeat:
        return Value(static_cast<std::int64_t>(context.repeat));
    case Binding::Source::seed:
        return Value(static_cast<std::int64_t>(context.seed));
    case Binding::Source::axis: {
        const auto& substitute = binding.by_code[(*context.codes)[binding.axis]];
        return substitute ? std::optional(substitute->value) : std::nullopt;
    }
    case Binding::Source::fixed:
        break;
    }
    if (binding.by_code.empty()) return std::nullopt;
    return binding.by_code.front()->value;
}

} // namespace tessera
