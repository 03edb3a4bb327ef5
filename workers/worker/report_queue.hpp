#pragma once

#include <tessera/base/clock.hpp>
#include <tessera/protocol/messages.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tessera {

struct ReportLimits {
    std::size_t report_bytes = std::size_t{8} << 20U;  ///< of one Report, about
    std::size_t metrics_bytes = std::size_t{8} << 20U; ///< streamed metrics beyond are dropped
};

/// Events on their way into Reports. An attempt's outcome says all that its started and metrics events did,
/// so those are left out when it ended before they were sent; and streamed metrics are dropped when too many
/// wait.
class ReportQueue {
public:
    explicit ReportQueue(ReportLimits limits = {})
        : limits_(limits) {}

    void add(StartedEvent event, Moment now);
    void add(MetricsEvent event, Moment now);
    void add(EndedEvent event, Moment now);

    bool is_empty() const { return started_.empty() && metrics_.empty() && ended_.empty(); }

    /// Outcomes that wait.
    std::size_t ended_count() const { return ended_.size(); }

    /// About the memory that waiting outcomes take.
    std::size_t ended_bytes() const { return ended_bytes_; }

    /// Since when something waits.
    std::optional<Moment> waiting_since() const { return waiting_since_; }

    /// The next Report; not from an empty queue.
    Report take(Moment now);

private:
    void note(Moment now);
    void drop_superseded();
    std::vector<EndedEvent> take_ended();

    ReportLimits limits_;
    std::uint64_t last_number_ = 0;
    std::vector<StartedEvent> started_;
    std::vector<MetricsEvent> metrics_;
    std::vector<EndedEvent> ended_;
    std::size_t metrics_bytes_ = 0;
    std::size_t ended_bytes_ = 0;
    std::optional<Moment> waiting_since_;
};

} // namespace tessera
