#pragma once

#include <tessera/campaign/compiled_text.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tessera {

/// A value of [resources] as the final text gives it, or why it is none.
template <typename T>
struct Reading {
    std::optional<T> value;
    std::string problem; ///< "must be ..., not ..."
};

Reading<std::uint32_t> read_count(const Value& value, std::uint32_t least);
Reading<std::uint64_t> read_memory_bytes(const Value& value);
Reading<double> read_timeout_s(const Value& value);

/// One key of [resources] with its placeholders bound.
class CompiledResource {
public:
    CompiledResource(const ResourceSource& source, Binder& binder, Problems& problems);

    Place place() const { return place_; }

    const std::string& what() const { return what_; }

    /// The axes that it depends on.
    std::vector<std::size_t> axes() const;

    std::optional<Value> value(const PointContext& context) const;

private:
    std::optional<CompiledText> text_;
    Value constant_;
    Place place_;
    std::string what_;
};

} // namespace tessera
