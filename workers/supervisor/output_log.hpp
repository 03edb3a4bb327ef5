#pragma once

#include <tessera/base/fd.hpp>
#include <tessera/supervisor/supervisor_protocol.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace tessera {

/// Takes everything that a process writes into a pipe, so that it never blocks, and keeps the first
/// `limit_bytes` of it in a file, as raw bytes. The file is made when the first byte comes: a silent process
/// leaves none.
class OutputLog {
public:
    OutputLog() = default;
    /// `pipe` is made non-blocking.
    OutputLog(UniqueFd pipe, std::string path, std::uint64_t limit_bytes);

    /// To wait on; -1 once the pipe has ended.
    int fd() const { return pipe_.get(); }

    /// Reads what is there, up to a bound so that one stream cannot starve the others. True if it passed its
    /// limit just now.
    bool pump();

    /// Takes the rest that is in the pipe now and closes pipe and file.
    void finish();

    const StreamSummary& summary() const { return summary_; }

    /// The last bytes of the stream, also of what was not kept.
    const std::string& tail() const { return tail_; }

private:
    enum class Progress { drained, more, ended };
    Progress read_some();
    void keep(std::string_view bytes);
    void remember(std::string_view bytes);

    UniqueFd pipe_;
    UniqueFd file_;
    std::string path_;
    std::uint64_t limit_bytes_ = 0;
    std::uint64_t kept_bytes_ = 0;
    StreamSummary summary_;
    std::string tail_;
};

} // namespace tessera
