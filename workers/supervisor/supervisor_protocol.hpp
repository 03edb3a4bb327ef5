#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tessera {

/// The descriptor on which tessera-supervisor finds its end of the socket.
inline constexpr int supervisor_socket_fd = 3;

/// Starts a cell's process. Everything is given in full: nothing of the supervisor's own environment reaches
/// the cell.
struct SpawnRequest {
    std::uint64_t ticket = 0;
    std::string attempt; ///< value of TESSERA_ATTEMPT in `env`, by which stray processes are recognised
    std::vector<std::string> argv;
    std::vector<std::string> env;          ///< "NAME=value"; PATH in it is where argv[0] is looked up
    std::string folder;                    ///< working directory, absolute
    std::vector<std::uint32_t> cpus;       ///< CPU mask; empty: not bound
    std::optional<std::string> stdin_text; ///< /dev/null if absent
    std::string stdout_path;               ///< made when the first byte comes
    std::string stderr_path;
    std::uint64_t log_limit_bytes = 0; ///< of each of the two
    std::optional<double> timeout_s;
    double grace_s = 10;

    bool operator==(const SpawnRequest&) const = default;
};

/// Ends an attempt: SIGTERM, its grace time, SIGKILL; or SIGKILL at once.
struct StopRequest {
    std::uint64_t ticket = 0;
    bool kill = false;

    bool operator==(const StopRequest&) const = default;
};

/// Ends what an attempt of an earlier, dead supervisor left behind. Answered by EndedReport when nothing is
/// left.
struct SweepRequest {
    std::uint64_t ticket = 0;
    std::string attempt;
    double grace_s = 10;

    bool operator==(const SweepRequest&) const = default;
};

/// Ends all attempts as StopRequest does, then the supervisor. The socket's end means the same.
struct ShutdownRequest {
    bool operator==(const ShutdownRequest&) const = default;
};

using SupervisorRequest = std::variant<SpawnRequest, StopRequest, SweepRequest, ShutdownRequest>;

/// The cell's program runs.
struct StartedReport {
    std::uint64_t ticket = 0;
    std::int64_t pid = 0;
    bool bound = false; ///< to the CPUs asked for

    bool operator==(const StartedReport&) const = default;
};

enum class OutputStream : std::uint8_t { standard_output, standard_error };

/// A stream passed its limit: the rest is counted but not kept.
struct OutputLimitReport {
    std::uint64_t ticket = 0;
    OutputStream stream = OutputStream::standard_output;

    bool operator==(const OutputLimitReport&) const = default;
};

/// What of a start failed.
enum class SpawnStage : std::uint8_t { none, resources, fork, folder, exec, interpreter };

/// How sure it is that the kernel's out-of-memory killer acted while the attempt ran.
enum class OomEvidence : std::uint8_t {
    none,
    cgroup,  ///< the counter of the supervisor's own memory cgroup rose
    machine, ///< only the machine's counter could be read, and it rose
};

struct StreamSummary {
    std::uint64_t bytes = 0; ///< written by the attempt
    bool truncated = false;
    std::string problem; ///< why the log could not be written, if so

    bool operator==(const StreamSummary&) const = default;
};

/// The attempt is over and nothing of it is left.
struct EndedReport {
    std::uint64_t ticket = 0;
    SpawnStage failed_stage =
        SpawnStage::none; ///< other than none: it never ran, and `failed_errno` says why
    std::int32_t failed_errno = 0;
    std::optional<std::int32_t> exit_code;
    std::optional<std::int32_t> signal;
    bool timed_out = false; ///< SIGTERM was sent because of the timeout
    bool stopped = false;   ///< SIGTERM or SIGKILL was sent because of a request, or because the client died
    bool kill_sent = false; ///< SIGKILL was sent by the supervisor before the process ended
    OomEvidence oom = OomEvidence::none;
    double duration_s = 0; ///< from before the start to the process' end
    double user_s = 0;     ///< of the process and all its descendants that were waited for
    double system_s = 0;
    std::uint64_t max_rss_bytes = 0; ///< largest peak of any one of these processes
    std::uint32_t leaked_processes = 0;
    StreamSummary standard_output;
    StreamSummary standard_error;
    std::string stderr_tail; ///< last bytes of stderr, raw
    std::string stdout_tail;

    bool operator==(const EndedReport&) const = default;
};

using SupervisorReport = std::variant<StartedReport, OutputLimitReport, EndedReport>;

std::string encode(const SupervisorRequest& request);
std::string encode(const SupervisorReport& report);

/// Throw FormatError for bytes that are not of the protocol.
SupervisorRequest decode_request(std::string_view payload);
SupervisorReport decode_report(std::string_view payload);

/// Outgoing frames (four little-endian bytes of length, then the payload) over a non-blocking socket.
class FrameWriter {
public:
    void push(std::string_view payload);

    bool empty() const { return sent_ == bytes_.size(); }

    /// Sends what the socket takes; false if the peer is gone.
    bool flush(int fd);

private:
    std::string bytes_;
    std::size_t sent_ = 0;
};

/// Incoming frames.
class FrameReader {
public:
    /// Reads what has arrived; false at the end of the stream or if the peer is gone.
    bool fill(int fd);

    /// The next complete payload. Throws FormatError for a length that no peer sends.
    std::optional<std::string> next();

private:
    std::string bytes_;
    std::size_t taken_ = 0;
};

} // namespace tessera
