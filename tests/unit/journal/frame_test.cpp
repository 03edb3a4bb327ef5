#include "sample.hpp"

#include <tessera/base/error.hpp>
#include <tessera/journal/checksum.hpp>
#include <tessera/journal/frame.hpp>

#include <doctest/doctest.h>

#include <algorithm>

using namespace tessera;

namespace {

const StreamId stream = stream_id("part");

struct Good {
    std::uint64_t offset;
    std::uint64_t end;
    std::uint64_t sequence;
    std::string payload;
};

struct File {
    std::string bytes;
    std::vector<Good> frames;
};

File random_file(sample::Random& random, std::uint32_t frames) {
    File file;
    for (std::uint32_t i = 1; i <= frames; ++i) {
        std::string payload;
        for (std::uint32_t size = sample::number(random, 200); size > 0; --size)
            payload += static_cast<char>(random());
        const std::uint64_t offset = file.bytes.size();
        append_frame(file.bytes, 8, stream, i, payload);
        file.frames.push_back({offset, file.bytes.size(), i, payload});
    }
    return file;
}

std::vector<Frame> scan(FrameScanner& scanner) {
    std::vector<Frame> frames;
    while (const auto frame = scanner.next())
        frames.push_back(*frame);
    return frames;
}

bool contains(const std::vector<Frame>& found, const Good& wanted) {
    return std::any_of(found.begin(), found.end(), [&](const Frame& frame) {
        return frame.sequence == wanted.sequence && frame.payload == wanted.payload;
    });
}

/// Good frames and reported ranges must cover the file without gap or overlap.
void check_covered(const std::string& bytes, const std::vector<Frame>& frames, const FrameScanner& scanner) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
    for (const Frame& frame : frames)
        ranges.emplace_back(frame.offset, frame.size());
    for (const Damage& damage : scanner.damage())
        ranges.emplace_back(damage.offset, damage.length);
    std::sort(ranges.begin(), ranges.end());
    std::uint64_t end = 0;
    for (const auto& [offset, length] : ranges) {
        CHECK(offset == end);
        CHECK(length > 0);
        end = offset + length;
    }
    CHECK(end == bytes.size());
}

} // namespace

TEST_CASE("frames read back in order") {
    sample::Random random(1);
    const File file = random_file(random, 100);
    FrameScanner scanner(file.bytes, stream);
    const auto frames = scan(scanner);
    REQUIRE(frames.size() == 100);
    for (std::size_t i = 0; i < frames.size(); ++i) {
        CHECK(frames[i].sequence == i + 1);
        CHECK(frames[i].offset == file.frames[i].offset);
        CHECK(frames[i].payload == file.frames[i].payload);
        CHECK(frames[i].type == 8);
    }
    CHECK(scanner.damage().empty());
    CHECK(scanner.good_end() == file.bytes.size());
}

TEST_CASE("the layout of a frame is the documented one") {
    std::string bytes;
    append_frame(bytes, 0x0208, stream, 0x0102030405060708, "abc");
    REQUIRE(bytes.size() == 48 + 3 + 8);
    CHECK(bytes.substr(0, 8) == std::string("\x89TSR\r\n\x1a\n", 8));
    CHECK(bytes.substr(8, 8) == std::string("\x01\x00\x08\x02\x03\x00\x00\x00", 8));
    CHECK(std::equal(stream.bytes.begin(), stream.bytes.end(), bytes.begin() + 16,
                     [](std::uint8_t a, char b) { return a == static_cast<std::uint8_t>(b); }));
    CHECK(bytes.substr(32, 8) == std::string("\x08\x07\x06\x05\x04\x03\x02\x01", 8));
    CHECK(bytes.substr(48, 3) == "abc");
}

TEST_CASE("the checksum is XXH3") {
    CHECK(checksum("") == 0x2D06800538D394C2); // of no bytes, by its specification
}

TEST_CASE("a payload above the limit is refused") {
    std::string out;
    const std::string payload(std::size_t{max_payload_bytes} + 1, 'x');
    CHECK_THROWS_AS(append_frame(out, 1, stream, 1, payload), FormatError);
    CHECK(out.empty());
}

TEST_CASE("whatever range is flipped, zeroed or cut, all other frames survive") {
    for (std::uint64_t seed = 0; seed < 3000; ++seed) {
        CAPTURE(seed);
        sample::Random random(seed);
        File file = random_file(random, 1 + sample::number(random, 30));
        const std::uint64_t size = file.bytes.size();
        const std::uint64_t begin = random() % size;
        const std::uint64_t end = begin + 1 + random() % std::min<std::uint64_t>(size - begin, 600);
        const std::uint64_t how = random() % 3;
        std::string damaged = file.bytes;
        for (std::uint64_t i = begin; i < end; ++i)
            damaged[i] = how == 0 ? static_cast<char>(~damaged[i]) : '\0';
        if (how == 2) damaged = file.bytes.substr(0, begin) + file.bytes.substr(end);

        FrameScanner scanner(damaged, stream);
        const auto found = scan(scanner);
        for (const Good& frame : file.frames)
            if (frame.end <= begin || frame.offset >= end) CHECK(contains(found, frame));
        for (const Frame& frame : found)
            CHECK(frame.payload == file.frames[frame.sequence - 1].payload);
        if (how == 0) CHECK_FALSE(scanner.damage().empty());
        check_covered(damaged, found, scanner);
    }
}

TEST_CASE("a torn tail is told from damage") {
    sample::Random random(3);
    const File file = random_file(random, 5);
    for (std::uint64_t cut = file.frames.back().offset + 1; cut < file.bytes.size(); ++cut) {
        const std::string torn = file.bytes.substr(0, cut);
        FrameScanner scanner(torn, stream);
        CHECK(scan(scanner).size() == 4);
        REQUIRE(scanner.damage().size() == 1);
        CHECK(scanner.damage()[0] ==
              Damage{file.frames.back().offset, cut - file.frames.back().offset, DamageKind::torn_tail});
        CHECK(scanner.good_end() == file.frames.back().offset);
    }
}

TEST_CASE("blocks of zeros are skipped and named") {
    sample::Random random(4);
    std::string bytes = random_file(random, 3).bytes;
    const std::uint64_t middle = bytes.size();
    bytes.append(4096, '\0');
    append_frame(bytes, 8, stream, 4, "after");
    const std::uint64_t end = bytes.size();
    bytes.append(100, '\0');
    FrameScanner scanner(bytes, stream);
    CHECK(scan(scanner).size() == 4);
    REQUIRE(scanner.damage().size() == 2);
    CHECK(scanner.damage()[0] == Damage{middle, 4096, DamageKind::zeros});
    CHECK(scanner.damage()[1] == Damage{end, 100, DamageKind::zeros});
    CHECK(describe(scanner.damage()[1]).find("100 bytes are zeros") != std::string::npos);
}

TEST_CASE("frames of other streams and repeated ones are not the file's own") {
    std::string bytes;
    append_frame(bytes, 8, stream, 1, "one");
    append_frame(bytes, 8, stream_id("another"), 2, "foreign");
    append_frame(bytes, 8, stream, 2, "two");
    append_frame(bytes, 8, stream, 1, "again");
    FrameScanner scanner(bytes, stream);
    const auto frames = scan(scanner);
    REQUIRE(frames.size() == 2);
    CHECK(frames[1].payload == "two");
    REQUIRE(scanner.damage().size() == 2);
    CHECK(scanner.damage()[0].kind == DamageKind::foreign);
    CHECK(scanner.damage()[1].kind == DamageKind::foreign);
}

TEST_CASE("a frame inside the payload of a damaged one is not revived") {
    std::string inner;
    append_frame(inner, 8, stream, 1, "printed by a cell");
    append_frame(inner, 8, stream_id("journal"), 9, "printed by a cell");
    std::string bytes;
    append_frame(bytes, 8, stream, 1, "before");
    const std::size_t outer = bytes.size();
    append_frame(bytes, 8, stream, 2, inner);
    append_frame(bytes, 8, stream, 3, "after");
    bytes[outer + 20] = static_cast<char>(~bytes[outer + 20]);
    FrameScanner scanner(bytes, stream);
    const auto frames = scan(scanner);
    REQUIRE(frames.size() == 2);
    CHECK(frames[0].payload == "before");
    CHECK(frames[1].payload == "after");
}

TEST_CASE("a scan goes on where another stopped") {
    sample::Random random(6);
    const File file = random_file(random, 10);
    const std::uint64_t cut = file.frames[6].offset + 9;
    FrameScanner first(std::string_view(file.bytes).substr(0, cut), stream);
    const auto head = scan(first);
    CHECK(head.size() == 6);
    FrameScanner second(std::string_view(file.bytes).substr(first.good_end()), stream, first.good_end(),
                        head.back().sequence);
    const auto tail = scan(second);
    REQUIRE(tail.size() == 4);
    CHECK(tail[0].offset == file.frames[6].offset);
    CHECK(second.good_end() == file.bytes.size());
}
