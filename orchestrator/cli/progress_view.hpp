#pragma once

#include <tessera/base/clock.hpp>
#include <tessera/controller/progress.hpp>

#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace tessera {

/// The lines that show a run, each at most `width` columns.
std::vector<std::string> progress_lines(const Progress& progress, std::size_t width);

enum class ProgressStyle {
    repaint, ///< a few lines that are painted over, for a terminal
    plain,   ///< a line now and then, for logs
    json,    ///< each snapshot as one line of JSON
};

/// Shows a run's progress on a stream.
class ProgressView {
public:
    /// `width` of 0: not known, 80 then.
    ProgressView(std::ostream& out, ProgressStyle style, std::size_t width)
        : out_(out)
        , style_(style)
        , width_(width == 0 ? 80 : width) {}

    void show(const Progress& progress, Moment now);

    /// Text that is not progress goes above what is painted.
    void print(const std::string& text);

    /// Leaves the last state on the screen.
    void finish();

private:
    void paint(const Progress& progress);
    void erase();

    std::ostream& out_;
    ProgressStyle style_;
    std::size_t width_;
    std::size_t painted_lines_ = 0;
    std::vector<std::string> last_lines_;
    std::optional<Moment> last_plain_;
    std::string last_phase_;
};

/// Repainting on a terminal, plain lines elsewhere.
ProgressStyle default_progress_style();

} // namespace tessera
