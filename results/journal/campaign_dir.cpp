#include <tessera/base/error.hpp>
#include <tessera/base/text.hpp>
#include <tessera/journal/campaign_dir.hpp>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <cerrno>
#include <filesystem>
#include <sys/stat.h>

#include <fcntl.h>

namespace tessera {

namespace {

constexpr int directory_format = 1;

std::string identity_path(const std::string& path) {
    return path + "/campaign.id";
}

std::string identity_text(const CampaignIdentity& identity) {
    const nlohmann::ordered_json json = {
        {"format", directory_format}, {"name", identity.name}, {"id", identity.id.hex()}};
    return json.dump() + "\n";
}

/// Empty if there is no such file.
std::optional<std::string> read_if_there(const std::string& path) {
    try {
        return read_file(path);
    } catch (const IoError& error) {
        if (error.code == ENOENT || error.code == ENOTDIR) return std::nullopt;
        throw;
    }
}

/// The JSON in a small file; empty if the file is missing or damaged: such files only help, no result depends
/// on them.
std::optional<nlohmann::json> read_json(const std::string& path) {
    const auto text = read_if_there(path);
    if (!text) return std::nullopt;
    auto json = nlohmann::json::parse(*text, nullptr, false);
    return json.is_object() ? std::optional(std::move(json)) : std::nullopt;
}

std::optional<CampaignIdentity> read_identity(const std::string& path) {
    const auto text = read_if_there(identity_path(path));
    if (!text) return std::nullopt;
    const std::string source = identity_path(path);
    const auto json = nlohmann::json::parse(*text, nullptr, false);
    if (!json.is_object() || !json.contains("name") || !json.contains("id") || !json["name"].is_string() ||
        !json["id"].is_string())
        throw UserError(fmt::format("{}: damaged; restore it as {{\"format\": {}, \"name\": NAME, \"id\": 32 "
                                    "hexadecimal digits of campaign_id in any part's part_open frame}}",
                                    source, directory_format));
    const auto format = json.find("format");
    if (format != json.end() && format->is_number_integer() && format->get<std::int64_t>() > directory_format)
        throw UserError(fmt::format("{}: written by a newer version of Tessera; use that version", source));
    const auto id = Id128::parse(json["id"].get<std::string>());
    if (!id) throw UserError(fmt::format("{}: the id is not 32 hexadecimal digits", source));
    return CampaignIdentity{json["name"].get<std::string>(), *id};
}

/// Temporary files of a first run that died are no content.
bool is_empty_folder(const std::string& path) {
    std::error_code failure;
    for (auto entry = std::filesystem::directory_iterator(path, failure);
         !failure && entry != std::filesystem::directory_iterator(); entry.increment(failure))
        if (!entry->path().filename().string().starts_with("campaign.id.tmp-")) return false;
    if (failure) throw IoError("list", path, failure.value());
    return true;
}

/// Throws UserError unless `path` is a real folder, and makes it if nothing is there.
void ensure_folder(FileLayer& files, const std::string& path) {
    struct stat status {};

    if (::lstat(path.c_str(), &status) != 0) {
        if (errno != ENOENT) throw IoError("look at", path, errno);
        if (files.make_folder(path, 0700)) files.sync_folder(parent_folder(path));
        if (::lstat(path.c_str(), &status) != 0) throw IoError("look at", path, errno);
    }
    if (!S_ISDIR(status.st_mode))
        throw UserError(fmt::format(
            "{}: is in the way of a folder of the campaign (symbolic links are not followed); move it away",
            path));
}

void make_campaign_folder(FileLayer& files, const std::string& path) {
    std::error_code failure;
    if (std::filesystem::is_directory(path, failure)) return;
    if (std::filesystem::exists(path, failure))
        throw UserError(fmt::format("{}: is not a folder; choose another with --dir", path));
    const std::string parent = parent_folder(path);
    std::filesystem::create_directories(parent, failure);
    if (failure) throw IoError("make the folder", parent, failure.value());
    if (!files.make_folder(path, 0700) && !std::filesystem::is_directory(path, failure))
        throw UserError(fmt::format("{}: is a symbolic link to nothing; choose another with --dir", path));
    files.sync_folder(parent);
}

std::string absolute_path(const std::string& path) {
    std::string absolute = std::filesystem::absolute(path).lexically_normal().string();
    while (absolute.size() > 1 && absolute.back() == '/')
        absolute.pop_back();
    return absolute;
}

CampaignIdentity make_identity(FileLayer& files, const std::string& path, const std::string& name) {
    if (!is_empty_folder(path))
        throw UserError(
            fmt::format("{}: has files in it but is not a campaign directory; choose an empty or new "
                        "one with --dir",
                        path));
    create_file(files, identity_path(path), identity_text({name, Id128::random()}));
    // Another first run may have been faster: the file that is there counts.
    const auto identity = read_identity(path);
    if (!identity) throw IoError("read", identity_path(path), ENOENT);
    return *identity;
}

} // namespace

CampaignDirectory::CampaignDirectory(std::string path, CampaignIdentity identity, FileLayer& files)
    : path_(std::move(path))
    , identity_(std::move(identity))
    , files_(&files) {}

CampaignDirectory CampaignDirectory::open_or_create(const std::string& path, const std::string& name,
                                                    FileLayer& files) {
    const std::string absolute = absolute_path(path);
    make_campaign_folder(files, absolute);
    auto identity = read_identity(absolute);
    if (!identity) identity = make_identity(files, absolute, name);
    if (identity->name != name)
        throw UserError(
            fmt::format("{}: belongs to the campaign '{}', not to '{}'; choose another with --dir", absolute,
                        identity->name, name));
    CampaignDirectory directory(absolute, *identity, files);
    for (const char* folder : {"parts", "claims", "campaigns"})
        directory.make_folder(folder);
    return directory;
}

CampaignDirectory CampaignDirectory::open(const std::string& path, FileLayer& files) {
    const std::string absolute = absolute_path(path);
    const auto identity = read_identity(absolute);
    if (!identity)
        throw UserError(fmt::format("{}: not a campaign directory (there is no campaign.id in it); name the "
                                    "directory that 'tessera run' made",
                                    absolute));
    return {absolute, *identity, files};
}

bool CampaignDirectory::exists(const std::string& path) {
    return read_identity(absolute_path(path)).has_value();
}

std::string CampaignDirectory::make_folder(std::string_view relative) const {
    std::string folder = path_;
    for (const std::string& name : split(relative, '/')) {
        if (name.empty() || name == "." || name == "..")
            throw UserError(fmt::format("'{}' is not a folder below {}", relative, path_));
        folder += "/" + name;
        ensure_folder(*files_, folder);
    }
    return folder;
}

std::string CampaignDirectory::save_snapshot(std::string_view text, const Id128& digest) const {
    const std::string relative = fmt::format("campaigns/{}.toml", digest.hex());
    make_folder("campaigns");
    if (!read_if_there(path_ + "/" + relative)) create_file(*files_, path_ + "/" + relative, text);
    if (read_if_there(path_ + "/campaign.toml") != text)
        replace_file(*files_, path_ + "/campaign.toml", text);
    return relative;
}

std::optional<OwnerInfo> CampaignDirectory::owner(std::string_view part) const {
    const std::string path = part_folder(part) + "/owner";
    const auto text = read_if_there(path);
    if (!text) return std::nullopt;
    try {
        return parse_owner(*text, path);
    } catch (const FormatError&) {
        return std::nullopt;
    }
}

void CampaignDirectory::write_beat(std::string_view part, std::uint64_t counter) const {
    const std::string path = part_folder(part) + "/beat";
    const std::string text = fmt::format("{:020}\n", counter);
    // Opened and closed each time: closing is what makes other hosts see it on NFS.
    const UniqueFd file = files_->open(path, O_WRONLY | O_CREAT, 0600);
    write_fully(*files_, file.get(), text, path);
}

std::optional<std::uint64_t> CampaignDirectory::beat(std::string_view part) const {
    const auto text = read_if_there(part_folder(part) + "/beat");
    if (!text || text->size() != 21 || text->find_first_not_of("0123456789") != 20) return std::nullopt;
    return std::stoull(*text);
}

void CampaignDirectory::write_verdict(std::string_view part, const Verdict& verdict) const {
    const nlohmann::ordered_json json = {{"exit_code", verdict.exit_code}, {"reason", verdict.reason}};
    replace_file(*files_, part_folder(part) + "/verdict",
                 json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

std::optional<Verdict> CampaignDirectory::verdict(std::string_view part) const {
    const auto json = read_json(part_folder(part) + "/verdict");
    if (!json || !json->contains("exit_code") || !(*json)["exit_code"].is_number_integer())
        return std::nullopt;
    const auto reason = json->find("reason");
    const bool has_reason = reason != json->end() && reason->is_string();
    return Verdict{(*json)["exit_code"].get<int>(), has_reason ? reason->get<std::string>() : ""};
}

void CampaignDirectory::request_stop(bool kill, const std::string& run) const {
    const nlohmann::ordered_json json = {{"token", Id128::random().hex()}, {"run", run}, {"kill", kill}};
    replace_file(*files_, path_ + "/stop", json.dump() + "\n");
}

std::optional<StopWish> CampaignDirectory::stop_request() const {
    const auto json = read_json(path_ + "/stop");
    if (!json || !json->contains("token") || !(*json)["token"].is_string()) return std::nullopt;
    const auto kill = json->find("kill");
    const bool kills = kill != json->end() && kill->is_boolean() && kill->get<bool>();
    const auto run = json->find("run");
    const bool names_run = run != json->end() && run->is_string();
    return StopWish{(*json)["token"].get<std::string>(), names_run ? run->get<std::string>() : "", kills};
}

} // namespace tessera
