#include <tessera/controller/exit_code.hpp>

#include <fmt/core.h>

namespace tessera {

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
    if (without_success > 0)
        return {exit_code::failed,
                fmt::format("{} of {} cells have no result: {} failed, {} blocked, {} ask for more than "
                            "any worker has",
                            without_success, result.planned, result.failed, result.blocked,
                            result.unplaceable)};
    return {exit_code::succeeded, fmt::format("all {} cells have succeeded", result.planned)};
}

} // namespace tessera
