#pragma once

#include <tessera/base/id.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

/// The frame that every append-only file (journal, spool, log pack) consists of; docs/on-disk.md has the
/// layout byte by byte. A frame stands alone: readers find the next good one after any damage.
inline constexpr std::uint16_t frame_format_version = 1;
inline constexpr std::size_t frame_header_bytes = 48;
inline constexpr std::size_t frame_trailer_bytes = 8;
inline constexpr std::uint32_t max_payload_bytes = 256U << 20U;

/// Names the file series a frame belongs to: the first 128 bits of SHA-256 of its name. The name of a part's
/// journal is the part's id; of another file of the part, "<part>/<file name>". It keeps frames that a cell
/// printed into its log, or that a file system put into the wrong file, from being taken for the file's own.
using StreamId = Id128;
StreamId stream_id(std::string_view name);

/// Appends one frame to `out`. Throws FormatError if the payload is above max_payload_bytes.
void append_frame(std::string& out, std::uint16_t type, const StreamId& stream, std::uint64_t sequence,
                  std::string_view payload);

struct Frame {
    std::uint64_t offset = 0; ///< of its first byte in the file
    std::uint16_t type = 0;
    std::uint64_t sequence = 0;
    std::string_view payload; ///< within the scanned bytes

    std::uint64_t size() const { return frame_header_bytes + payload.size() + frame_trailer_bytes; }
};

/// How many bytes the frame takes whose good header `bytes` begins with; empty if there is none.
std::optional<std::size_t> frame_size(std::string_view bytes);

/// The good frame that `bytes` begins with, of whichever stream; empty if there is none.
std::optional<Frame> frame_at_start(std::string_view bytes);

enum class DamageKind : std::uint8_t {
    torn_tail,  ///< the file ends within a frame: a write that was cut short, or is still going on
    zeros,      ///< blocks that a file system never filled
    unreadable, ///< bytes of no good frame
    foreign, ///< a good frame that does not belong here: of another stream, or older than what stands before
             ///< it
};

struct Damage {
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
    DamageKind kind = DamageKind::unreadable;

    bool operator==(const Damage&) const = default;
};

/// For people: "byte 4096: 512 bytes cannot be read".
std::string describe(const Damage& damage);

/// Reads frames one after the other from the bytes of a file. Damaged ranges are skipped and listed; every
/// good frame of the stream whose sequence number is above those before it is returned. Never throws on
/// damage.
class FrameScanner {
public:
    /// `bytes` must outlive the scanner. `base_offset` is that of the first byte within the file and `after`
    /// the sequence number of the frame before it, for readers that go on where they stopped.
    FrameScanner(std::string_view bytes, StreamId stream, std::uint64_t base_offset = 0,
                 std::uint64_t after = 0);

    /// The next good frame; empty at the end.
    std::optional<Frame> next();

    /// In order and without overlap; complete once next() has returned empty.
    const std::vector<Damage>& damage() const { return damage_; }

    /// Where the last good frame ended, within the file: what a reader that goes on later starts at.
    std::uint64_t good_end() const { return base_offset_ + good_end_; }

private:
    void report(std::size_t from, std::size_t to, DamageKind kind);
    void report_gap(std::size_t from, std::size_t to);

    std::string_view bytes_;
    StreamId stream_;
    std::uint64_t base_offset_;
    std::uint64_t last_sequence_;
    std::size_t position_ = 0;
    std::size_t good_end_ = 0;
    std::vector<Damage> damage_;
};

} // namespace tessera
