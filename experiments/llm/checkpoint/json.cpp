#include <tessera/base/text.hpp>
#include <tessera/checkpoint/checkpoint_error.hpp>
#include <tessera/checkpoint/json.hpp>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <limits>
#include <set>
#include <vector>

namespace tessera::llm {
namespace {

/// Headers and configurations nest three or four deep; a deeper document is an attack on the reader's memory.
constexpr int max_depth = 32;

/// Watches a parse for what nlohmann-json lets pass: keys given twice (the last would win silently) and deep
/// nesting.
class Watch {
public:
    bool operator()(int depth, nlohmann::json::parse_event_t event, const nlohmann::json& parsed) {
        using Event = nlohmann::json::parse_event_t;
        if (depth > max_depth) problem_ = "the JSON is nested too deeply";
        if (event == Event::object_start) open_objects_.emplace_back();
        if (event == Event::object_end && !open_objects_.empty()) open_objects_.pop_back();
        if (event == Event::key && !open_objects_.empty()) {
            const auto& key = parsed.get_ref<const std::string&>();
            if (!open_objects_.back().insert(key).second)
                problem_ = fmt::format("the key '{}' appears twice", key);
        }
        return problem_.empty();
    }

    const std::string& problem() const { return problem_; }

private:
    std::vector<std::set<std::string>> open_objects_;
    std::string problem_;
};

} // namespace

nlohmann::json parse_json_object(std::string_view text, const std::string& path, const std::string& remedy) {
    Watch watch;
    nlohmann::json root;
    try {
        root = nlohmann::json::parse(text.begin(), text.end(),
                                     [&](int depth, nlohmann::json::parse_event_t event,
                                         nlohmann::json& parsed) { return watch(depth, event, parsed); });
    } catch (const nlohmann::json::exception& error) {
        throw CheckpointError(path, repair_utf8(fmt::format("invalid JSON ({})", error.what())), remedy);
    }
    if (!watch.problem().empty()) throw CheckpointError(path, watch.problem(), remedy);
    if (!root.is_object()) throw CheckpointError(path, "the JSON is not an object", remedy);
    return root;
}

std::optional<std::int64_t> json_count(const nlohmann::json& value) {
    if (!value.is_number_integer()) return std::nullopt;
    if (value.is_number_unsigned()) {
        const auto number = value.get<std::uint64_t>();
        if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
            return std::nullopt;
        return static_cast<std::int64_t>(number);
    }
    const auto number = value.get<std::int64_t>();
    return number < 0 ? std::nullopt : std::optional(number);
}

std::string json_excerpt(const nlohmann::json& value) {
    constexpr std::size_t longest = 80;
    std::string text = value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
    if (text.size() > longest) text = text.substr(0, longest) + "...";
    return text;
}

} // namespace tessera::llm
