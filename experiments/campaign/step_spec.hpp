#pragma once

#include <tessera/base/id.hpp>
#include <tessera/base/value.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tessera {

/// What one attempt occupies while it runs. `memory_bytes` of 0 is not counted.
struct Resources {
    std::uint32_t cores = 1;
    std::uint64_t memory_bytes = 0;
    std::uint32_t devices = 0;

    bool operator==(const Resources&) const = default;
};

/// Why an attempt did not succeed; each class has its own limit of retries (none: not a failure; verdict:
/// never retried, such as a required metric that is missing).
enum class FailureClass : std::uint8_t {
    none,
    out_of_memory,
    timeout,
    crash,
    exit,
    spawn,
    lost,
    preempted,
    verdict
};

/// Retries after a failure of each class, and the pause before the first one, which doubles each time.
struct RetryPolicy {
    std::uint32_t out_of_memory = 0;
    std::uint32_t timeout = 0;
    std::uint32_t crash = 1;
    std::uint32_t exit = 0;
    std::uint32_t spawn = 5;
    std::uint32_t lost = 5;
    double backoff_s = 10;

    bool operator==(const RetryPolicy&) const = default;

    /// The limit for a class; preempted attempts have none.
    std::optional<std::uint32_t> limit(FailureClass failure) const;
};

enum class KeepAttempts : std::uint8_t { failed, all, none };

struct EnvEntry {
    std::string name;
    std::string value;

    bool operator==(const EnvEntry&) const = default;
};

/// A step with every placeholder resolved: what a worker needs to run one attempt of it, and what `plan
/// --commands`, `show` and `exec` print.
struct StepSpec {
    std::string name;        ///< "workload" for the step that a cell ends with
    std::string executor;    ///< "cpu", "null", ...
    std::string accelerator; ///< name of the accelerator, empty if the campaign has none
    std::vector<std::string> argv;
    std::vector<EnvEntry> env; ///< declared by the campaign, over the scrubbed environment of the worker
    std::optional<std::string> stdin_text; ///< /dev/null if absent
    Resources resources;
    std::optional<double> timeout_s; ///< of one attempt; no limit if absent
    double grace_s = 10;             ///< between SIGTERM and SIGKILL
    std::vector<std::string> keep;   ///< globs of files that a succeeded attempt brings back
    KeepAttempts keep_attempts = KeepAttempts::failed;
    std::uint64_t log_limit_bytes = 64ULL << 20;     ///< of stdout and of stderr, each
    std::uint64_t metrics_limit_bytes = 16ULL << 20; ///< of the metrics file
    std::string axes_json;                           ///< axes and fields of the cell, for TESSERA_AXES
    std::string cell;                                ///< id of the cell; empty for a shared step
    std::optional<std::uint32_t> repeat;             ///< if the step is per repeat
    std::optional<std::uint64_t> seed;               ///< TESSERA_SEED
    std::string campaign_folder;                     ///< folder of the campaign file, TESSERA_CAMPAIGN_FOLDER

    bool operator==(const StepSpec&) const = default;
};

} // namespace tessera
