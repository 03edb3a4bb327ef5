#pragma once

#include <tessera/journal/acceptance.hpp>
#include <tessera/journal/campaign_dir.hpp>
#include <tessera/journal/frame.hpp>
#include <tessera/journal/records.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tessera {

/// Something that could not be read. It never stops a reader.
struct ReadWarning {
    std::string path;
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
    std::string what;       ///< without the path
    bool torn_tail = false; ///< what a writer that is still alive may just be writing

    std::string text() const { return path + ": " + what; }
};

using RecordVisitor = std::function<void(const FramePosition& position, Record&& record)>;

/// Reads the journal of one part, from its first frame on and later from where it stopped: also while it is
/// written.
class JournalReader {
public:
    /// With `wanted`, records of other types are passed over without being decoded.
    JournalReader(const CampaignDirectory& directory, std::string part, std::vector<FrameType> wanted = {});

    /// Every record since the last call. `scratch` is memory that several readers may share, one at a time.
    void read(const RecordVisitor& visit, std::string& scratch);
    void read(const RecordVisitor& visit);

    /// Of all frames so far, also of those whose type this version does not know.
    std::uint64_t last_sequence() const { return last_sequence_; }

    /// What could not be read. The end of the newest file is looked at again by each read().
    std::vector<ReadWarning> warnings() const;

private:
    void read_file_from(const std::string& path, const RecordVisitor& visit, std::string& scratch);
    void visit_frame(const std::string& path, const Frame& frame, const RecordVisitor& visit);

    const CampaignDirectory* directory_;
    std::string part_;
    std::vector<FrameType> wanted_;
    StreamId stream_;
    std::string current_; ///< path of the newest file that was read
    std::uint64_t offset_ = 0;
    std::uint64_t last_sequence_ = 0;
    std::vector<ReadWarning> warnings_;
    std::vector<ReadWarning> tail_; ///< of the end of `current_`
};

struct PartSummary {
    std::string id;
    bool closed = false; ///< its last frame says that it ended in order
    std::uint64_t last_sequence = 0;
    std::optional<PartOpenRecord> open;
};

struct CampaignSummary {
    std::vector<PartSummary> parts; ///< in order
    std::vector<ReadWarning> warnings;
};

/// Reads the journals of all parts, part by part, each in the order of its sequence numbers. Damage never
/// stops it.
CampaignSummary read_campaign(const CampaignDirectory& directory, const RecordVisitor& visit);

/// What dead controllers left behind.
struct Harvest {
    /// Outcomes in workers' spools that no journal has, as the workers wrote them.
    std::vector<OutcomeRecord> outcomes;
    /// For each attempt that was dispatched and has no outcome anywhere: the outcome `lost`, complete but for
    /// `ended_ns`.
    std::vector<OutcomeRecord> lost;
    std::vector<ReadWarning> warnings;
};

/// Looks for attempts whose controller is gone, or whose claim was taken over (details in claims.hpp);
/// `acceptance` must have all frames. The caller, `self`, records both lists in its own journal.
Harvest harvest(const CampaignDirectory& directory, const CampaignSummary& summary,
                const Acceptance& acceptance, const OwnerInfo& self);

} // namespace tessera
