#include <tessera/base/error.hpp>
#include <tessera/supervisor/cell_file.hpp>
#include <tessera/supervisor/output_log.hpp>

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

namespace tessera {

namespace {

constexpr std::size_t tail_bytes = 2048;
constexpr int reads_a_turn = 16;

} // namespace

OutputLog::OutputLog(UniqueFd pipe, std::string path, std::uint64_t limit_bytes)
    : pipe_(std::move(pipe))
    , path_(std::move(path))
    , limit_bytes_(limit_bytes) {
    ::fcntl(pipe_.get(), F_SETFL, O_NONBLOCK);
}

bool OutputLog::pump() {
    const bool before = summary_.truncated;
    for (int i = 0; i < reads_a_turn && pipe_ && read_some() == Progress::more; ++i) {
    }
    return summary_.truncated && !before;
}

void OutputLog::finish() {
    while (pipe_ && read_some() == Progress::more) {
    }
    pipe_.reset();
    file_.reset();
}

OutputLog::Progress OutputLog::read_some() {
    char buffer[65536];
    const ssize_t count = ::read(pipe_.get(), buffer, sizeof buffer);
    if (count > 0) {
        const std::string_view bytes(buffer, static_cast<std::size_t>(count));
        summary_.bytes += bytes.size();
        keep(bytes);
        remember(bytes);
        return Progress::more;
    }
    if (count < 0 && errno == EINTR) return Progress::more;
    if (count < 0 && errno == EAGAIN) return Progress::drained;
    pipe_.reset();
    return Progress::ended;
}

void OutputLog::keep(std::string_view bytes) {
    if (!summary_.problem.empty()) return;
    const std::string_view head = bytes.substr(0, static_cast<std::size_t>(limit_bytes_ - kept_bytes_));
    if (head.size() < bytes.size()) summary_.truncated = true;
    if (head.empty()) return;
    try {
        if (!file_) file_ = open_cell_file(path_, O_WRONLY | O_CREAT | O_APPEND);
        write_all(file_.get(), head, path_);
        kept_bytes_ += head.size();
    } catch (const Error& error) {
        // Neither a full disk nor what the cell put in the log's place may block or end the process: the loss
        // is recorded instead.
        summary_.truncated = true;
        summary_.problem = error.what();
    }
}

void OutputLog::remember(std::string_view bytes) {
    tail_.append(bytes.substr(bytes.size() - std::min(bytes.size(), tail_bytes)));
    if (tail_.size() > 2 * tail_bytes) tail_.erase(0, tail_.size() - tail_bytes);
}

} // namespace tessera
