#include <tessera/journal/spool.hpp>

#include <fmt/core.h>

#include <fcntl.h>

namespace tessera {

Spool::Spool(const std::string& part_folder, std::string_view part, std::uint32_t worker, FileLayer& files)
    : path_(fmt::format("{}/spool-{}", part_folder, worker))
    , stream_(stream_id(fmt::format("{}/spool-{}", part, worker)))
    , files_(files) {}

template <typename Work>
void Spool::guarded(Work work) {
    if (failure_) throw IoError(*failure_);
    try {
        work();
    } catch (const IoError& error) {
        failure_ = error;
        throw;
    }
}

void Spool::append(const OutcomeRecord& record) {
    guarded([&] {
        if (!file_) {
            file_ = files_.open(path_, O_WRONLY | O_CREAT | O_EXCL | O_APPEND, 0600);
            files_.sync_folder(parent_folder(path_));
        }
        buffer_.clear();
        append_frame(buffer_, static_cast<std::uint16_t>(FrameType::outcome), stream_, ++sequence_,
                     encode_outcome(record));
        dirty_ = true;
        write_fully(files_, file_.get(), buffer_, path_);
    });
}

void Spool::sync() {
    guarded([&] {
        if (!dirty_) return;
        files_.sync_data(file_.get(), path_);
        dirty_ = false;
    });
}

void Spool::close() {
    sync();
    file_.reset();
}

std::vector<Damage> read_spool(const std::string& path, std::string_view part,
                               const std::function<void(OutcomeRecord&&)>& visit) {
    const std::string bytes = read_file(path);
    const std::string name = path.substr(path.find_last_of('/') + 1);
    FrameScanner scanner(bytes, stream_id(fmt::format("{}/{}", part, name)));
    std::vector<Damage> undecoded;
    while (const auto frame = scanner.next()) {
        if (frame->type != static_cast<std::uint16_t>(FrameType::outcome)) continue;
        std::optional<OutcomeRecord> record;
        try {
            record = decode_outcome(frame->payload, path);
        } catch (const FormatError&) {
            undecoded.push_back({frame->offset, frame->size(), DamageKind::unreadable});
        }
        if (record) visit(std::move(*record));
    }
    undecoded.insert(undecoded.end(), scanner.damage().begin(), scanner.damage().end());
    return undecoded;
}

} // namespace tessera
