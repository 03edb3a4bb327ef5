#include <tessera/journal/codec.hpp>
#include <tessera/journal/log_pack.hpp>

#include <fmt/core.h>

#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

namespace tessera {

namespace {

std::string encode_entry(const LogEntry& entry) {
    WireWriter out;
    codec::put_record(out, 1, entry.attempt);
    out.bytes_field(2, entry.stdout_text);
    out.bytes_field(3, entry.stderr_text);
    return out.take();
}

LogEntry decode_entry(std::string_view payload, std::string_view source) {
    LogEntry entry;
    WireReader in(payload, source);
    while (in.next()) {
        if (in.tag() == 1)
            codec::read(in.as_record(), entry.attempt);
        else if (in.tag() == 2)
            entry.stdout_text = in.as_string();
        else if (in.tag() == 3)
            entry.stderr_text = in.as_string();
    }
    return entry;
}

/// Up to `count` bytes at `offset`; fewer at the end of the file.
std::string read_at(int fd, std::uint64_t offset, std::size_t count, const std::string& path) {
    std::string bytes(count, '\0');
    std::size_t done = 0;
    while (done < count) {
        const ssize_t got = ::pread(fd, bytes.data() + done, count - done, static_cast<off_t>(offset + done));
        if (got == 0) break;
        if (got > 0)
            done += static_cast<std::size_t>(got);
        else if (errno != EINTR)
            throw IoError("read", path, errno);
    }
    bytes.resize(done);
    return bytes;
}

} // namespace

LogPack::LogPack(const std::string& part_folder, std::string_view part, std::uint32_t worker,
                 FileLayer& files)
    : path_(fmt::format("{}/logs-{}.pack", part_folder, worker))
    , stream_(stream_id(fmt::format("{}/logs-{}.pack", part, worker)))
    , files_(files) {}

template <typename Work>
void LogPack::guarded(Work work) {
    if (failure_) throw IoError(*failure_);
    try {
        work();
    } catch (const IoError& error) {
        failure_ = error;
        throw;
    }
}

std::uint64_t LogPack::append(const LogEntry& entry) {
    const std::uint64_t offset = size_;
    guarded([&] {
        buffer_.clear();
        append_frame(buffer_, log_entry_frame, stream_, sequence_ + 1, encode_entry(entry));
        if (!file_) {
            file_ = files_.open(path_, O_WRONLY | O_CREAT | O_EXCL | O_APPEND, 0600);
            files_.sync_folder(parent_folder(path_));
        }
        dirty_ = true;
        write_fully(files_, file_.get(), buffer_, path_);
        ++sequence_;
        size_ += buffer_.size();
    });
    return offset;
}

void LogPack::sync() {
    guarded([&] {
        if (!dirty_) return;
        files_.sync_data(file_.get(), path_);
        dirty_ = false;
    });
}

void LogPack::close() {
    sync();
    file_.reset();
}

LogEntry read_log_entry(const std::string& path, std::uint64_t offset) {
    const UniqueFd file = open_file(path, O_RDONLY);
    std::string bytes = read_at(file.get(), offset, frame_header_bytes, path);
    const auto size = frame_size(bytes);
    if (!size) throw FormatError(path, offset, "there is no log entry");
    bytes = read_at(file.get(), offset, *size, path);
    const auto frame = frame_at_start(bytes);
    if (!frame || frame->type != log_entry_frame) throw FormatError(path, offset, "the log entry is damaged");
    return decode_entry(frame->payload, path);
}

std::vector<Damage> scan_log_pack(const std::string& path, std::string_view part,
                                  const std::function<void(std::uint64_t offset, LogEntry&&)>& visit) {
    const std::string bytes = read_file(path);
    const std::string name = path.substr(path.find_last_of('/') + 1);
    FrameScanner scanner(bytes, stream_id(fmt::format("{}/{}", part, name)));
    std::vector<Damage> damage;
    while (const auto frame = scanner.next()) {
        if (frame->type != log_entry_frame) continue;
        std::optional<LogEntry> entry;
        try {
            entry = decode_entry(frame->payload, path);
        } catch (const FormatError&) {
            damage.push_back({frame->offset, frame->size(), DamageKind::unreadable});
        }
        if (entry) visit(frame->offset, std::move(*entry));
    }
    damage.insert(damage.end(), scanner.damage().begin(), scanner.damage().end());
    return damage;
}

} // namespace tessera
