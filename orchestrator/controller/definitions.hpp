#pragma once

#include <tessera/campaign/plan.hpp>
#include <tessera/journal/records.hpp>

#include <functional>
#include <string>

namespace tessera {

/// What the plan's campaign means, for the journal. `snapshot` is the path of the campaign file's copy,
/// relative to the campaign directory.
CampaignDefinition campaign_definition(const Plan& plan, const std::string& snapshot);

/// Hands all cells of the plan to `take`, some tens of thousands a batch.
void for_each_cell_batch(const Plan& plan, const std::function<void(CellBatch)>& take);

} // namespace tessera
