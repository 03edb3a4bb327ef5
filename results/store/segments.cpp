#include <tessera/base/error.hpp>
#include <tessera/store/journal_source.hpp>
#include <tessera/store/segments.hpp>
#include <tessera/store/table_file.hpp>

#include <fmt/core.h>

#include <filesystem>
#include <optional>

namespace tessera {

namespace {

std::optional<Tables> read_if_good(const std::string& path) {
    if (!std::filesystem::exists(path)) return std::nullopt;
    try {
        return read_table_file(path, StepTexts::skip);
    } catch (const Error&) {
        return std::nullopt;
    }
}

} // namespace

std::string segment_path(const CampaignDirectory& directory, std::string_view part, std::uint32_t number) {
    return fmt::format("{}/segment-{:04}.h5", directory.part_folder(part), number);
}

std::vector<std::string> build_segments(const CampaignDirectory& directory, std::string_view part,
                                        std::uint32_t last_sealed, std::vector<std::string>& warnings) {
    std::vector<std::string> made;
    Tables previous;
    for (const std::string& journal : directory.part_files(part).journals) {
        const std::uint32_t number = file_number(journal);
        if (number > last_sealed) break;
        const std::string path = segment_path(directory, part, number);
        if (auto present = read_if_good(path)) {
            previous = std::move(*present);
            continue;
        }
        TableBuilder builder;
        builder.add_definitions(previous);
        add_journal(builder, journal, std::string(part), {}, warnings);
        previous = builder.take();
        write_table_file(path, previous, directory.files());
        made.push_back(path);
    }
    return made;
}

} // namespace tessera
