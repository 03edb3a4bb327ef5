#pragma once

#include <tessera/base/clock.hpp>
#include <tessera/base/id.hpp>
#include <tessera/journal/file_layer.hpp>
#include <tessera/journal/owner.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

struct CampaignIdentity {
    std::string name;
    Id128 id; ///< random, made when the directory was

    bool operator==(const CampaignIdentity&) const = default;
};

/// How a run ended, for the `tessera run` that waits for it.
struct Verdict {
    int exit_code = 0;
    std::string reason;

    bool operator==(const Verdict&) const = default;
};

/// A wish to stop, left in the campaign directory. Each has a token of its own, so a controller ignores one
/// that was there before it began.
struct StopWish {
    std::string token;
    std::string run;   ///< only this run is meant; empty: all on the directory
    bool kill = false; ///< at once, without the grace time

    bool operator==(const StopWish&) const = default;
};

/// What a part has written, as paths in the order of their numbers.
struct PartFiles {
    std::vector<std::string> journals;
    std::vector<std::string> spools;
    std::vector<std::string> segments;
    std::vector<std::string> log_packs;
    std::vector<std::string> telemetry;
};

/// The directory of one campaign and all names in it:
///
///     campaign.id                        JSON: format, name, id; made first, exactly once
///     campaign.toml                      the newest campaign file that was run
///     campaigns/<digest>.toml            one for each meaning that was run
///     claims/<batch>.<epoch>             claims.hpp
///     artifacts/<step key>/<attempt>/    attempts/<part>/<step>-<n>/
///     parts/<part>/owner                 JSON: the controller's process
///     parts/<part>/beat                  a counter that the controller raises while it lives
///     parts/<part>/verdict               JSON: exit code and reason, when the run has ended
///     parts/<part>/journal-0001 ...      frames, see frame.hpp
///     parts/<part>/spool-<worker>        segment-<n>.h5, logs-<worker>.pack, telemetry-<worker>
///     stop                               JSON: a StopWish
///     results.h5
///
/// Folders have mode 0700, files 0600. Nothing is made through a symbolic link inside the directory. Reading
/// functions write nothing.
class CampaignDirectory {
public:
    /// The directory for the campaign `name`, made if it is not there (its parents too). Throws UserError if
    /// it holds something else or belongs to a campaign of another name, IoError.
    static CampaignDirectory open_or_create(const std::string& path, const std::string& name,
                                            FileLayer& files = system_files());

    /// An existing one. Throws UserError if it is none.
    static CampaignDirectory open(const std::string& path, FileLayer& files = system_files());

    /// True if `path` is a campaign directory.
    static bool exists(const std::string& path);

    const std::string& path() const { return path_; }

    const CampaignIdentity& identity() const { return identity_; }

    FileLayer& files() const { return *files_; }

    std::string claims_folder() const { return path_ + "/claims"; }

    std::string parts_folder() const { return path_ + "/parts"; }

    std::string part_folder(std::string_view part) const { return parts_folder() + "/" + std::string(part); }

    std::string results_path() const { return path_ + "/results.h5"; }

    /// Makes a folder below the directory, and those above it, unless they are there. `relative` has no "..".
    /// Throws UserError if a symbolic link or a file is in the way.
    std::string make_folder(std::string_view relative) const;

    /// Keeps a copy of the campaign file whose meaning has `digest`; returns its path relative to the
    /// directory.
    std::string save_snapshot(std::string_view text, const Id128& digest) const;

    /// Makes the folder and the owner file of a new part; returns its id "<YYYYmmddTHHMMSSZ>-<8 hex>".
    std::string create_part(WallTime now_ns) const;

    /// Ids of all parts in order.
    std::vector<std::string> parts() const;

    PartFiles part_files(std::string_view part) const;

    /// Empty if the part has none that can be read.
    std::optional<OwnerInfo> owner(std::string_view part) const;

    /// `counter` only has to differ from beat to beat. Not synced: it says that the owner lives now, nothing
    /// else.
    void write_beat(std::string_view part, std::uint64_t counter) const;
    std::optional<std::uint64_t> beat(std::string_view part) const;

    void write_verdict(std::string_view part, const Verdict& verdict) const;
    std::optional<Verdict> verdict(std::string_view part) const;

    /// Asks runs on this directory to stop: the one that calls itself `run`, or all.
    void request_stop(bool kill, const std::string& run = {}) const;
    std::optional<StopWish> stop_request() const;

private:
    CampaignDirectory(std::string path, CampaignIdentity identity, FileLayer& files);

    std::string path_;
    CampaignIdentity identity_;
    FileLayer* files_;
};

/// True if `text` has the form of a part's id.
bool is_part_id(std::string_view text);

} // namespace tessera
