#include <tessera/journal/codec.hpp>
#include <tessera/journal/fields.hpp>

namespace tessera::codec {

using fields::put;
using fields::put_enum;
using fields::read_enum;

void write(WireWriter& out, const ClaimRef& record) {
    put(out, 1, record.batch);
    put(out, 2, record.epoch);
}

void read(WireReader in, ClaimRef& record) {
    while (in.next()) {
        switch (in.tag()) {
        case 1:
            record.batch = in.as_string();
            break;
        case 2:
            record.epoch = in.as_uint32();
            break;
        default:
            break;
        }
    }
}

void write(WireWriter& out, const AttemptId& record) {
    put(out, 1, record.part);
    put(out, 2, record.step);
    out.uint_field(3, record.number);
}

void read(WireReader in, AttemptId& record) {
    while (in.next()) {
        switch (in.tag()) {
        case 1:
            record.part = in.as_string();
            break;
        case 2:
            record.step = in.as_id();
            break;
        case 3:
            record.number = in.as_uint32();
            break;
        default:
            break;
        }
    }
}

void write(WireWriter& out, const MetricPoint& record) {
    put(out, 1, record.name);
    put_enum(out, 2, record.role);
    if (record.series_index) out.int_field(3, *record.series_index);
    if (record.member) out.uint_field(4, *record.member);
    put(out, 5, record.t_s);
    put(out, 6, record.value);
    if (record.text) out.bytes_field(7, *record.text);
    put(out, 8, record.unit);
    put_enum(out, 9, record.direction);
}

void read(WireReader in, MetricPoint& record) {
    while (in.next()) {
        switch (in.tag()) {
        case 1:
            record.name = in.as_string();
            break;
        case 2:
            record.role = read_enum(in, MetricRole::baseline);
            break;
        case 3:
            record.series_index = in.as_int();
            break;
        case 4:
            record.member = in.as_uint32();
            break;
        case 5:
            record.t_s = in.as_double();
            break;
        case 6:
            record.value = in.as_double();
            break;
        case 7:
            record.text = in.as_string();
            break;
        case 8:
            record.unit = in.as_string();
            break;
        case 9:
            record.direction = read_enum(in, Direction::higher);
            break;
        default:
            break;
        }
    }
}

void write(WireWriter& out, const MetricsRecord& record) {
    put(out, 1, record.step);
    out.uint_field(2, record.number);
    put_records(out, 3, record.points);
}

void read(WireReader in, MetricsRecord& record) {
    while (in.next()) {
        switch (in.tag()) {
        case 1:
            record.step = in.as_id();
            break;
        case 2:
            record.number = in.as_uint32();
            break;
        case 3:
            read(in.as_record(), record.points.emplace_back());
            break;
        default:
            break;
        }
    }
}

void write(WireWriter& out, const OutcomeRecord& record) {
    put_record(out, 1, record.attempt);
    out.uint_field(2, record.generation);
    put_record(out, 3, record.claim);
    out.uint_field(4, static_cast<std::uint64_t>(record.kind));
    put_enum(out, 5, record.failure);
    put(out, 6, record.message);
    if (record.exit_code) out.int_field(7, *record.exit_code);
    if (record.signal) out.int_field(8, *record.signal);
    put(out, 9, record.worker);
    put(out, 10, record.host);
    put(out, 11, record.devices);
    if (!record.cpus.empty()) fields::put_numbers(out, 12, record.cpus);
    put(out, 13, record.started_ns);
    put(out, 14, record.ended_ns);
    put(out, 15, record.duration_s);
    put(out, 16, record.user_s);
    put(out, 17, record.system_s);
    put(out, 18, record.max_rss_bytes);
    put(out, 19, record.leaked_processes);
    put(out, 20, record.folder);
    put(out, 21, record.log_pack);
    put(out, 22, record.log_pack_offset);
    put(out, 23, record.stdout_bytes);
    put(out, 24, record.stderr_bytes);
    put(out, 25, record.stdout_truncated);
    put(out, 26, record.stderr_truncated);
    put(out, 27, record.metrics_truncated);
    put(out, 28, record.metric_problems);
    put_records(out, 29, record.metrics);
}

namespace {

void read_outcome_resources(const WireReader& in, OutcomeRecord& record) {
    switch (in.tag()) {
    case 11:
        record.devices.push_back(in.as_string());
        break;
    case 12:
        record.cpus = fields::read_numbers(in);
        break;
    case 13:
        record.started_ns = in.as_int();
        break;
    case 14:
        record.ended_ns = in.as_int();
        break;
    case 15:
        record.duration_s = in.as_double();
        break;
    case 16:
        record.user_s = in.as_double();
        break;
    case 17:
        record.system_s = in.as_double();
        break;
    case 18:
        record.max_rss_bytes = in.as_uint();
        break;
    case 19:
        record.leaked_processes = in.as_uint32();
        break;
    default:
        break;
    }
}

void read_outcome_files(const WireReader& in, OutcomeRecord& record) {
    switch (in.tag()) {
    case 20:
        record.folder = in.as_string();
        break;
    case 21:
        record.log_pack = in.as_string();
        break;
    case 22:
        record.log_pack_offset = in.as_uint();
        break;
    case 23:
        record.stdout_bytes = in.as_uint();
        break;
    case 24:
        record.stderr_bytes = in.as_uint();
        break;
    case 25:
        record.stdout_truncated = in.as_bool();
        break;
    case 26:
        record.stderr_truncated = in.as_bool();
        break;
    case 27:
        record.metrics_truncated = in.as_bool();
        break;
    case 28:
        record.metric_problems.push_back(in.as_string());
        break;
    case 29:
        read(in.as_record(), record.metrics.emplace_back());
        break;
    default:
        break;
    }
}

} // namespace

void read(WireReader in, OutcomeRecord& record) {
    bool has_kind = false;
    while (in.next()) {
        switch (in.tag()) {
        case 1:
            read(in.as_record(), record.attempt);
            break;
        case 2:
            record.generation = in.as_uint32();
            break;
        case 3:
            read(in.as_record(), record.claim);
            break;
        case 4:
            record.kind = read_enum(in, OutcomeKind::lost);
            has_kind = true;
            break;
        case 5:
            record.failure = read_enum(in, FailureClass::verdict);
            break;
        case 6:
            record.message = in.as_string();
            break;
        case 7:
            record.exit_code = fields::read_int32(in);
            break;
        case 8:
            record.signal = fields::read_int32(in);
            break;
        case 9:
            record.worker = in.as_uint32();
            break;
        case 10:
            record.host = in.as_string();
            break;
        default:
            read_outcome_resources(in, record);
            read_outcome_files(in, record);
            break;
        }
    }
    if (!has_kind) in.fail("an outcome does not say how its attempt ended");
}

} // namespace tessera::codec
