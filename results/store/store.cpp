#include <tessera/base/error.hpp>
#include <tessera/store/journal_source.hpp>
#include <tessera/store/store.hpp>

#include <fmt/core.h>

#include <cerrno>
#include <filesystem>
#include <map>
#include <optional>
#include <stdexcept>
#include <sys/stat.h>

namespace tessera {

namespace {

/// Which file a path names now: another one after each rename over it.
struct FileStamp {
    dev_t device = 0;
    ino_t inode = 0;
    std::int64_t changed_ns = 0;

    bool operator==(const FileStamp&) const = default;

    static FileStamp of(const std::string& path) {
        struct stat status {};

        if (::stat(path.c_str(), &status) != 0) return {};
        return {status.st_dev, status.st_ino,
                status.st_ctim.tv_sec * 1'000'000'000LL + status.st_ctim.tv_nsec};
    }
};

/// A journal file and the segment made of it; either may be missing.
struct Source {
    std::string part;
    std::uint32_t number = 0;
    std::string journal;
    std::string segment;
};

std::vector<Source> list_sources(const CampaignDirectory& directory) {
    std::vector<Source> sources;
    for (const std::string& part : directory.parts()) {
        std::map<std::uint32_t, Source> numbered;
        const PartFiles files = directory.part_files(part);
        for (const std::string& path : files.journals)
            numbered[file_number(path)].journal = path;
        for (const std::string& path : files.segments)
            numbered[file_number(path)].segment = path;
        for (auto& [number, source] : numbered) {
            source.part = part;
            source.number = number;
            sources.push_back(std::move(source));
        }
    }
    return sources;
}

/// A file that was listed has gone: a compaction has put it into a new results.h5 and removed it.
struct SourceGone {};

bool is_there(const std::string& path) {
    return !path.empty() && std::filesystem::exists(path);
}

class StoreReader {
public:
    StoreReader(const CampaignDirectory& directory, StepTexts texts)
        : directory_(directory)
        , texts_(texts) {}

    /// Sources are listed before results.h5 is opened, so that nothing that moves into it meanwhile is
    /// missed.
    Store read() {
        const auto sources = list_sources(directory_);
        const bool had_results = read_results();
        for (const Source& source : sources)
            add(source);
        store_.compacted = had_results && !added_;
        if (builder_) {
            if (builder_->lost_cells() > 0)
                store_.warnings.push_back(fmt::format(
                    "{} cells cannot be shown: the part of a journal that defines their axes is damaged",
                    builder_->lost_cells()));
            store_.tables = builder_->take();
        }
        return std::move(store_);
    }

private:
    bool read_results() {
        const std::string path = directory_.results_path();
        if (!std::filesystem::exists(path)) return false;
        try {
            store_.tables = read_table_file(path, texts_);
        } catch (const std::exception& error) {
            store_.warnings.push_back(fmt::format(
                "{} cannot be read and is made up from the parts' files: {}", path, error.what()));
            return false;
        }
        for (std::size_t i = 0; i < store_.tables.coverage.size(); ++i)
            note(store_.tables, i);
        return true;
    }

    void note(const Tables& tables, std::size_t row) {
        const CoverageTable& coverage = tables.coverage;
        marks_[{tables.text(tables.parts.part[coverage.part[row]]), coverage.file[row]}] = {
            coverage.last_sequence[row], coverage.read_bytes[row]};
    }

    void add(const Source& source) {
        const auto known = marks_.find({source.part, source.number});
        JournalMark mark = known == marks_.end() ? JournalMark() : known->second;
        if (mark.last_sequence == 0 && !source.segment.empty()) mark = add_segment(source);
        if (source.journal.empty()) return;
        std::error_code failure;
        const auto size = std::filesystem::file_size(source.journal, failure);
        if (failure == std::errc::no_such_file_or_directory) throw SourceGone();
        if (failure) {
            store_.warnings.push_back(fmt::format("{}: cannot be read ({}); what only it holds is missing",
                                                  source.journal, failure.message()));
            return;
        }
        if (size > mark.read_bytes) add_rest(source, mark);
    }

    JournalMark add_segment(const Source& source) {
        try {
            const Tables tables = read_table_file(source.segment, texts_);
            builder().add(tables);
            added_ = true;
            for (std::size_t i = 0; i < tables.coverage.size(); ++i)
                note(tables, i);
            return marks_[{source.part, source.number}];
        } catch (const std::exception& error) {
            if (!is_there(source.segment)) throw SourceGone();
            const bool saved = is_there(source.journal);
            store_.warnings.push_back(
                fmt::format("{} cannot be read; {}: {}", source.segment,
                            saved ? "its journal is read instead" : "its results are missing", error.what()));
            return {};
        }
    }

    void add_rest(const Source& source, JournalMark mark) {
        try {
            if (add_journal(builder(), source.journal, source.part, mark, store_.warnings)) added_ = true;
        } catch (const IoError& error) {
            if (error.code == ENOENT) throw SourceGone();
            store_.warnings.push_back(fmt::format("{}; what only it holds is missing", error.what()));
        }
    }

    /// Made when there is something to add: results.h5 alone needs none.
    TableBuilder& builder() {
        if (!builder_) builder_.emplace(std::move(store_.tables));
        return *builder_;
    }

    const CampaignDirectory& directory_;
    StepTexts texts_;
    Store store_;
    std::optional<TableBuilder> builder_;
    bool added_ = false; ///< anything beyond results.h5
    std::map<std::pair<std::string, std::uint32_t>, JournalMark> marks_;
};

} // namespace

Store open_store(const CampaignDirectory& directory, StepTexts texts) {
    const std::string results = directory.results_path();
    // Without removals any reading is complete, so a steady stream of compactions cannot keep a reader
    // waiting.
    constexpr int patience = 3;
    for (int attempt = 1;; ++attempt) {
        const FileStamp before = FileStamp::of(results);
        try {
            Store store = StoreReader(directory, texts).read();
            if (before == FileStamp::of(results) || attempt >= patience) return store;
        } catch (const SourceGone&) {
            if (before == FileStamp::of(results) && attempt >= patience)
                throw IoError("read the files of the parts in", directory.path(), ENOENT);
        }
    }
}

} // namespace tessera
