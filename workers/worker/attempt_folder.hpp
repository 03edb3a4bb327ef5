#pragma once

#include <tessera/journal/records.hpp>

#include <string>
#include <string_view>

namespace tessera {

/// True if the path "a/b.txt", relative to an attempt's folder, matches: `*` and `?` stay within one name,
/// `**` stands for zero or more folders, and a pattern that ends in "/" takes everything in that folder.
bool path_matches(std::string_view pattern, std::string_view path);

/// Where an attempt works, below the campaign directory: "attempts/<part>/<step>-<number>".
std::string attempt_folder(const AttemptId& attempt);

/// Makes the folder (only its owner may enter) with the file for TESSERA_AXES. Throws IoError, also if it
/// exists: what lies in it would be taken for this attempt's.
void make_attempt_folder(const std::string& campaign_dir, const AttemptId& attempt,
                         std::string_view axes_json);

/// What stays of an attempt's folder once it has ended.
enum class FolderPolicy {
    all,   ///< everything, logs included
    files, ///< the files that the process made and that the step's `keep` names (without `keep` all of them)
    none,  ///< nothing
};

FolderPolicy folder_policy(const StepSpec& spec, OutcomeKind kind, bool ran);

/// Applies the policy; symbolic links are never followed. True if the folder is still there. What cannot be
/// removed stays.
bool clean_attempt_folder(const std::string& folder, FolderPolicy policy, const StepSpec& spec);

} // namespace tessera
