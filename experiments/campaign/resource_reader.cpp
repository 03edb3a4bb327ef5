#include <tessera/base/text.hpp>
#include <tessera/campaign/campaign_parser.hpp>
#include <tessera/campaign/resource_reader.hpp>

#include <fmt/core.h>

#include <cmath>

namespace tessera {

namespace {

constexpr std::int64_t max_count = 1'000'000;

std::string found(const Value& value) {
    return fmt::format("not {}", quoted(value));
}

} // namespace

Reading<std::uint32_t> read_count(const Value& value, std::uint32_t least) {
    const auto* count = value.get_if<std::int64_t>();
    if (count == nullptr || *count < least || *count > max_count)
        return {std::nullopt,
                fmt::format("must be an integer from {} to {}, {}", least, max_count, found(value))};
    return {static_cast<std::uint32_t>(*count), {}};
}

Reading<std::uint64_t> read_memory_bytes(const Value& value) {
    const auto* bytes = value.get_if<std::int64_t>();
    if (bytes != nullptr && *bytes >= 0) return {static_cast<std::uint64_t>(*bytes), {}};
    if (const auto* text = value.get_if<std::string>())
        if (const auto parsed = parse_bytes(*text)) return {parsed, {}};
    return {std::nullopt,
            fmt::format("must be bytes, or a size such as \"512M\" or \"16GiB\", {}", found(value))};
}

Reading<double> read_timeout_s(const Value& value) {
    std::optional<double> timeout_s;
    if (const auto* text = value.get_if<std::string>())
        timeout_s = parse_duration_s(*text);
    else if (value.is_number())
        timeout_s = parse_duration_s(value.display());
    if (timeout_s && *timeout_s > 0) return {timeout_s, {}};
    return {std::nullopt,
            fmt::format("must be a time above 0 such as \"90s\", \"10m\" or \"1h30m\", {}", found(value))};
}

CompiledResource::CompiledResource(const ResourceSource& source, Binder& binder, Problems& problems)
    : constant_(source.value)
    , place_(source.place)
    , what_(source.what) {
    if (!source.text) return;
    text_.emplace(*source.text, binder);
    // Repeats of a point are planned together, and a seed is no amount of anything.
    if (text_->depends_on_repeat())
        problems.add(place_, what_ + ": ${repeat} and ${seed} cannot stand in a resource");
}

std::vector<std::size_t> CompiledResource::axes() const {
    return text_ ? text_->axes() : std::vector<std::size_t>{};
}

std::optional<Value> CompiledResource::value(const PointContext& context) const {
    return text_ ? text_->value(context) : std::optional(constant_);
}

} // namespace tessera
