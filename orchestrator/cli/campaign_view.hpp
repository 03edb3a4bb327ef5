#pragma once

#include <tessera/journal/acceptance.hpp>
#include <tessera/journal/campaign_dir.hpp>
#include <tessera/store/campaign_state.hpp>
#include <tessera/store/store.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace tessera {

/// A campaign directory as the inspecting commands see it.
struct CampaignView {
    CampaignDirectory directory;
    Store store;
    Acceptance acceptance;
    CampaignState state;

    const Tables& tables() const { return store.tables; }

    /// "x=1 y=a" of a row of /cells.
    std::string axes_of(std::uint32_t cell) const;

    /// The row of the cell whose id starts with `prefix`. Throws UserError if none or several do.
    std::uint32_t find_cell(const std::string& prefix) const;

    /// Rows of /attempts of a step, oldest first.
    std::vector<std::uint32_t> attempts_of(std::uint32_t step) const;

    AttemptId attempt_id(std::uint32_t attempt) const;

    /// The folder of an attempt, absolute or relative as the directory was given; empty if it is gone.
    std::string folder_of(std::uint32_t attempt) const;
};

/// Reads everything; damage is told on stderr. Throws UserError if `path` is no campaign directory or has no
/// cells yet.
CampaignView open_campaign(const std::string& path, StepTexts texts = StepTexts::skip);

} // namespace tessera
