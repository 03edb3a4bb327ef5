#pragma once

#include <tessera/campaign/substitution.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tessera {

/// What placeholders depend on: the codes of a point of the matrix by axis, and the repeat with its seed.
struct PointContext {
    const std::vector<std::uint32_t>* codes;
    std::uint32_t repeat = 0;
    std::uint64_t seed = 0;
};

/// A string of the campaign file with its placeholders bound. Its value for a cell, and the canonical form of
/// that value, both come from here.
class CompiledText {
public:
    struct Piece {
        std::string text; ///< literal text if there is no binding
        std::optional<Binding> binding;
    };

    CompiledText(const TextTemplate& source, Binder& binder);

    const TextTemplate& source() const { return source_; }

    const std::vector<Piece>& pieces() const { return pieces_; }

    bool depends_on_repeat() const;

    /// The axes that it depends on, ascending, each once.
    std::vector<std::size_t> axes() const;

    /// Typed if it is one placeholder alone, else a string. Empty if a placeholder has no value, which is
    /// reported when the text is bound.
    std::optional<Value> value(const PointContext& context) const;

    std::string text(const PointContext& context) const;

    /// Appends one string, or as many as a list that is the whole text has.
    void append_arguments(const PointContext& context, std::vector<std::string>& out) const;

private:
    TextTemplate source_;
    std::vector<Piece> pieces_;
};

/// The value of one placeholder; empty if it has none.
std::optional<Value> bound_value(const Binding& binding, const PointContext& context);

} // namespace tessera
