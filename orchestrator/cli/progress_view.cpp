#include <tessera/base/text.hpp>
#include <tessera/cli/progress_view.hpp>

#include <fmt/core.h>

#include <algorithm>

#include <unistd.h>

namespace tessera {

namespace {

/// Between two plain lines of one phase.
constexpr double plain_interval_s = 10;

/// Cuts at a character's border: no more than `width` bytes, which is no more than that many columns.
std::string fit(std::string line, std::size_t width) {
    if (line.size() <= width) return line;
    std::size_t end = width;
    while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xC0U) == 0x80U)
        --end;
    line.resize(end);
    return line;
}

std::string bar(const Progress& progress, std::size_t width) {
    const auto part = [&](std::uint64_t cells) {
        return progress.cells == 0 ? 0 : static_cast<std::size_t>(cells * width / progress.cells);
    };
    const std::size_t done = part(progress.succeeded);
    const std::size_t failed = part(progress.succeeded + progress.failed) - done;
    return std::string(done, '#') + std::string(failed, 'x') + std::string(width - done - failed, '.');
}

std::string summary(const Progress& progress) {
    std::string line = fmt::format("{}/{} cells", progress.succeeded, progress.cells);
    if (progress.reused > 0) line += fmt::format(" ({} from before)", progress.reused);
    if (progress.failed > 0) line += fmt::format(", {} failed", progress.failed);
    line += fmt::format(", {} running on {} worker{}, {}", progress.active, progress.workers,
                        progress.workers == 1 ? "" : "s", format_duration(progress.elapsed_s));
    if (progress.remaining_s) line += fmt::format(", about {} left", format_duration(*progress.remaining_s));
    return line;
}

} // namespace

std::vector<std::string> progress_lines(const Progress& progress, std::size_t width) {
    std::vector<std::string> lines;
    const std::string phase = progress.phase == "running" ? std::string() : progress.phase;
    lines.push_back(
        fit(fmt::format("[{}] {}", bar(progress, std::min<std::size_t>(40, width / 2)), phase), width));
    lines.push_back(fit(summary(progress), width));
    for (const Progress::Running& step : progress.running)
        lines.push_back(fit(
            fmt::format("  worker {}  {:>9}  {}", step.worker, format_duration(step.elapsed_s), step.what),
            width));
    return lines;
}

void ProgressView::show(const Progress& progress, Moment now) {
    if (style_ == ProgressStyle::json) {
        out_ << to_json(progress) << '\n' << std::flush;
        return;
    }
    for (const std::string& failure : progress.failures)
        print(failure + '\n');
    if (style_ == ProgressStyle::repaint) {
        paint(progress);
        return;
    }
    const bool due = !last_plain_ || seconds(now - *last_plain_) >= plain_interval_s;
    if (!due && progress.phase == last_phase_) return;
    last_plain_ = now;
    last_phase_ = progress.phase;
    out_ << progress.phase << ": " << summary(progress) << '\n' << std::flush;
}

void ProgressView::print(const std::string& text) {
    erase();
    out_ << text;
    for (const std::string& line : last_lines_)
        out_ << line << '\n';
    painted_lines_ = last_lines_.size();
    out_ << std::flush;
}

void ProgressView::paint(const Progress& progress) {
    erase();
    last_lines_ = progress_lines(progress, width_);
    for (const std::string& line : last_lines_)
        out_ << line << '\n';
    painted_lines_ = last_lines_.size();
    out_ << std::flush;
}

void ProgressView::erase() {
    if (painted_lines_ == 0) return;
    // Up to the first painted line, and clear from there (ECMA-48).
    out_ << "\x1b[" << painted_lines_ << "A\x1b[J";
    painted_lines_ = 0;
}

void ProgressView::finish() {
    last_lines_.clear();
    painted_lines_ = 0;
}

ProgressStyle default_progress_style() {
    return ::isatty(STDOUT_FILENO) == 1 ? ProgressStyle::repaint : ProgressStyle::plain;
}

} // namespace tessera
