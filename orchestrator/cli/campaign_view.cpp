#include <tessera/base/error.hpp>
#include <tessera/base/value.hpp>
#include <tessera/cli/campaign_view.hpp>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>

namespace tessera {

CampaignView open_campaign(const std::string& path, StepTexts texts) {
    CampaignDirectory directory = CampaignDirectory::open(path);
    Store store = open_store(directory, texts);
    for (const std::string& warning : store.warnings)
        std::cerr << "tessera: warning: " << warning << '\n';
    if (!current_definition(store.tables))
        throw UserError(fmt::format(
            "{} holds no cells yet: no run has come that far; start one with `tessera run`", path));
    Acceptance acceptance = acceptance_of(store.tables);
    CampaignState state = campaign_state(
        store.tables, acceptance, [&](const std::string& part) { return part_may_run(directory, part); });
    return {std::move(directory), std::move(store), std::move(acceptance), std::move(state)};
}

std::string CampaignView::axes_of(std::uint32_t cell) const {
    std::string text;
    for (const std::size_t axis : current_axes(tables())) {
        const AxisColumn& column = tables().cells.axes[axis];
        const std::uint32_t code = column.codes[cell];
        if (code == 0) continue;
        if (!text.empty()) text += ' ';
        text +=
            column.name + '=' + Value::from_json(nlohmann::json::parse(column.values[code - 1])).display();
    }
    return text;
}

std::uint32_t CampaignView::find_cell(const std::string& prefix) const {
    std::vector<std::uint32_t> found;
    const auto& ids = tables().cells.id;
    for (std::uint32_t cell = 0; cell < ids.size(); ++cell)
        if (ids[cell].hex().rfind(prefix, 0) == 0) found.push_back(cell);
    if (found.empty() || prefix.empty())
        throw UserError(fmt::format("no cell's id starts with '{}'; `tessera query {}` lists them", prefix,
                                    directory.path()));
    if (found.size() > 1)
        throw UserError(
            fmt::format("the ids of {} cells start with '{}', such as {} and {}: give more digits",
                        found.size(), prefix, ids[found[0]].hex(), ids[found[1]].hex()));
    return found.front();
}

std::vector<std::uint32_t> CampaignView::attempts_of(std::uint32_t step) const {
    std::vector<std::uint32_t> rows;
    const AttemptTable& attempts = tables().attempts;
    for (std::uint32_t row = 0; row < attempts.size(); ++row)
        if (attempts.step[row] == step) rows.push_back(row);
    std::stable_sort(rows.begin(), rows.end(), [&](std::uint32_t a, std::uint32_t b) {
        return attempts.number[a] < attempts.number[b];
    });
    return rows;
}

AttemptId CampaignView::attempt_id(std::uint32_t attempt) const {
    const AttemptTable& attempts = tables().attempts;
    return {tables().text(tables().parts.part[attempts.part[attempt]]),
            tables().steps.key[attempts.step[attempt]], attempts.number[attempt]};
}

std::string CampaignView::folder_of(std::uint32_t attempt) const {
    const AttemptTable& attempts = tables().attempts;
    std::string relative = tables().text(attempts.folder[attempt]);
    if (attempts.usual_folder[attempt] != 0) relative = "attempts/" + attempt_id(attempt).text();
    return relative.empty() ? relative : directory.path() + '/' + relative;
}

} // namespace tessera
