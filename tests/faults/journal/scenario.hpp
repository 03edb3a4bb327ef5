#pragma once

#include <tessera/journal/acceptance.hpp>
#include <tessera/journal/campaign_dir.hpp>
#include <tessera/journal/file_layer.hpp>

#include <map>
#include <set>
#include <string>
#include <vector>

/// A small campaign of six steps, run by one controller and one worker over a file layer that may fail
/// anywhere.
namespace scenario {

inline constexpr std::uint8_t step_count = 6;

tessera::StepKey step_key(std::uint8_t n);

/// What the world outside the disk has seen.
struct Witness {
    std::set<tessera::StepKey> acknowledged; ///< results that the controller called durable
    std::map<tessera::StepKey, unsigned>
        successes;                      ///< how often each step was run to success, spooled or not
    std::set<tessera::StepKey> spooled; ///< whose outcome the worker's spool had taken
};

/// One run from start to end: opens the directory, claims, harvests, runs what has no accepted result,
/// closes. Throws IoError when the file layer does.
void run(const std::string& path, tessera::FileLayer& files, Witness& witness);

/// Makes every part in the directory look as if its process had ended.
void bury_owners(const std::string& path);

/// All frames of the directory.
tessera::Acceptance read_back(const std::string& path);

} // namespace scenario
