#pragma once

#include "campaign_run.hpp"

#include <cstdint>

namespace tessera::test {

/// Kills all ranks of a run, and whoever started them, `kills` times at moments that `seed` gives, and goes
/// on each time; then lets it come to its end and checks what is there.
void kill_and_resume(const std::vector<std::string>& run_options, int kills, std::uint32_t seed);

} // namespace tessera::test
