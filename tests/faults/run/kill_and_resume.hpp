#pragma once

#include "campaign_run.hpp"

#include <cstdint>
#include <optional>

namespace tessera::test {

struct KillPlan {
    std::vector<std::string> run_options;
    int kills = 0;
    std::uint32_t seed = 0;
    /// Runs that end after so many cells, so that kills also meet runs which store their results.
    std::optional<int> cells_a_run = {};
};

/// Kills all ranks of a run, and whoever started them, again and again at moments that the seed gives, and
/// goes on each time; then lets it come to its end and checks what is there.
void kill_and_resume(KillPlan plan);

} // namespace tessera::test
