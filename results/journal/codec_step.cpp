#include <tessera/journal/codec.hpp>
#include <tessera/journal/fields.hpp>

namespace tessera::codec {

using fields::put;
using fields::put_enum;

namespace {

void write(WireWriter& out, const EnvEntry& record) {
    put(out, 1, record.name);
    put(out, 2, record.value);
}

void read(WireReader in, EnvEntry& record) {
    while (in.next()) {
        switch (in.tag()) {
        case 1:
            record.name = in.as_string();
            break;
        case 2:
            record.value = in.as_string();
            break;
        default:
            break;
        }
    }
}

void write(WireWriter& out, const Resources& record) {
    out.uint_field(1, record.cores);
    put(out, 2, record.memory_bytes);
    put(out, 3, record.devices);
}

void read(WireReader in, Resources& record) {
    while (in.next()) {
        switch (in.tag()) {
        case 1:
            record.cores = in.as_uint32();
            break;
        case 2:
            record.memory_bytes = in.as_uint();
            break;
        case 3:
            record.devices = in.as_uint32();
            break;
        default:
            break;
        }
    }
}

void read_limits(const WireReader& in, StepSpec& record) {
    switch (in.tag()) {
    case 9:
        record.timeout_s = in.as_double();
        break;
    case 10:
        record.grace_s = in.as_double();
        break;
    case 12:
        record.keep_attempts = fields::read_enum(in, KeepAttempts::none);
        break;
    case 13:
        record.log_limit_bytes = in.as_uint();
        break;
    case 14:
        record.metrics_limit_bytes = in.as_uint();
        break;
    case 15:
        record.axes_json = in.as_string();
        break;
    case 16:
        record.cell = in.as_string();
        break;
    case 17:
        record.repeat = in.as_uint32();
        break;
    case 18:
        record.seed = in.as_uint();
        break;
    case 19:
        record.campaign_folder = in.as_string();
        break;
    default:
        break;
    }
}

} // namespace

void write(WireWriter& out, const StepSpec& record) {
    put(out, 1, record.name);
    put(out, 2, record.executor);
    put(out, 3, record.accelerator);
    put(out, 4, record.argv);
    for (const EnvEntry& entry : record.env)
        out.record_field(5, [&](WireWriter& nested) { write(nested, entry); });
    if (record.stdin_text) out.bytes_field(6, *record.stdin_text);
    out.record_field(7, [&](WireWriter& nested) { write(nested, record.resources); });
    if (record.timeout_s) out.double_field(9, *record.timeout_s);
    out.double_field(10, record.grace_s);
    put(out, 11, record.keep);
    put_enum(out, 12, record.keep_attempts);
    out.uint_field(13, record.log_limit_bytes);
    out.uint_field(14, record.metrics_limit_bytes);
    put(out, 15, record.axes_json);
    put(out, 16, record.cell);
    if (record.repeat) out.uint_field(17, *record.repeat);
    if (record.seed) out.uint_field(18, *record.seed);
    put(out, 19, record.campaign_folder);
}

void read(WireReader in, StepSpec& record) {
    while (in.next()) {
        switch (in.tag()) {
        case 1:
            record.name = in.as_string();
            break;
        case 2:
            record.executor = in.as_string();
            break;
        case 3:
            record.accelerator = in.as_string();
            break;
        case 4:
            record.argv.push_back(in.as_string());
            break;
        case 5:
            read(in.as_record(), record.env.emplace_back());
            break;
        case 6:
            record.stdin_text = in.as_string();
            break;
        case 7:
            read(in.as_record(), record.resources);
            break;
        case 11:
            record.keep.push_back(in.as_string());
            break;
        default:
            read_limits(in, record);
            break;
        }
    }
}

void write(WireWriter& out, const StepRecord& record) {
    put(out, 1, record.key);
    fields::put_ids(out, 2, record.needs);
    put_record(out, 3, record.spec);
}

void read(WireReader in, StepRecord& record) {
    while (in.next()) {
        switch (in.tag()) {
        case 1:
            record.key = in.as_id();
            break;
        case 2:
            record.needs = fields::read_ids(in);
            break;
        case 3:
            read(in.as_record(), record.spec);
            break;
        default:
            break;
        }
    }
}

} // namespace tessera::codec
