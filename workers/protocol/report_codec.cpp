#include <tessera/journal/codec.hpp>
#include <tessera/protocol/report_codec.hpp>

#include <utility>

namespace tessera {

namespace {

namespace tag {
enum : std::uint32_t {
    number = 2,
    started_ticket,
    started_at,
    started_device,
    metrics_ticket,
    metrics_point,
    ended_ticket,
    ended_outcome,
};
}

/// The event that the fields now belong to.
template <class Event>
Event& last(std::vector<Event>& events, const WireReader& in) {
    if (events.empty()) in.fail("a field comes before the event it belongs to");
    return events.back();
}

} // namespace

void encode_report(const Report& report, WireWriter& out) {
    out.uint_field(tag::number, report.number);
    for (const StartedEvent& event : report.started) {
        out.uint_field(tag::started_ticket, event.ticket);
        out.int_field(tag::started_at, event.at_ns);
        for (const std::string& device : event.devices)
            out.bytes_field(tag::started_device, device);
    }
    for (const MetricsEvent& event : report.metrics) {
        out.uint_field(tag::metrics_ticket, event.ticket);
        codec::put_records(out, tag::metrics_point, event.points);
    }
    for (const EndedEvent& event : report.ended) {
        out.uint_field(tag::ended_ticket, event.ticket);
        codec::put_record(out, tag::ended_outcome, event.outcome);
    }
}

Report decode_report(WireReader& in) {
    Report report;
    while (in.next()) {
        switch (in.tag()) {
        case tag::number:
            report.number = in.as_uint();
            break;
        case tag::started_ticket:
            report.started.emplace_back().ticket = in.as_uint();
            break;
        case tag::started_at:
            last(report.started, in).at_ns = in.as_int();
            break;
        case tag::started_device:
            last(report.started, in).devices.push_back(in.as_string());
            break;
        case tag::metrics_ticket:
            report.metrics.emplace_back().ticket = in.as_uint();
            break;
        case tag::metrics_point:
            codec::read(in.as_record(), last(report.metrics, in).points.emplace_back());
            break;
        case tag::ended_ticket:
            report.ended.emplace_back().ticket = in.as_uint();
            break;
        case tag::ended_outcome:
            codec::read(in.as_record(), last(report.ended, in).outcome);
            break;
        default:
            break;
        }
    }
    return report;
}

} // namespace tessera
