#include <tessera/base/fd.hpp>
#include <tessera/base/text.hpp>
#include <tessera/campaign/campaign_parser.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <limits>

namespace fs = std::filesystem;

namespace tessera {

namespace {

constexpr std::uintmax_t max_file_bytes = 64U << 20U;
constexpr std::int64_t max_retries = 1'000'000;

bool is_campaign_name(std::string_view name) {
    static constexpr std::string_view letters =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    return !name.empty() && name.size() <= 100 && letters.find(name.front()) != std::string_view::npos &&
           std::all_of(name.begin(), name.end(), [](char c) {
               return letters.find(c) != std::string_view::npos || c == '_' || c == '-' || c == '.';
           });
}

std::vector<PlacedValue> placed_values(std::vector<PlacedText> texts) {
    std::vector<PlacedValue> values;
    for (PlacedText& text : texts)
        values.push_back({Value(std::move(text.text)), text.place});
    return values;
}

void parse_head(TableReader& root, Campaign& campaign, Problems& problems) {
    const TomlEntry* section = root.take_table("campaign");
    if (section == nullptr) {
        problems.add({}, "a campaign needs a [campaign] section with a name");
        return;
    }
    TableReader reader(section->node, "[campaign]", problems);
    if (const auto name = reader.string("name")) {
        campaign.name = name->text;
        if (!is_campaign_name(campaign.name))
            problems.add(name->place,
                         fmt::format("campaign.name cannot be '{}': use letters, digits, '_', '-' and '.', "
                                     "beginning with a letter or digit (it names a folder)",
                                     campaign.name));
    } else if (section->node.find("name") == nullptr) {
        problems.add(section->place, "[campaign] needs a name");
    }
    if (const auto text = reader.string("description")) campaign.description = text->text;
    if (const auto repeats = reader.integer("repeats", 1, std::numeric_limits<std::uint32_t>::max()))
        campaign.repeats = static_cast<std::uint32_t>(*repeats);
    if (const auto seed = reader.integer("seed", 0, std::numeric_limits<std::int64_t>::max()))
        campaign.seed = static_cast<std::uint64_t>(*seed);
    campaign.labels = placed_values(reader.strings("labels"));
    campaign.machine = placed_values(reader.strings("machine"));
    reader.finish();
}

void parse_retry(TableReader& root, Campaign& campaign, Problems& problems) {
    const TomlEntry* section = root.take_table("retry");
    if (section == nullptr) return;
    TableReader reader(section->node, "[retry]", problems);
    const auto limit = [&](std::string_view key, std::uint32_t& target) {
        if (const auto value = reader.integer(key, 0, max_retries))
            target = static_cast<std::uint32_t>(*value);
    };
    limit("oom", campaign.retry.out_of_memory);
    limit("timeout", campaign.retry.timeout);
    limit("crash", campaign.retry.crash);
    limit("exit", campaign.retry.exit);
    limit("spawn", campaign.retry.spawn);
    limit("lost", campaign.retry.lost);
    if (const auto backoff_s = reader.duration_s("backoff")) campaign.retry.backoff_s = *backoff_s;
    reader.finish();
}

void parse_keeping(TableReader& root, Campaign& campaign, Problems& problems) {
    if (const TomlEntry* section = root.take_table("files")) {
        TableReader reader(section->node, "[files]", problems);
        if (const auto choice = reader.choice("attempts", {"failed", "all", "none"}))
            campaign.keep_attempts = static_cast<KeepAttempts>(*choice);
        reader.finish();
    }
    if (const TomlEntry* section = root.take_table("telemetry")) {
        TableReader reader(section->node, "[telemetry]", problems);
        if (const auto choice = reader.choice("detail", {"summary", "1s", "raw"}))
            campaign.telemetry = static_cast<TelemetryDetail>(*choice);
        reader.finish();
    }
}

[[noreturn]] void refuse_file(const std::string& path, std::string message) {
    throw CampaignError({{path, {}, std::move(message)}});
}

/// Devices and pipes, which never end, are refused with folders.
void check_file(const std::string& path) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (!fs::exists(status)) refuse_file(path, "there is no such campaign file");
    if (fs::is_directory(status)) refuse_file(path, "this is a folder: name the campaign's .toml file");
    if (!fs::is_regular_file(status)) refuse_file(path, "this is not a regular file");
    if (fs::file_size(path, error) > max_file_bytes)
        refuse_file(path, "this is larger than 64 MiB: no campaign file");
}

} // namespace

const std::vector<std::string>& reserved_names() {
    static const std::vector<std::string> names = {
        "cell",    "step",  "repeat",   "status",  "attempt",     "generation",  "seed",    "metric",
        "value",   "files", "defaults", "exclude", "include",     "zip",         "block",   "labels",
        "sources", "paths", "sites",    "vars",    "master_addr", "master_port", "hostfile"};
    return names;
}

const std::vector<std::string>& executor_names() {
    static const std::vector<std::string> names = {"cpu", "cuda", "gaudi", "null"};
    return names;
}

bool Names::declare(const std::string& name, std::string_view kind, Place place) {
    if (!is_identifier(name)) {
        problems_->add(
            place, fmt::format("'{}' cannot name {} {}: use letters, digits and '_', beginning with a letter "
                               "or '_'",
                               name, kind == "axis" ? "an" : "a", kind));
        return false;
    }
    const std::string lower = to_lower(name);
    const auto& reserved = reserved_names();
    if (std::find(reserved.begin(), reserved.end(), lower) != reserved.end()) {
        problems_->add(place, fmt::format("'{}' is a reserved word and cannot name {} {}", name,
                                          kind == "axis" ? "an" : "a", kind));
        return false;
    }
    const auto same =
        std::find_if(used_.begin(), used_.end(), [&](const auto& used) { return used.first == lower; });
    if (same != used_.end()) {
        problems_->add(
            place, fmt::format("the name '{}' is already used by {} {} (upper and lower case do not differ)",
                               name, same->second == "axis" ? "an" : "a", same->second));
        return false;
    }
    used_.emplace_back(lower, kind);
    return true;
}

Campaign parse_campaign(std::string_view text, const std::string& path) {
    Problems problems(path);
    Campaign campaign;
    campaign.path = path;
    campaign.folder = fs::absolute(path).lexically_normal().parent_path().string();
    const auto document = parse_toml(text, problems);
    problems.throw_if_any();

    TableReader root(*document, "", problems);
    Names names(problems);
    names.declare("workload", "step", {});
    parse_head(root, campaign, problems);
    parse_definitions(root, campaign, problems);
    parse_matrix(root, campaign, names, problems);
    parse_workload(root, campaign, problems);
    parse_retry(root, campaign, problems);
    parse_keeping(root, campaign, problems);
    root.finish();
    problems.throw_if_any();
    return campaign;
}

Campaign load_campaign(const std::string& path) {
    check_file(path);
    std::string text;
    try {
        text = read_file(path);
    } catch (const IoError& error) {
        refuse_file(path, error.what());
    }
    return parse_campaign(text, path);
}

} // namespace tessera
