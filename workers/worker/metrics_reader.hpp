#pragma once

#include <tessera/base/fd.hpp>
#include <tessera/journal/records.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

/// Collects the points of a stream of metric lines that arrives in pieces. Pure: no input can make it throw.
class MetricsParser {
public:
    explicit MetricsParser(std::uint64_t limit_bytes)
        : limit_bytes_(limit_bytes) {}

    /// Bytes as they come, read `t_s` seconds after the attempt's start.
    void feed(std::string_view bytes, double t_s);

    /// The stream has ended: a last line without a newline counts if it parses, and is reported if it does
    /// not.
    void finish(double t_s);

    /// All so far.
    const std::vector<MetricPoint>& points() const { return points_; }

    /// "line 3: ...", the first 20; the last says how many others there were. A line whose text or unit held
    /// a NUL is among them, although its point counts, with U+FFFD instead.
    std::vector<std::string> problems() const;

    /// More bytes came than the limit; the rest was left out.
    bool truncated() const { return truncated_; }

private:
    void take_line(std::string_view line, double t_s);
    void report(std::string text);

    std::uint64_t limit_bytes_;
    std::uint64_t bytes_ = 0;
    std::uint64_t line_number_ = 0;
    std::string partial_;
    std::vector<MetricPoint> points_;
    std::vector<std::string> problems_;
    std::uint64_t problem_count_ = 0;
    bool truncated_ = false;
};

/// Follows the metrics file of one attempt, which need not exist (yet).
class MetricsReader {
public:
    MetricsReader(std::string path, std::uint64_t limit_bytes)
        : path_(std::move(path))
        , parser_(limit_bytes) {}

    /// Takes what was appended since the last call; returns the new points.
    std::vector<MetricPoint> read_new(double t_s);

    /// Takes the rest and ends.
    std::vector<MetricPoint> finish(double t_s);

    const std::vector<MetricPoint>& points() const { return parser_.points(); }

    bool truncated() const { return parser_.truncated(); }

    /// Those of the lines, and of the file itself if it could not be read.
    std::vector<std::string> problems() const;

private:
    void read_file(double t_s);
    std::vector<MetricPoint> take_news();

    std::string path_;
    UniqueFd file_;
    std::string file_problem_;
    MetricsParser parser_;
    std::size_t reported_ = 0;
};

} // namespace tessera
