#include <tessera/campaign/diagnostics.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <tuple>

namespace tessera {

namespace {

std::string joined(const std::vector<Diagnostic>& diagnostics) {
    std::string text;
    for (const Diagnostic& diagnostic : diagnostics) {
        if (!text.empty()) text += '\n';
        text += diagnostic.text();
    }
    return text;
}

} // namespace

std::string Diagnostic::text() const {
    if (place.line == 0) return fmt::format("{}: {}", file, message);
    return fmt::format("{}:{}:{}: {}", file, place.line, place.column, message);
}

CampaignError::CampaignError(std::vector<Diagnostic> found)
    : UserError(joined(found))
    , diagnostics(std::move(found)) {}

void Problems::add(Place place, std::string message, bool stops_run) {
    found_.push_back({file_, place, std::move(message), stops_run});
}

std::vector<Diagnostic> Problems::sorted() const {
    std::vector<Diagnostic> sorted = found_;
    std::sort(sorted.begin(), sorted.end(), [](const Diagnostic& a, const Diagnostic& b) {
        return std::tie(a.place, a.message) < std::tie(b.place, b.message);
    });
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    return sorted;
}

void Problems::throw_if_any() const {
    if (!empty()) throw CampaignError(sorted());
}

} // namespace tessera
