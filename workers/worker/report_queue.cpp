#include <tessera/worker/report_queue.hpp>

#include <iterator>
#include <unordered_set>
#include <utility>

namespace tessera {

namespace {

std::size_t size_of(const std::vector<MetricPoint>& points) {
    std::size_t size = points.size() * sizeof(MetricPoint);
    for (const MetricPoint& point : points)
        size += point.name.size() + point.unit.size() + (point.text ? point.text->size() : 0);
    return size;
}

std::size_t size_of(const EndedEvent& event) {
    return sizeof event + event.outcome.message.size() + size_of(event.outcome.metrics);
}

} // namespace

void ReportQueue::add(StartedEvent event, Moment now) {
    started_.push_back(std::move(event));
    note(now);
}

void ReportQueue::add(MetricsEvent event, Moment now) {
    const std::size_t size = sizeof event + size_of(event.points);
    if (metrics_bytes_ + size > limits_.metrics_bytes) return;
    metrics_bytes_ += size;
    metrics_.push_back(std::move(event));
    note(now);
}

void ReportQueue::add(EndedEvent event, Moment now) {
    ended_bytes_ += size_of(event);
    ended_.push_back(std::move(event));
    note(now);
}

Report ReportQueue::take(Moment now) {
    drop_superseded();
    Report report;
    report.number = ++last_number_;
    report.started = std::exchange(started_, {});
    report.metrics = std::exchange(metrics_, {});
    report.ended = take_ended();
    metrics_bytes_ = 0;
    waiting_since_.reset();
    if (!is_empty()) note(now);
    return report;
}

void ReportQueue::note(Moment now) {
    if (!waiting_since_) waiting_since_ = now;
}

void ReportQueue::drop_superseded() {
    if (ended_.empty() || (started_.empty() && metrics_.empty())) return;
    std::unordered_set<std::uint64_t> over;
    for (const EndedEvent& event : ended_)
        over.insert(event.ticket);
    std::erase_if(started_, [&](const StartedEvent& event) { return over.contains(event.ticket); });
    std::erase_if(metrics_, [&](const MetricsEvent& event) { return over.contains(event.ticket); });
}

std::vector<EndedEvent> ReportQueue::take_ended() {
    if (ended_bytes_ <= limits_.report_bytes) {
        ended_bytes_ = 0;
        return std::exchange(ended_, {});
    }
    std::size_t taken_bytes = 0;
    auto end = ended_.begin();
    while (end != ended_.end() &&
           (end == ended_.begin() || taken_bytes + size_of(*end) <= limits_.report_bytes))
        taken_bytes += size_of(*end++);
    std::vector<EndedEvent> taken(std::make_move_iterator(ended_.begin()), std::make_move_iterator(end));
    ended_.erase(ended_.begin(), end);
    ended_bytes_ -= taken_bytes;
    return taken;
}

} // namespace tessera
