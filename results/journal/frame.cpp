#include <tessera/base/error.hpp>
#include <tessera/base/sha256.hpp>
#include <tessera/journal/checksum.hpp>
#include <tessera/journal/frame.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

namespace tessera {

namespace {

/// The first byte is no text, the line ends show a file that was copied as text.
constexpr std::string_view magic("\x89TSR\r\n\x1a\n", 8);

template <typename T>
void put_number(char* at, T value) {
    for (std::size_t i = 0; i < sizeof(T); ++i)
        at[i] = static_cast<char>(value >> (8 * i));
}

template <typename T>
T get_number(const char* at) {
    T value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i)
        value = static_cast<T>(value | static_cast<T>(static_cast<unsigned char>(at[i])) << (8 * i));
    return value;
}

struct Header {
    std::uint16_t type;
    std::uint32_t payload_bytes;
    StreamId stream;
    std::uint64_t sequence;
    std::uint64_t checksum;

    std::size_t frame_bytes() const { return frame_header_bytes + payload_bytes + frame_trailer_bytes; }
};

/// Empty unless `bytes` begins with a good header of a version that this program knows.
std::optional<Header> read_header(std::string_view bytes) {
    if (bytes.size() < frame_header_bytes || !bytes.starts_with(magic)) return std::nullopt;
    const char* at = bytes.data();
    Header header{.type = get_number<std::uint16_t>(at + 10),
                  .payload_bytes = get_number<std::uint32_t>(at + 12),
                  .stream = {},
                  .sequence = get_number<std::uint64_t>(at + 32),
                  .checksum = get_number<std::uint64_t>(at + 40)};
    std::memcpy(header.stream.bytes.data(), at + 16, header.stream.bytes.size());
    if (header.checksum != checksum(bytes.substr(0, 40))) return std::nullopt;
    if (get_number<std::uint16_t>(at + 8) != frame_format_version) return std::nullopt;
    if (header.payload_bytes > max_payload_bytes) return std::nullopt;
    return header;
}

/// The payload of the frame at the start of `bytes`, if all of it is there and unchanged.
std::optional<std::string_view> read_payload(std::string_view bytes, const Header& header) {
    if (bytes.size() < header.frame_bytes()) return std::nullopt;
    const std::string_view payload = bytes.substr(frame_header_bytes, header.payload_bytes);
    const auto stored = get_number<std::uint64_t>(payload.data() + payload.size());
    if (stored != checksum(payload, header.checksum)) return std::nullopt;
    return payload;
}

/// True if `bytes`, which reach to the end of the file, are the beginning of a frame.
bool is_cut_frame(std::string_view bytes) {
    if (bytes.size() < frame_header_bytes) return magic.starts_with(bytes.substr(0, magic.size()));
    const auto header = read_header(bytes);
    return header && bytes.size() < header->frame_bytes();
}

} // namespace

StreamId stream_id(std::string_view name) {
    return Sha256().update(name).finish_id();
}

void append_frame(std::string& out, std::uint16_t type, const StreamId& stream, std::uint64_t sequence,
                  std::string_view payload) {
    if (payload.size() > max_payload_bytes) throw FormatError("frame", 0, "the payload is above 256 MiB");
    char header[frame_header_bytes];
    std::memcpy(header, magic.data(), magic.size());
    put_number(header + 8, frame_format_version);
    put_number(header + 10, type);
    put_number(header + 12, static_cast<std::uint32_t>(payload.size()));
    std::memcpy(header + 16, stream.bytes.data(), stream.bytes.size());
    put_number(header + 32, sequence);
    const std::uint64_t header_checksum = checksum({header, 40});
    put_number(header + 40, header_checksum);
    char trailer[frame_trailer_bytes];
    put_number(trailer, checksum(payload, header_checksum));
    out.append(header, sizeof header).append(payload).append(trailer, sizeof trailer);
}

std::optional<std::size_t> frame_size(std::string_view bytes) {
    const auto header = read_header(bytes);
    return header ? std::optional(header->frame_bytes()) : std::nullopt;
}

std::optional<Frame> frame_at_start(std::string_view bytes) {
    const auto header = read_header(bytes);
    const auto payload = header ? read_payload(bytes, *header) : std::nullopt;
    if (!payload) return std::nullopt;
    return Frame{0, header->type, header->sequence, *payload};
}

std::string describe(const Damage& damage) {
    const char* what = "cannot be read";
    if (damage.kind == DamageKind::torn_tail) what = "at the end belong to a write that was cut short";
    if (damage.kind == DamageKind::zeros) what = "are zeros that the file system left";
    if (damage.kind == DamageKind::foreign) what = "belong to another file or were written before";
    return fmt::format("byte {}: {} bytes {}", damage.offset, damage.length, what);
}

FrameScanner::FrameScanner(std::string_view bytes, StreamId stream, std::uint64_t base_offset,
                           std::uint64_t after)
    : bytes_(bytes)
    , stream_(stream)
    , base_offset_(base_offset)
    , last_sequence_(after) {}

std::optional<Frame> FrameScanner::next() {
    std::size_t gap_begin = position_;
    while (position_ < bytes_.size()) {
        position_ = std::min(bytes_.find(magic, position_), bytes_.size());
        const std::string_view rest = bytes_.substr(position_);
        const auto header = read_header(rest);
        const auto payload = header ? read_payload(rest, *header) : std::nullopt;
        if (!payload) {
            position_ = std::min(position_ + 1, bytes_.size());
            continue;
        }
        report_gap(gap_begin, position_);
        const std::size_t begin = position_;
        position_ += header->frame_bytes();
        if (header->stream != stream_ || header->sequence <= last_sequence_) {
            report(begin, position_, DamageKind::foreign);
            gap_begin = position_;
            continue;
        }
        good_end_ = position_;
        last_sequence_ = header->sequence;
        return Frame{base_offset_ + begin, header->type, header->sequence, *payload};
    }
    report_gap(gap_begin, bytes_.size());
    return std::nullopt;
}

void FrameScanner::report(std::size_t from, std::size_t to, DamageKind kind) {
    damage_.push_back({base_offset_ + from, to - from, kind});
}

void FrameScanner::report_gap(std::size_t from, std::size_t to) {
    if (from == to) return;
    const std::string_view gap = bytes_.substr(from, to - from);
    if (gap.find_first_not_of('\0') == std::string_view::npos)
        report(from, to, DamageKind::zeros);
    else if (to == bytes_.size() && is_cut_frame(gap))
        report(from, to, DamageKind::torn_tail);
    else
        report(from, to, DamageKind::unreadable);
}

} // namespace tessera
