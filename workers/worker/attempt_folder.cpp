#include <tessera/base/error.hpp>
#include <tessera/base/fd.hpp>
#include <tessera/base/text.hpp>
#include <tessera/worker/attempt_folder.hpp>
#include <tessera/worker/environment.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <span>
#include <sys/stat.h>
#include <system_error>
#include <vector>

#include <fcntl.h>

namespace tessera {

namespace fs = std::filesystem;

namespace {

constexpr std::array tessera_files = {attempt_file::standard_output, attempt_file::standard_error,
                                      attempt_file::metrics, attempt_file::axes};

bool names_match(std::span<const std::string> pattern, std::span<const std::string> path) {
    if (pattern.empty()) return path.empty();
    if (pattern.front() == "**") {
        for (std::size_t skipped = 0; skipped <= path.size(); ++skipped)
            if (names_match(pattern.subspan(1), path.subspan(skipped))) return true;
        return false;
    }
    return !path.empty() && glob_match(pattern.front(), path.front()) &&
           names_match(pattern.subspan(1), path.subspan(1));
}

void make_folder(const std::string& path, bool may_exist) {
    if (::mkdir(path.c_str(), 0700) == 0 || (may_exist && errno == EEXIST)) return;
    throw IoError("make the folder", path, errno);
}

bool is_wanted(const fs::directory_entry& entry, const std::string& relative, const StepSpec& spec) {
    std::error_code ignored;
    const fs::file_type type = entry.symlink_status(ignored).type();
    if (type != fs::file_type::regular && type != fs::file_type::symlink) return false;
    if (std::find(tessera_files.begin(), tessera_files.end(), relative) != tessera_files.end()) return false;
    return spec.keep.empty() ||
           std::any_of(spec.keep.begin(), spec.keep.end(),
                       [&](const std::string& pattern) { return path_matches(pattern, relative); });
}

/// True if something of the folder stays.
bool clean(const fs::path& folder, const std::string& prefix, const StepSpec& spec) {
    std::error_code error;
    std::vector<fs::directory_entry> entries;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
        entries.push_back(*it);
    bool stays = false;
    for (const fs::directory_entry& entry : entries) {
        const std::string relative = prefix + entry.path().filename().string();
        std::error_code ignored;
        if (entry.symlink_status(ignored).type() == fs::file_type::directory) {
            if (clean(entry.path(), relative + "/", spec)) stays = true;
        } else if (is_wanted(entry, relative, spec)) {
            stays = true;
        } else {
            fs::remove(entry.path(), ignored);
        }
    }
    if (!stays) stays = !fs::remove(folder, error);
    return stays;
}

} // namespace

bool path_matches(std::string_view pattern, std::string_view path) {
    std::vector<std::string> names = split(pattern, '/');
    if (names.size() > 1 && names.back().empty()) names.back() = "**";
    return names_match(names, split(path, '/'));
}

std::string attempt_folder(const AttemptId& attempt) {
    return "attempts/" + attempt.text();
}

void make_attempt_folder(const std::string& campaign_dir, const AttemptId& attempt,
                         std::string_view axes_json) {
    const std::string folder = campaign_dir + "/" + attempt_folder(attempt);
    if (::mkdir(folder.c_str(), 0700) != 0) {
        if (errno != ENOENT) throw IoError("make the folder", folder, errno);
        // The first attempt of a part.
        make_folder(campaign_dir + "/attempts", true);
        make_folder(campaign_dir + "/attempts/" + attempt.part, true);
        make_folder(folder, false);
    }
    const std::string axes = folder + "/" + std::string(attempt_file::axes);
    write_all(open_file(axes, O_WRONLY | O_CREAT | O_EXCL, 0600).get(), axes_json, axes);
}

FolderPolicy folder_policy(const StepSpec& spec, OutcomeKind kind, bool ran) {
    if (!ran) return FolderPolicy::none;
    if (spec.keep_attempts == KeepAttempts::all) return FolderPolicy::all;
    if (kind == OutcomeKind::succeeded) {
        const bool names_files = !spec.keep.empty();
        return spec.keep_attempts == KeepAttempts::failed || names_files ? FolderPolicy::files
                                                                         : FolderPolicy::none;
    }
    return spec.keep_attempts == KeepAttempts::failed ? FolderPolicy::all : FolderPolicy::none;
}

bool clean_attempt_folder(const std::string& folder, FolderPolicy policy, const StepSpec& spec) {
    std::error_code error;
    // A cell can move its folder away and leave a link to another one in its place.
    if (policy != FolderPolicy::all && fs::is_symlink(fs::symlink_status(folder, error)))
        policy = FolderPolicy::none;
    switch (policy) {
    case FolderPolicy::all:
        return true;
    case FolderPolicy::files:
        return clean(folder, "", spec);
    case FolderPolicy::none:
        fs::remove_all(folder, error);
        return fs::exists(fs::symlink_status(folder, error));
    }
    return true;
}

} // namespace tessera
