#include <tessera/base/error.hpp>
#include <tessera/base/fd.hpp>
#include <tessera/journal/frame.hpp>
#include <tessera/store/journal_source.hpp>

#include <fmt/core.h>

#include <cerrno>
#include <cstdlib>

#include <fcntl.h>
#include <unistd.h>

namespace tessera {

namespace {

std::string read_from(const std::string& path, std::uint64_t offset) {
    const UniqueFd file = open_file(path, O_RDONLY);
    if (::lseek(file.get(), static_cast<off_t>(offset), SEEK_SET) < 0) throw IoError("seek in", path, errno);
    const off_t size = ::lseek(file.get(), 0, SEEK_END);
    if (size < 0) throw IoError("seek in", path, errno);
    if (static_cast<std::uint64_t>(size) <= offset) return {};
    std::string bytes(static_cast<std::uint64_t>(size) - offset, '\0');
    std::size_t filled = 0;
    while (filled < bytes.size()) {
        const ssize_t count = ::pread(file.get(), bytes.data() + filled, bytes.size() - filled,
                                      static_cast<off_t>(offset + filled));
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) throw IoError("read", path, errno);
        if (count == 0) break;
        filled += static_cast<std::size_t>(count);
    }
    bytes.resize(filled);
    return bytes;
}

std::optional<Record> decode_frame(const Frame& frame, const std::string& path,
                                   std::vector<std::string>& warnings) {
    try {
        return decode(static_cast<FrameType>(frame.type), frame.payload, path);
    } catch (const FormatError& error) {
        warnings.push_back(fmt::format("{}: frame {} at byte {} is passed over: {}", path, frame.sequence,
                                       frame.offset, error.what()));
        return std::nullopt;
    }
}

} // namespace

std::uint32_t file_number(const std::string& path) {
    return static_cast<std::uint32_t>(std::strtoul(path.c_str() + path.rfind('-') + 1, nullptr, 10));
}

bool add_journal(TableBuilder& builder, const std::string& path, const std::string& part, JournalMark mark,
                 std::vector<std::string>& warnings) {
    const std::string bytes = read_from(path, mark.read_bytes);
    FrameScanner scanner(bytes, stream_id(part), mark.read_bytes, mark.last_sequence);
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    while (const auto frame = scanner.next()) {
        if (first == 0) first = frame->sequence;
        last = frame->sequence;
        if (const auto record = decode_frame(*frame, path, warnings))
            builder.add({part, frame->sequence}, *record);
    }
    if (first > 0) builder.add_coverage(part, file_number(path), first, last, scanner.good_end());
    for (const Damage& damage : scanner.damage())
        if (damage.kind != DamageKind::torn_tail)
            warnings.push_back(fmt::format("{}: {}", path, describe(damage)));
    return first > 0;
}

} // namespace tessera
