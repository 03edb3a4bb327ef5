#include <tessera/journal/fields.hpp>
#include <tessera/protocol/codec.hpp>
#include <tessera/protocol/report_codec.hpp>

#include <utility>

namespace tessera {

namespace {

/// The first field of every message; numbers are never reused. A message's own fields have the tags from 2
/// on.
constexpr std::uint32_t type_tag = 1;

enum class MessageType : std::uint8_t {
    hello = 1,
    welcome,
    refuse,
    assign,
    revoke,
    revoked,
    report,
    acknowledge,
    stop,
    goodbye,
    heartbeat,
};

void encode_node(const NodeReport& node, WireWriter& out) {
    out.bytes_field(1, node.node);
    out.bytes_field(2, node.host);
    out.bytes_field(3, node.boot_id);
    for (const std::uint32_t cpu : node.cpus)
        out.uint_field(4, cpu);
    out.uint_field(5, node.memory_bytes);
    for (const std::string& device : node.devices)
        out.bytes_field(6, device);
    for (const std::string& id : node.device_ids)
        out.bytes_field(7, id);
    for (const std::uint32_t place : node.device_locality)
        out.uint_field(8, place);
}

NodeReport decode_node(WireReader in) {
    NodeReport node;
    while (in.next()) {
        switch (in.tag()) {
        case 1:
            node.node = in.as_string();
            break;
        case 2:
            node.host = in.as_string();
            break;
        case 3:
            node.boot_id = in.as_string();
            break;
        case 4:
            node.cpus.push_back(in.as_uint32());
            break;
        case 5:
            node.memory_bytes = in.as_uint();
            break;
        case 6:
            node.devices.push_back(in.as_string());
            break;
        case 7:
            node.device_ids.push_back(in.as_string());
            break;
        case 8:
            node.device_locality.push_back(in.as_uint32());
            break;
        default:
            break;
        }
    }
    return node;
}

void encode_fields(const Hello& hello, WireWriter& out) {
    out.uint_field(2, hello.version);
    out.bytes_field(3, hello.build);
    out.id_field(4, hello.campaign_id);
    out.int_field(5, hello.pid);
    out.int_field(6, hello.monotonic_ns);
    out.int_field(7, hello.wall_ns);
    out.record_field(8, [&](WireWriter& nested) { encode_node(hello.node, nested); });
}

Hello decode_hello(WireReader& in) {
    Hello hello;
    hello.version = 0;
    while (in.next()) {
        switch (in.tag()) {
        case 2:
            hello.version = in.as_uint32();
            break;
        case 3:
            hello.build = in.as_string();
            break;
        case 4:
            hello.campaign_id = in.as_id();
            break;
        case 5:
            hello.pid = in.as_int();
            break;
        case 6:
            hello.monotonic_ns = in.as_int();
            break;
        case 7:
            hello.wall_ns = in.as_int();
            break;
        case 8:
            hello.node = decode_node(in.as_record());
            break;
        default:
            break;
        }
    }
    return hello;
}

void encode_fields(const Welcome& welcome, WireWriter& out) {
    out.uint_field(2, welcome.worker);
    out.bytes_field(3, welcome.part);
    out.bytes_field(4, welcome.campaign_dir);
    for (const std::uint32_t cpu : welcome.cpus)
        out.uint_field(5, cpu);
    for (const std::string& device : welcome.devices)
        out.bytes_field(6, device);
    out.bytes_field(7, welcome.visibility_variable);
    out.uint_field(8, welcome.core_slots);
    out.uint_field(9, welcome.memory_bytes);
    out.double_field(10, welcome.heartbeat_s);
    out.double_field(11, welcome.report_interval_s);
}

Welcome decode_welcome(WireReader& in) {
    Welcome welcome;
    while (in.next()) {
        switch (in.tag()) {
        case 2:
            welcome.worker = in.as_uint32();
            break;
        case 3:
            welcome.part = in.as_string();
            break;
        case 4:
            welcome.campaign_dir = in.as_string();
            break;
        case 5:
            welcome.cpus.push_back(in.as_uint32());
            break;
        case 6:
            welcome.devices.push_back(in.as_string());
            break;
        case 7:
            welcome.visibility_variable = in.as_string();
            break;
        case 8:
            welcome.core_slots = in.as_uint32();
            break;
        case 9:
            welcome.memory_bytes = in.as_uint();
            break;
        case 10:
            welcome.heartbeat_s = in.as_double();
            break;
        case 11:
            welcome.report_interval_s = in.as_double();
            break;
        default:
            break;
        }
    }
    return welcome;
}

void encode_fields(const Refuse& refuse, WireWriter& out) {
    out.bytes_field(2, refuse.reason);
}

Refuse decode_refuse(WireReader& in) {
    Refuse refuse;
    while (in.next())
        if (in.tag() == 2) refuse.reason = in.as_string();
    return refuse;
}

void encode_tickets(const std::vector<std::uint64_t>& tickets, WireWriter& out) {
    for (const std::uint64_t ticket : tickets)
        out.uint_field(2, ticket);
}

std::vector<std::uint64_t> decode_tickets(WireReader& in) {
    std::vector<std::uint64_t> tickets;
    while (in.next())
        if (in.tag() == 2) tickets.push_back(in.as_uint());
    return tickets;
}

Acknowledge decode_acknowledge(WireReader& in) {
    Acknowledge acknowledge;
    while (in.next())
        if (in.tag() == 2) acknowledge.number = in.as_uint();
    return acknowledge;
}

Stop decode_stop(WireReader& in) {
    Stop stop;
    while (in.next())
        if (in.tag() == 2) stop.mode = fields::read_enum(in, StopMode::abandon);
    return stop;
}

/// Writes a message as its type and its fields.
class Encoding {
public:
    explicit Encoding(AssignEncoder& assign)
        : assign_(assign) {}

    std::string operator()(const Message& message) {
        std::visit([this](const auto& it) { write(it); }, message);
        return out_.take();
    }

private:
    void begin(MessageType type) { out_.uint_field(type_tag, static_cast<std::uint64_t>(type)); }

    void write(const Hello& it) {
        begin(MessageType::hello);
        encode_fields(it, out_);
    }

    void write(const Welcome& it) {
        begin(MessageType::welcome);
        encode_fields(it, out_);
    }

    void write(const Refuse& it) {
        begin(MessageType::refuse);
        encode_fields(it, out_);
    }

    void write(const Assign& it) {
        begin(MessageType::assign);
        assign_.encode(it, out_);
    }

    void write(const Revoke& it) {
        begin(MessageType::revoke);
        encode_tickets(it.tickets, out_);
    }

    void write(const Revoked& it) {
        begin(MessageType::revoked);
        encode_tickets(it.tickets, out_);
    }

    void write(const Report& it) {
        begin(MessageType::report);
        encode_report(it, out_);
    }

    void write(const Acknowledge& it) {
        begin(MessageType::acknowledge);
        out_.uint_field(2, it.number);
    }

    void write(const Stop& it) {
        begin(MessageType::stop);
        out_.uint_field(2, static_cast<std::uint64_t>(it.mode));
    }

    void write(const Goodbye& /*it*/) { begin(MessageType::goodbye); }

    void write(const Heartbeat& /*it*/) { begin(MessageType::heartbeat); }

    AssignEncoder& assign_;
    WireWriter out_;
};

Message decode_fields(MessageType type, WireReader& in, AssignDecoder& assign) {
    switch (type) {
    case MessageType::hello:
        return decode_hello(in);
    case MessageType::welcome:
        return decode_welcome(in);
    case MessageType::refuse:
        return decode_refuse(in);
    case MessageType::assign:
        return assign.decode(in);
    case MessageType::revoke:
        return Revoke{decode_tickets(in)};
    case MessageType::revoked:
        return Revoked{decode_tickets(in)};
    case MessageType::report:
        return decode_report(in);
    case MessageType::acknowledge:
        return decode_acknowledge(in);
    case MessageType::stop:
        return decode_stop(in);
    case MessageType::goodbye:
        return Goodbye{};
    case MessageType::heartbeat:
        return Heartbeat{};
    }
    in.fail("a message has an unknown type");
}

} // namespace

std::string encode_message(const Message& message) {
    return MessageEncoder().encode(message);
}

Message decode_message(std::string_view bytes, std::string_view source) {
    return MessageDecoder().decode(bytes, source);
}

std::string MessageEncoder::encode(const Message& message) {
    return Encoding(assign_)(message);
}

Message MessageDecoder::decode(std::string_view bytes, std::string_view source) {
    WireReader in(bytes, source);
    if (!in.next() || in.tag() != type_tag) in.fail("not a message: it has no type");
    return decode_fields(fields::read_enum(in, MessageType::heartbeat), in, assign_);
}

} // namespace tessera
