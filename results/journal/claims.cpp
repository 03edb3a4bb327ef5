#include <tessera/base/error.hpp>
#include <tessera/journal/claims.hpp>
#include <tessera/journal/replay.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <limits>
#include <sys/stat.h>
#include <utility>

namespace tessera {

namespace {

bool is_plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

std::optional<std::string> decode_batch(std::string_view text) {
    std::string batch;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (is_plain(text[i])) {
            batch += text[i];
            continue;
        }
        unsigned byte = 0;
        if (text[i] != '%' || i + 2 >= text.size()) return std::nullopt;
        const auto [end, error] = std::from_chars(text.data() + i + 1, text.data() + i + 3, byte, 16);
        if (error != std::errc{} || end != text.data() + i + 3) return std::nullopt;
        batch += static_cast<char>(byte);
        i += 2;
    }
    return batch.empty() ? std::nullopt : std::optional(batch);
}

struct JournalEnd {
    std::uint64_t last_sequence = 0;
    bool closed = false;
    bool has_claim = false; ///< the record of the claim that was asked for
};

JournalEnd read_end(const CampaignDirectory& directory, const std::string& part, const ClaimRef& claim) {
    JournalEnd end;
    JournalReader reader(directory, part, {FrameType::claim, FrameType::part_close});
    reader.read([&](const FramePosition&, Record&& record) {
        end.closed = end.closed || std::holds_alternative<PartCloseRecord>(record);
        const auto* found = std::get_if<ClaimRecord>(&record);
        if (found != nullptr && found->claim == claim) end.has_claim = true;
    });
    end.last_sequence = reader.last_sequence();
    return end;
}

bool is_same_file(const std::string& a, const std::string& b) {
    struct stat first {};

    struct stat second {};

    if (::stat(a.c_str(), &first) != 0 || ::lstat(b.c_str(), &second) != 0) return false;
    return first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

} // namespace

std::string claim_file_name(const ClaimRef& claim) {
    std::string name;
    for (const char c : claim.batch) {
        if (is_plain(c))
            name += c;
        else
            name += fmt::format("%{:02x}", static_cast<unsigned char>(c));
    }
    return fmt::format("{}.{}", name, claim.epoch);
}

std::optional<ClaimRef> parse_claim_file_name(std::string_view name) {
    const std::size_t dot = name.rfind('.');
    if (dot == std::string_view::npos) return std::nullopt;
    const auto batch = decode_batch(name.substr(0, dot));
    const std::string_view digits = name.substr(dot + 1);
    std::uint32_t epoch = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), epoch);
    if (!batch || error != std::errc{} || end != digits.data() + digits.size() || epoch == 0)
        return std::nullopt;
    return ClaimRef{*batch, epoch};
}

std::vector<ClaimRef> list_claims(const CampaignDirectory& directory) {
    std::vector<ClaimRef> claims;
    std::error_code failure;
    for (auto entry = std::filesystem::directory_iterator(directory.claims_folder(), failure);
         !failure && entry != std::filesystem::directory_iterator(); entry.increment(failure))
        if (auto claim = parse_claim_file_name(entry->path().filename().string()))
            claims.push_back(std::move(*claim));
    if (failure && failure != std::errc::no_such_file_or_directory)
        throw IoError("list", directory.claims_folder(), failure.value());
    return claims;
}

std::string claim_path(const CampaignDirectory& directory, const ClaimRef& claim) {
    return directory.claims_folder() + "/" + claim_file_name(claim);
}

std::uint32_t newest_epoch(const CampaignDirectory& directory, std::string_view batch) {
    std::uint32_t newest = 0;
    for (const ClaimRef& claim : list_claims(directory))
        if (claim.batch == batch) newest = std::max(newest, claim.epoch);
    return newest;
}

bool is_superseded(const CampaignDirectory& directory, const ClaimRef& claim) {
    return newest_epoch(directory, claim.batch) > claim.epoch;
}

Claimant::Claimant(const CampaignDirectory& directory, std::string part, std::string batch, Duration lease,
                   const Clock& clock)
    : directory_(directory)
    , part_(std::move(part))
    , batch_(std::move(batch))
    , lease_(lease)
    , clock_(clock)
    , self_(this_process(part_, clock.wall_ns())) {}

OwnerInfo Claimant::read_claim(std::uint32_t epoch) const {
    const std::string path = claim_path(directory_, {batch_, epoch});
    try {
        return parse_owner(read_file(path), path);
    } catch (const FormatError&) {
        throw UserError(
            fmt::format("{}: damaged, so nobody can tell who runs this campaign; when no run of it is "
                        "alive on any machine, remove this file",
                        path));
    }
}

ClaimResult Claimant::try_claim() {
    // Each round that gives nothing means that some other part got an epoch meanwhile.
    for (;;)
        if (auto result = try_epoch()) return std::move(*result);
}

std::optional<ClaimResult> Claimant::try_epoch() {
    const std::uint32_t epoch = newest_epoch(directory_, batch_);
    if (epoch == 0) {
        if (!link_epoch(1)) return std::nullopt;
        return acquired(1);
    }
    const OwnerInfo owner = read_claim(epoch);
    if (owner.part == part_) return acquired(epoch);
    const OwnerState state = owner_state(owner, self_);
    observe(epoch, owner, state);
    if (may_take(owner, state)) {
        if (!link_epoch(epoch + 1)) return std::nullopt;
        return acquired(epoch + 1);
    }
    const ClaimRef claim{batch_, epoch};
    if (state == OwnerState::alive || seen_.moved) return ClaimHeld{claim, owner};
    return ClaimWatch{claim, owner, lease_ - (clock_.now() - seen_.since)};
}

void Claimant::observe(std::uint32_t epoch, const OwnerInfo& owner, OwnerState state) {
    const auto beat = directory_.beat(owner.part);
    if (seen_.epoch != epoch) {
        const bool closed = state == OwnerState::unknown && read_end(directory_, owner.part, {}).closed;
        seen_ = {epoch, beat, clock_.now(), false, closed};
    } else if (seen_.beat != beat) {
        seen_.beat = beat;
        seen_.since = clock_.now();
        seen_.moved = true;
    }
}

bool Claimant::may_take(const OwnerInfo& owner, OwnerState state) const {
    if (state == OwnerState::gone || seen_.closed) return true;
    if (directory_.verdict(owner.part)) return true;
    return clock_.now() - seen_.since >= lease_;
}

bool Claimant::link_epoch(std::uint32_t epoch) const {
    const std::string source = directory_.part_folder(part_) + "/owner";
    const std::string path = claim_path(directory_, {batch_, epoch});
    directory_.make_folder("claims");
    try {
        // Over NFS the answer of a link that was made can be lost, so the name itself is asked who it is.
        if (!directory_.files().link(source, path) && !is_same_file(source, path)) return false;
    } catch (const IoError& error) {
        if (error.code != EPERM && error.code != EOPNOTSUPP && error.code != ENOSYS && error.code != EXDEV)
            throw;
        throw UserError(
            fmt::format("{}: this filesystem has no hard links, which keep two runs apart; put the "
                        "campaign's directory on another one with --dir",
                        path));
    }
    directory_.files().sync_folder(directory_.claims_folder());
    return true;
}

/// Parts that got an epoch and died before their record of it reached the disk have fenced nobody, so this
/// claim fences their predecessors too.
ClaimAcquired Claimant::acquired(std::uint32_t epoch) const {
    const ClaimRef claim{batch_, epoch};
    ClaimAcquired result{claim, {}};
    for (std::uint32_t before = epoch - 1; before > 0; --before) {
        const std::string part = read_claim(before).part;
        const JournalEnd end = read_end(directory_, part, {batch_, before});
        // A part without any journal has only frames that were compacted and pruned: all of them are
        // honoured.
        const bool pruned = directory_.part_files(part).journals.empty();
        result.records.push_back({claim, part, pruned ? UINT64_MAX : end.last_sequence});
        if (end.has_claim) break;
    }
    if (result.records.empty()) result.records.push_back({claim, {}, 0});
    return result;
}

} // namespace tessera
