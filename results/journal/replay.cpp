#include <tessera/base/error.hpp>
#include <tessera/journal/replay.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <sys/stat.h>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace tessera {

namespace {

/// The file from `offset` on, into memory that is used again: a fresh page costs more than reading one.
std::string_view load(const std::string& path, std::uint64_t offset, std::string& scratch) {
    const UniqueFd file = open_file(path, O_RDONLY);

    struct stat status {};

    if (::fstat(file.get(), &status) != 0) throw IoError("look at", path, errno);
    const auto size = static_cast<std::uint64_t>(status.st_size);
    if (size <= offset) return {};
    const std::size_t wanted = size - offset;
    if (scratch.size() < wanted) scratch.resize(wanted);
    std::size_t done = 0;
    while (done < wanted) {
        const ssize_t got =
            ::pread(file.get(), scratch.data() + done, wanted - done, static_cast<off_t>(offset + done));
        if (got == 0) break;
        if (got > 0)
            done += static_cast<std::size_t>(got);
        else if (errno != EINTR)
            throw IoError("read", path, errno);
    }
    return std::string_view(scratch).substr(0, done);
}

ReadWarning warning(const std::string& path, const Damage& damage) {
    return {path, damage.offset, damage.length, describe(damage), damage.kind == DamageKind::torn_tail};
}

} // namespace

JournalReader::JournalReader(const CampaignDirectory& directory, std::string part,
                             std::vector<FrameType> wanted)
    : directory_(&directory)
    , part_(std::move(part))
    , wanted_(std::move(wanted))
    , stream_(stream_id(part_)) {}

std::vector<ReadWarning> JournalReader::warnings() const {
    std::vector<ReadWarning> all = warnings_;
    all.insert(all.end(), tail_.begin(), tail_.end());
    return all;
}

void JournalReader::read(const RecordVisitor& visit) {
    std::string scratch;
    read(visit, scratch);
}

void JournalReader::read(const RecordVisitor& visit, std::string& scratch) {
    const std::vector<std::string> journals = directory_->part_files(part_).journals;
    // Sealed files may be pruned meanwhile: what comes next is the first that is not before the current one.
    auto next = std::find_if(journals.begin(), journals.end(), [&](const std::string& path) {
        return std::pair(path.size(), path) >= std::pair(current_.size(), current_);
    });
    for (; next != journals.end(); ++next) {
        if (*next != current_) {
            offset_ = 0;
            current_ = *next;
            warnings_.insert(warnings_.end(), tail_.begin(), tail_.end());
        }
        tail_.clear();
        try {
            read_file_from(*next, visit, scratch);
        } catch (const IoError& error) {
            tail_.push_back(
                {*next, offset_, 0, fmt::format("cannot {}: errno {}", error.operation, error.code)});
        }
    }
}

void JournalReader::read_file_from(const std::string& path, const RecordVisitor& visit,
                                   std::string& scratch) {
    FrameScanner scanner(load(path, offset_, scratch), stream_, offset_, last_sequence_);
    while (const auto frame = scanner.next()) {
        last_sequence_ = frame->sequence;
        visit_frame(path, *frame, visit);
    }
    offset_ = scanner.good_end();
    for (const Damage& damage : scanner.damage())
        (damage.offset < offset_ ? warnings_ : tail_).push_back(warning(path, damage));
}

void JournalReader::visit_frame(const std::string& path, const Frame& frame, const RecordVisitor& visit) {
    const auto type = static_cast<FrameType>(frame.type);
    if (!wanted_.empty() && std::find(wanted_.begin(), wanted_.end(), type) == wanted_.end()) return;
    std::optional<Record> record;
    try {
        record = decode(type, frame.payload, path);
    } catch (const FormatError& error) {
        warnings_.push_back({path, frame.offset, frame.size(),
                             fmt::format("byte {}: a frame of type {} does not follow its type: {}",
                                         frame.offset, frame.type, error.what())});
    }
    if (record) visit({part_, frame.sequence}, std::move(*record));
}

namespace {

PartSummary read_part(const CampaignDirectory& directory, const std::string& part, const RecordVisitor& visit,
                      std::string& scratch, std::vector<ReadWarning>& warnings) {
    PartSummary summary{.id = part, .open = std::nullopt};
    JournalReader reader(directory, part);
    reader.read(
        [&](const FramePosition& position, Record&& record) {
            if (const auto* open = std::get_if<PartOpenRecord>(&record)) summary.open = *open;
            summary.closed = std::holds_alternative<PartCloseRecord>(record);
            visit(position, std::move(record));
        },
        scratch);
    summary.last_sequence = reader.last_sequence();
    const auto found = reader.warnings();
    warnings.insert(warnings.end(), found.begin(), found.end());
    return summary;
}

} // namespace

CampaignSummary read_campaign(const CampaignDirectory& directory, const RecordVisitor& visit) {
    CampaignSummary summary;
    std::string scratch;
    for (const std::string& part : directory.parts())
        summary.parts.push_back(read_part(directory, part, visit, scratch, summary.warnings));
    return summary;
}

} // namespace tessera
