#include <tessera/journal/codec.hpp>
#include <tessera/journal/fields.hpp>

namespace tessera::codec {

using fields::put;

void write(WireWriter& out, const PartOpenRecord& record) {
    put(out, 1, record.campaign_id);
    put(out, 2, record.campaign_name);
    put(out, 3, record.version);
    put(out, 4, record.host);
    put(out, 5, record.boot_id);
    put(out, 6, record.pid);
    put(out, 7, record.job);
    put(out, 8, record.user);
    put(out, 9, record.command_line);
    put(out, 10, record.opened_ns);
}

void read(WireReader in, PartOpenRecord& record) {
    while (in.next()) {
        switch (in.tag()) {
        case 1:
            record.campaign_id = in.as_id();
            break;
        case 2:
            record.campaign_name = in.as_string();
            break;
        case 3:
            record.version = in.as_string();
            break;
        case 4:
            record.host = in.as_string();
            break;
        case 5:
            record.boot_id = in.as_string();
            break;
        case 6:
            record.pid = in.as_int();
            break;
        case 7:
            record.job = in.as_string();
            break;
        case 8:
            record.user = in.as_string();
            break;
        case 9:
            record.command_line.push_back(in.as_string());
            break;
        case 10:
            record.opened_ns = in.as_int();
            break;
        default:
            break;
        }
    }
}

void write(WireWriter& out, const ClaimRecord& record) {
    put_record(out, 1, record.claim);
    put(out, 2, record.predecessor);
    put(out, 3, record.last_honoured);
}

void read(WireReader in, ClaimRecord& record) {
    while (in.next()) {
        switch (in.tag()) {
        case 1:
            read(in.as_record(), record.claim);
            break;
        case 2:
            record.predecessor = in.as_string();
            break;
        case 3:
            record.last_honoured = in.as_uint();
            break;
        default:
            break;
        }
    }
}

namespace {

void write(WireWriter& out, const DispatchedItem& record) {
    put(out, 1, record.step);
    out.uint_field(2, record.number);
    out.uint_field(3, record.generation);
    put(out, 4, record.inputs);
}

void read(WireReader in, DispatchedItem& record) {
    while (in.next()) {
        switch (in.tag()) {
        case 1:
            record.step = in.as_id();
            break;
        case 2:
            record.number = in.as_uint32();
            break;
        case 3:
            record.generation = in.as_uint32();
            break;
        case 4:
            record.inputs.push_back(in.as_string());
            break;
        default:
            break;
        }
    }
}

void write(WireWriter& out, const InvalidatedRecord::Item& record) {
    put(out, 1, record.step);
    out.uint_field(2, record.generation);
}

void read(WireReader in, InvalidatedRecord::Item& record) {
    while (in.next()) {
        switch (in.tag()) {
        case 1:
            record.step = in.as_id();
            break;
        case 2:
            record.generation = in.as_uint32();
            break;
        default:
            break;
        }
    }
}

} // namespace

void write(WireWriter& out, const DispatchedRecord& record) {
    put(out, 1, record.worker);
    put_record(out, 2, record.claim);
    put(out, 3, record.at_ns);
    for (const DispatchedItem& item : record.items)
        out.record_field(4, [&](WireWriter& nested) { write(nested, item); });
}

void read(WireReader in, DispatchedRecord& record) {
    while (in.next()) {
        switch (in.tag()) {
        case 1:
            record.worker = in.as_uint32();
            break;
        case 2:
            read(in.as_record(), record.claim);
            break;
        case 3:
            record.at_ns = in.as_int();
            break;
        case 4:
            read(in.as_record(), record.items.emplace_back());
            break;
        default:
            break;
        }
    }
}

void write(WireWriter& out, const StartedRecord& record) {
    put(out, 1, record.step);
    out.uint_field(2, record.number);
    put(out, 3, record.worker);
    put(out, 4, record.host);
    put(out, 5, record.devices);
    put(out, 6, record.at_ns);
}

void read(WireReader in, StartedRecord& record) {
    while (in.next()) {
        switch (in.tag()) {
        case 1:
            record.step = in.as_id();
            break;
        case 2:
            record.number = in.as_uint32();
            break;
        case 3:
            record.worker = in.as_uint32();
            break;
        case 4:
            record.host = in.as_string();
            break;
        case 5:
            record.devices.push_back(in.as_string());
            break;
        case 6:
            record.at_ns = in.as_int();
            break;
        default:
            break;
        }
    }
}

void write(WireWriter& out, const InvalidatedRecord& record) {
    for (const InvalidatedRecord::Item& item : record.items)
        out.record_field(1, [&](WireWriter& nested) { write(nested, item); });
    put(out, 2, record.reason);
    put(out, 3, record.user);
    put(out, 4, record.at_ns);
}

void read(WireReader in, InvalidatedRecord& record) {
    while (in.next()) {
        switch (in.tag()) {
        case 1:
            read(in.as_record(), record.items.emplace_back());
            break;
        case 2:
            record.reason = in.as_string();
            break;
        case 3:
            record.user = in.as_string();
            break;
        case 4:
            record.at_ns = in.as_int();
            break;
        default:
            break;
        }
    }
}

void write(WireWriter& out, const PartCloseRecord& record) {
    put(out, 1, std::int64_t{record.exit_code});
    put(out, 2, record.reason);
    put(out, 3, record.at_ns);
}

void read(WireReader in, PartCloseRecord& record) {
    while (in.next()) {
        switch (in.tag()) {
        case 1:
            record.exit_code = fields::read_int32(in);
            break;
        case 2:
            record.reason = in.as_string();
            break;
        case 3:
            record.at_ns = in.as_int();
            break;
        default:
            break;
        }
    }
}

} // namespace tessera::codec
