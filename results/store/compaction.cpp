#include <tessera/base/error.hpp>
#include <tessera/base/fd.hpp>
#include <tessera/store/campaign_state.hpp>
#include <tessera/store/store.hpp>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <sys/file.h>

#include <fcntl.h>

namespace tessera {

namespace {

/// Held while results.h5 is made anew; ends with the process. Where the file system has no locks (ENOLCK,
/// ENOSYS and the like) two compactions may run side by side: both make a complete file, so that costs time
/// only.
std::optional<UniqueFd> lock_compaction(const CampaignDirectory& directory) {
    const std::string path = directory.path() + "/results.lock";
    UniqueFd file = directory.files().open(path, O_RDWR | O_CREAT, 0600);
    int result = 0;
    do
        result = ::flock(file.get(), LOCK_EX | LOCK_NB);
    while (result != 0 && errno == EINTR);
    if (result != 0 && errno == EWOULDBLOCK) return std::nullopt;
    return file;
}

/// What killed compactions left.
void remove_leftovers(const CampaignDirectory& directory) {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(directory.path(), ignored))
        if (entry.path().filename().string().starts_with("results.h5.tmp-"))
            std::filesystem::remove(entry.path(), ignored);
}

} // namespace

Compaction compact(const CampaignDirectory& directory, std::vector<std::string>& warnings) {
    const auto lock = lock_compaction(directory);
    if (!lock) return Compaction::busy;
    remove_leftovers(directory);
    Store store = open_store(directory, StepTexts::read);
    warnings.insert(warnings.end(), store.warnings.begin(), store.warnings.end());
    if (store.compacted) return Compaction::current;
    const auto state = campaign_state(store.tables, acceptance_of(store.tables),
                                      [&](const std::string& part) { return part_may_run(directory, part); });
    const CellResultTable results = cell_results(store.tables, state);
    write_table_file(directory.results_path(), store.tables, directory.files(), &results);
    return Compaction::written;
}

} // namespace tessera
