#include <tessera/base/error.hpp>
#include <tessera/journal/campaign_dir.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <filesystem>
#include <utility>

namespace tessera {

namespace {

constexpr WallTime second_ns = 1'000'000'000;

constexpr std::string_view part_pattern = "ddddddddTddddddZ-xxxxxxxx";

bool fits(char wanted, char c) {
    const bool digit = c >= '0' && c <= '9';
    if (wanted == 'd') return digit;
    if (wanted == 'x') return digit || (c >= 'a' && c <= 'f');
    return c == wanted;
}

std::string new_part_id(WallTime now_ns) {
    const std::time_t seconds = now_ns / 1'000'000'000;
    std::tm utc{};
    ::gmtime_r(&seconds, &utc);
    return fmt::format("{:04}{:02}{:02}T{:02}{:02}{:02}Z-{}", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday,
                       utc.tm_hour, utc.tm_min, utc.tm_sec, Id128::random().short_hex(8));
}

/// The number in "<prefix><number><suffix>".
std::optional<std::uint64_t> file_number(std::string_view name, std::string_view prefix,
                                         std::string_view suffix) {
    if (!name.starts_with(prefix) || !name.ends_with(suffix)) return std::nullopt;
    if (name.size() <= prefix.size() + suffix.size()) return std::nullopt;
    const std::string_view digits = name.substr(prefix.size(), name.size() - prefix.size() - suffix.size());
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
    return number;
}

/// Names in a folder; none if it cannot be read because it is not there.
std::vector<std::string> names_in(const std::string& folder) {
    std::vector<std::string> names;
    std::error_code failure;
    for (auto entry = std::filesystem::directory_iterator(folder, failure);
         !failure && entry != std::filesystem::directory_iterator(); entry.increment(failure))
        names.push_back(entry->path().filename().string());
    if (failure && failure != std::errc::no_such_file_or_directory)
        throw IoError("list", folder, failure.value());
    return names;
}

std::vector<std::string> numbered(const std::string& folder, const std::vector<std::string>& names,
                                  std::string_view prefix, std::string_view suffix = "") {
    std::vector<std::pair<std::uint64_t, std::string>> found;
    for (const std::string& name : names)
        if (const auto number = file_number(name, prefix, suffix))
            found.emplace_back(*number, folder + "/" + name);
    std::sort(found.begin(), found.end());
    std::vector<std::string> paths;
    for (auto& [number, path] : found)
        paths.push_back(std::move(path));
    return paths;
}

/// The UTC in a part's id.
WallTime part_time_ns(const std::string& part) {
    std::tm utc{};
    if (::strptime(part.c_str(), "%Y%m%dT%H%M%SZ", &utc) == nullptr) return 0;
    return static_cast<WallTime>(::timegm(&utc)) * second_ns;
}

} // namespace

bool is_part_id(std::string_view text) {
    return text.size() == part_pattern.size() &&
           std::equal(text.begin(), text.end(), part_pattern.begin(),
                      [](char c, char wanted) { return fits(wanted, c); });
}

std::string CampaignDirectory::create_part(WallTime now_ns) const {
    make_folder("parts");
    // Parts are ordered by their names, so a later one must never get a smaller name: not within one second,
    // nor after a clock was set back.
    const std::vector<std::string> before = parts();
    WallTime named_ns = now_ns;
    if (!before.empty()) named_ns = std::max(now_ns, part_time_ns(before.back()) + second_ns);
    std::string part = new_part_id(named_ns);
    while (!files_->make_folder(part_folder(part), 0700))
        part = new_part_id(named_ns);
    files_->sync_folder(parts_folder());
    create_file(*files_, part_folder(part) + "/owner", to_text(this_process(part, now_ns)));
    return part;
}

std::vector<std::string> CampaignDirectory::parts() const {
    std::vector<std::string> parts = names_in(parts_folder());
    std::erase_if(parts, [](const std::string& name) { return !is_part_id(name); });
    std::sort(parts.begin(), parts.end());
    return parts;
}

PartFiles CampaignDirectory::part_files(std::string_view part) const {
    const std::string folder = part_folder(part);
    const std::vector<std::string> names = names_in(folder);
    return {.journals = numbered(folder, names, "journal-"),
            .spools = numbered(folder, names, "spool-"),
            .segments = numbered(folder, names, "segment-", ".h5"),
            .log_packs = numbered(folder, names, "logs-", ".pack"),
            .telemetry = numbered(folder, names, "telemetry-")};
}

} // namespace tessera
