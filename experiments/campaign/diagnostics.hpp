#pragma once

#include <tessera/base/error.hpp>

#include <compare>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tessera {

/// Where something stands in a campaign file; both count from 1, 0 if it stands nowhere.
struct Place {
    std::uint32_t line = 0;
    std::uint32_t column = 0;

    auto operator<=>(const Place&) const = default;
};

/// One problem of a campaign file.
struct Diagnostic {
    std::string file;
    Place place;
    std::string message;
    bool stops_run = false; ///< of a warning: a plan may have it, a run may not

    bool operator==(const Diagnostic&) const = default;

    /// "file:line:column: message".
    std::string text() const;
};

/// Every problem of a campaign file, in the order of the file; what() has one line for each.
class CampaignError : public UserError {
public:
    explicit CampaignError(std::vector<Diagnostic> diagnostics);

    std::vector<Diagnostic> diagnostics;
};

/// Collects the problems of one file, so that a user sees all of them at once.
class Problems {
public:
    explicit Problems(std::string file)
        : file_(std::move(file)) {}

    void add(Place place, std::string message, bool stops_run = false);

    bool empty() const { return found_.empty(); }

    std::size_t size() const { return found_.size(); }

    /// What was found, in the order of the file, each once.
    std::vector<Diagnostic> sorted() const;

    /// Throws CampaignError if there is any.
    void throw_if_any() const;

private:
    std::string file_;
    std::vector<Diagnostic> found_;
};

} // namespace tessera
