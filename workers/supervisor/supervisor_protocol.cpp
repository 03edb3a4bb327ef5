#include <tessera/base/wire.hpp>
#include <tessera/supervisor/supervisor_protocol.hpp>

#include <cerrno>
#include <sys/socket.h>
#include <sys/types.h>

#include <unistd.h>

namespace tessera {

namespace {

constexpr std::uint32_t largest_frame_bytes = 1U << 30U;
constexpr std::string_view source = "supervisor socket";

// Field 1 of a message holds a record of the kind that its own tag names.
enum RequestTag : std::uint32_t { spawn_tag = 1, stop_tag = 2, sweep_tag = 3, shutdown_tag = 4 };

enum ReportTag : std::uint32_t { started_tag = 1, limit_tag = 2, ended_tag = 3 };

void write(WireWriter& out, const SpawnRequest& request) {
    out.uint_field(1, request.ticket);
    out.bytes_field(2, request.attempt);
    for (const std::string& argument : request.argv)
        out.bytes_field(3, argument);
    for (const std::string& entry : request.env)
        out.bytes_field(4, entry);
    out.bytes_field(5, request.folder);
    for (const std::uint32_t cpu : request.cpus)
        out.uint_field(6, cpu);
    if (request.stdin_text) out.bytes_field(7, *request.stdin_text);
    out.bytes_field(8, request.stdout_path);
    out.bytes_field(9, request.stderr_path);
    out.uint_field(10, request.log_limit_bytes);
    if (request.timeout_s) out.double_field(11, *request.timeout_s);
    out.double_field(12, request.grace_s);
}

SpawnRequest read_spawn(WireReader in) {
    SpawnRequest request;
    while (in.next()) {
        switch (in.tag()) {
        case 1:
            request.ticket = in.as_uint();
            break;
        case 2:
            request.attempt = in.as_string();
            break;
        case 3:
            request.argv.push_back(in.as_string());
            break;
        case 4:
            request.env.push_back(in.as_string());
            break;
        case 5:
            request.folder = in.as_string();
            break;
        case 6:
            request.cpus.push_back(static_cast<std::uint32_t>(in.as_uint()));
            break;
        case 7:
            request.stdin_text = in.as_string();
            break;
        case 8:
            request.stdout_path = in.as_string();
            break;
        case 9:
            request.stderr_path = in.as_string();
            break;
        case 10:
            request.log_limit_bytes = in.as_uint();
            break;
        case 11:
            request.timeout_s = in.as_double();
            break;
        case 12:
            request.grace_s = in.as_double();
            break;
        default:
            break;
        }
    }
    return request;
}

void write(WireWriter& out, const StopRequest& request) {
    out.uint_field(1, request.ticket);
    out.bool_field(2, request.kill);
}

StopRequest read_stop(WireReader in) {
    StopRequest request;
    while (in.next()) {
        if (in.tag() == 1) request.ticket = in.as_uint();
        if (in.tag() == 2) request.kill = in.as_bool();
    }
    return request;
}

void write(WireWriter& out, const SweepRequest& request) {
    out.uint_field(1, request.ticket);
    out.bytes_field(2, request.attempt);
    out.double_field(3, request.grace_s);
}

SweepRequest read_sweep(WireReader in) {
    SweepRequest request;
    while (in.next()) {
        if (in.tag() == 1) request.ticket = in.as_uint();
        if (in.tag() == 2) request.attempt = in.as_string();
        if (in.tag() == 3) request.grace_s = in.as_double();
    }
    return request;
}

void write(WireWriter& out, const StartedReport& report) {
    out.uint_field(1, report.ticket);
    out.int_field(2, report.pid);
    out.bool_field(3, report.bound);
}

StartedReport read_started(WireReader in) {
    StartedReport report;
    while (in.next()) {
        if (in.tag() == 1) report.ticket = in.as_uint();
        if (in.tag() == 2) report.pid = in.as_int();
        if (in.tag() == 3) report.bound = in.as_bool();
    }
    return report;
}

void write(WireWriter& out, const OutputLimitReport& report) {
    out.uint_field(1, report.ticket);
    out.uint_field(2, static_cast<std::uint64_t>(report.stream));
}

OutputLimitReport read_limit(WireReader in) {
    OutputLimitReport report;
    while (in.next()) {
        if (in.tag() == 1) report.ticket = in.as_uint();
        if (in.tag() == 2)
            report.stream = in.as_uint() == 0 ? OutputStream::standard_output : OutputStream::standard_error;
    }
    return report;
}

void write(WireWriter& out, const StreamSummary& stream) {
    out.uint_field(1, stream.bytes);
    out.bool_field(2, stream.truncated);
    out.bytes_field(3, stream.problem);
}

StreamSummary read_stream(WireReader in) {
    StreamSummary stream;
    while (in.next()) {
        if (in.tag() == 1) stream.bytes = in.as_uint();
        if (in.tag() == 2) stream.truncated = in.as_bool();
        if (in.tag() == 3) stream.problem = in.as_string();
    }
    return stream;
}

void write(WireWriter& out, const EndedReport& report) {
    out.uint_field(1, report.ticket);
    out.uint_field(2, static_cast<std::uint64_t>(report.failed_stage));
    out.int_field(3, report.failed_errno);
    if (report.exit_code) out.int_field(4, *report.exit_code);
    if (report.signal) out.int_field(5, *report.signal);
    out.bool_field(6, report.timed_out);
    out.bool_field(7, report.stopped);
    out.bool_field(8, report.kill_sent);
    out.uint_field(9, static_cast<std::uint64_t>(report.oom));
    out.double_field(10, report.duration_s);
    out.double_field(11, report.user_s);
    out.double_field(12, report.system_s);
    out.uint_field(13, report.max_rss_bytes);
    out.uint_field(14, report.leaked_processes);
    out.record_field(15, [&](WireWriter& nested) { write(nested, report.standard_output); });
    out.record_field(16, [&](WireWriter& nested) { write(nested, report.standard_error); });
    out.bytes_field(17, report.stderr_tail);
    out.bytes_field(18, report.stdout_tail);
}

EndedReport read_ended(WireReader in) {
    EndedReport report;
    while (in.next()) {
        switch (in.tag()) {
        case 1:
            report.ticket = in.as_uint();
            break;
        case 2:
            report.failed_stage = static_cast<SpawnStage>(in.as_uint());
            break;
        case 3:
            report.failed_errno = static_cast<std::int32_t>(in.as_int());
            break;
        case 4:
            report.exit_code = static_cast<std::int32_t>(in.as_int());
            break;
        case 5:
            report.signal = static_cast<std::int32_t>(in.as_int());
            break;
        case 6:
            report.timed_out = in.as_bool();
            break;
        case 7:
            report.stopped = in.as_bool();
            break;
        case 8:
            report.kill_sent = in.as_bool();
            break;
        case 9:
            report.oom = static_cast<OomEvidence>(in.as_uint());
            break;
        case 10:
            report.duration_s = in.as_double();
            break;
        case 11:
            report.user_s = in.as_double();
            break;
        case 12:
            report.system_s = in.as_double();
            break;
        case 13:
            report.max_rss_bytes = in.as_uint();
            break;
        case 14:
            report.leaked_processes = static_cast<std::uint32_t>(in.as_uint());
            break;
        case 15:
            report.standard_output = read_stream(in.as_record());
            break;
        case 16:
            report.standard_error = read_stream(in.as_record());
            break;
        case 17:
            report.stderr_tail = in.as_string();
            break;
        case 18:
            report.stdout_tail = in.as_string();
            break;
        default:
            break;
        }
    }
    return report;
}

template <typename Record>
std::string message(std::uint32_t tag, const Record& record) {
    WireWriter out;
    out.record_field(tag, [&](WireWriter& nested) { write(nested, record); });
    return out.take();
}

} // namespace

std::string encode(const SupervisorRequest& request) {
    if (const auto* spawn = std::get_if<SpawnRequest>(&request)) return message(spawn_tag, *spawn);
    if (const auto* stop = std::get_if<StopRequest>(&request)) return message(stop_tag, *stop);
    if (const auto* sweep = std::get_if<SweepRequest>(&request)) return message(sweep_tag, *sweep);
    WireWriter out;
    out.bytes_field(shutdown_tag, {});
    return out.take();
}

std::string encode(const SupervisorReport& report) {
    if (const auto* started = std::get_if<StartedReport>(&report)) return message(started_tag, *started);
    if (const auto* limit = std::get_if<OutputLimitReport>(&report)) return message(limit_tag, *limit);
    return message(ended_tag, std::get<EndedReport>(report));
}

SupervisorRequest decode_request(std::string_view payload) {
    WireReader in(payload, source);
    while (in.next()) {
        switch (in.tag()) {
        case spawn_tag:
            return read_spawn(in.as_record());
        case stop_tag:
            return read_stop(in.as_record());
        case sweep_tag:
            return read_sweep(in.as_record());
        case shutdown_tag:
            return ShutdownRequest{};
        default:
            break;
        }
    }
    throw FormatError(std::string(source), 0, "a request of an unknown kind");
}

SupervisorReport decode_report(std::string_view payload) {
    WireReader in(payload, source);
    while (in.next()) {
        switch (in.tag()) {
        case started_tag:
            return read_started(in.as_record());
        case limit_tag:
            return read_limit(in.as_record());
        case ended_tag:
            return read_ended(in.as_record());
        default:
            break;
        }
    }
    throw FormatError(std::string(source), 0, "a report of an unknown kind");
}

void FrameWriter::push(std::string_view payload) {
    if (empty()) {
        bytes_.clear();
        sent_ = 0;
    }
    const auto length = static_cast<std::uint32_t>(payload.size());
    for (unsigned shift = 0; shift < 32; shift += 8)
        bytes_ += static_cast<char>(length >> shift);
    bytes_.append(payload);
}

bool FrameWriter::flush(int fd) {
    while (!empty()) {
        const ssize_t count =
            ::send(fd, bytes_.data() + sent_, bytes_.size() - sent_, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count >= 0)
            sent_ += static_cast<std::size_t>(count);
        else if (errno == EAGAIN || errno == EWOULDBLOCK)
            return true;
        else if (errno != EINTR)
            return false;
    }
    bytes_.clear();
    sent_ = 0;
    return true;
}

bool FrameReader::fill(int fd) {
    bytes_.erase(0, taken_);
    taken_ = 0;
    char buffer[65536];
    for (;;) {
        const ssize_t count = ::recv(fd, buffer, sizeof buffer, MSG_DONTWAIT);
        if (count == 0) return false;
        if (count > 0)
            bytes_.append(buffer, static_cast<std::size_t>(count));
        else if (errno == EAGAIN || errno == EWOULDBLOCK)
            return true;
        else if (errno != EINTR)
            return false;
    }
}

std::optional<std::string> FrameReader::next() {
    if (bytes_.size() - taken_ < 4) return std::nullopt;
    std::uint32_t length = 0;
    for (unsigned i = 0; i < 4; ++i)
        length |= static_cast<std::uint32_t>(static_cast<std::uint8_t>(bytes_[taken_ + i])) << (8 * i);
    if (length > largest_frame_bytes)
        throw FormatError(std::string(source), taken_, "a frame is longer than 1 GiB");
    if (bytes_.size() - taken_ - 4 < length) return std::nullopt;
    std::string payload = bytes_.substr(taken_ + 4, length);
    taken_ += 4 + std::size_t{length};
    return payload;
}

} // namespace tessera
