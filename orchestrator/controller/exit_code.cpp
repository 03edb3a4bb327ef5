#include <tessera/controller/exit_code.hpp>

#include <fmt/core.h>

namespace tessera {

namespace {

std::string failure_reason(const RunResult& result, std::uint64_t without_success) {
    std::string text = fmt::format("{} of {} cells have no result:", without_success, result.planned);
    const char* separator = " ";
    const auto add = [&](std::uint64_t count, const std::string& what) {
        if (count == 0) return;
        text += fmt::format("{}{} {}", separator, count, what);
        separator = ", ";
    };
    add(result.failed, "failed");
    add(result.blocked, "blocked");
    add(result.unplaceable, "fit no worker (" + result.too_large + ")");
    return text;
}

} // namespace

RunEnd run_end(const RunResult& result, int stop_code) {
    if (!result.trouble.empty())
        return {exit_code::work_left,
                fmt::format("stopped: {}; {} cells are left, run it again when that is mended",
                            result.trouble, result.left)};
    if (result.left > 0 && stop_code != 0)
        return {stop_code, fmt::format("stopped with {} cells left; run it again to resume", result.left)};
    if (result.left > 0)
        return {exit_code::work_left, fmt::format("{} cells are left; run it again to go on", result.left)};
    const std::uint64_t without_success = result.failed + result.blocked + result.unplaceable;
    if (without_success > 0) return {exit_code::failed, failure_reason(result, without_success)};
    return {exit_code::succeeded, fmt::format("all {} cells have succeeded", result.planned)};
}

} // namespace tessera
