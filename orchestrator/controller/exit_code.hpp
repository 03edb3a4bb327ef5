#pragma once

#include <tessera/controller/controller.hpp>

#include <string>

namespace tessera {

/// Exit codes of `tessera run`, in the order in which they apply.
namespace exit_code {
inline constexpr int succeeded = 0;
inline constexpr int failed = 1;
inline constexpr int bad_input = 2;
inline constexpr int work_left = 3;
inline constexpr int other_site = 4;
inline constexpr int interrupted = 130; ///< 128 + SIGINT
inline constexpr int terminated = 143;  ///< 128 + SIGTERM
} // namespace exit_code

struct RunEnd {
    int code = 0;
    std::string reason; ///< one line for people
};

/// `stop_code` is the code for a stop with work left (interrupted or terminated), 0 if nothing asked for one.
RunEnd run_end(const RunResult& result, int stop_code);

} // namespace tessera
