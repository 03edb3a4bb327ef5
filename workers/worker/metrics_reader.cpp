#include <tessera/base/error.hpp>
#include <tessera/base/text.hpp>
#include <tessera/supervisor/cell_file.hpp>
#include <tessera/worker/metrics_line.hpp>
#include <tessera/worker/metrics_reader.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

namespace tessera {

namespace {

constexpr std::size_t most_problems = 20;
constexpr std::size_t longest_line_bytes = 1U << 20U;

bool is_blank(std::string_view line) {
    return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

/// HDF5 would end the texts at a NUL. True if there was one.
bool replace_nuls(MetricPoint& point) {
    const auto holds_nul = [](const std::string& text) { return text.find('\0') != std::string::npos; };
    const bool found = holds_nul(point.unit) || (point.text && holds_nul(*point.text));
    if (!found) return false;
    point.unit = replace_nul(point.unit);
    if (point.text) point.text = replace_nul(*point.text);
    return true;
}

} // namespace

void MetricsParser::feed(std::string_view bytes, double t_s) {
    const std::uint64_t room = limit_bytes_ - bytes_;
    if (bytes.size() > room) {
        truncated_ = true;
        bytes = bytes.substr(0, static_cast<std::size_t>(room));
    }
    bytes_ += bytes.size();
    for (;;) {
        const std::size_t end = bytes.find('\n');
        if (end == std::string_view::npos) break;
        if (partial_.empty()) {
            take_line(bytes.substr(0, end), t_s);
        } else {
            partial_.append(bytes.substr(0, end));
            take_line(partial_, t_s);
            partial_.clear();
        }
        bytes.remove_prefix(end + 1);
    }
    partial_.append(bytes);
}

void MetricsParser::finish(double t_s) {
    // The line that the limit cut says nothing about what the process wrote.
    if (!partial_.empty() && !truncated_) take_line(partial_, t_s);
    partial_.clear();
}

void MetricsParser::take_line(std::string_view line, double t_s) {
    ++line_number_;
    if (is_blank(line)) return;
    if (line.size() > longest_line_bytes) {
        report("longer than 1 MiB");
        return;
    }
    auto parsed = parse_metric_line(line);
    if (const auto* problem = std::get_if<MetricLineProblem>(&parsed)) {
        report(problem->text);
        return;
    }
    points_.push_back(std::move(std::get<MetricPoint>(parsed)));
    points_.back().t_s = t_s;
    if (replace_nuls(points_.back())) report("a NUL character (\\u0000) was replaced by U+FFFD");
}

void MetricsParser::report(std::string text) {
    if (problem_count_++ < most_problems) problems_.push_back(fmt::format("line {}: {}", line_number_, text));
}

std::vector<std::string> MetricsParser::problems() const {
    std::vector<std::string> result = problems_;
    // The last place tells of those without one, so that no reader sees more than the promised number.
    if (problem_count_ > most_problems)
        result.back() =
            fmt::format("{}; and {} bad lines more", result.back(), problem_count_ - most_problems);
    return result;
}

std::vector<MetricPoint> MetricsReader::read_new(double t_s) {
    read_file(t_s);
    return take_news();
}

std::vector<MetricPoint> MetricsReader::finish(double t_s) {
    read_file(t_s);
    parser_.finish(t_s);
    file_.reset();
    return take_news();
}

void MetricsReader::read_file(double t_s) {
    if (!file_) {
        try {
            file_ = open_cell_file(path_, O_RDONLY);
        } catch (const NotRegularFile& error) {
            file_problem_ = error.what();
            return;
        } catch (const IoError& error) {
            if (error.code != ENOENT) file_problem_ = error.what();
            return;
        }
    }
    char buffer[65536];
    while (!parser_.truncated()) {
        const ssize_t count = ::read(file_.get(), buffer, sizeof buffer);
        if (count > 0) {
            parser_.feed({buffer, static_cast<std::size_t>(count)}, t_s);
        } else if (count == 0 || errno != EINTR) {
            if (count < 0) file_problem_ = IoError("read", path_, errno).what();
            return;
        }
    }
}

std::vector<MetricPoint> MetricsReader::take_news() {
    const auto& all = parser_.points();
    std::vector<MetricPoint> news(all.begin() + static_cast<std::ptrdiff_t>(reported_), all.end());
    reported_ = all.size();
    return news;
}

std::vector<std::string> MetricsReader::problems() const {
    std::vector<std::string> result = parser_.problems();
    if (!file_problem_.empty()) {
        if (result.size() == most_problems) result.pop_back();
        result.insert(result.begin(), file_problem_);
    }
    return result;
}

} // namespace tessera
