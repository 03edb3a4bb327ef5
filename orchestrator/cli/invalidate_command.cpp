#include <tessera/base/error.hpp>
#include <tessera/cli/campaign_view.hpp>
#include <tessera/cli/commands.hpp>
#include <tessera/cli/options.hpp>
#include <tessera/controller/claimed_part.hpp>
#include <tessera/store/query.hpp>

#include <fmt/core.h>

#include <iostream>
#include <set>

#include <poll.h>

namespace po = boost::program_options;

namespace tessera {

namespace {

/// The last steps of the cells that `expression` matches and that have ever been tried, each with its next
/// generation.
std::vector<InvalidatedRecord::Item> next_generations(const CampaignView& view,
                                                      const std::string& expression) {
    Query query;
    query.columns = {"cell"};
    query.where = expression;
    const TextTable matching = run_query(view.tables(), view.state, query);
    std::set<StepKey> steps;
    for (const auto& row : matching.rows) {
        const std::uint32_t cell = view.find_cell(std::get<std::string>(row.front()));
        steps.insert(view.tables().steps.key[view.tables().cells.last_step[cell]]);
    }
    std::vector<InvalidatedRecord::Item> items;
    for (const StepKey& step : steps) {
        const StepView history = view.acceptance.step(step);
        if (history.attempts > 0) items.push_back({step, history.generation + 1});
    }
    return items;
}

} // namespace

int invalidate_command(const std::vector<std::string>& args) {
    std::string dir;
    std::string expression;
    std::string reason;
    po::options_description visible("Options");
    visible.add_options()("reason", po::value(&reason), "why; it is kept with the results");
    po::options_description hidden;
    hidden.add_options()("dir", po::value(&dir))("expression", po::value(&expression));
    po::positional_options_description positional;
    positional.add("dir", 1).add("expression", 1);
    const char* usage = "usage: tessera invalidate DIR EXPR --reason TEXT\n\nThe cells that EXPR matches run "
                        "again at the next "
                        "`tessera run`; their results are kept but not accepted any more.";
    if (parse_options(usage, args, visible, hidden, positional).help_shown) return 0;
    if (dir.empty() || expression.empty())
        throw UserError("which cells? usage: tessera invalidate DIR EXPR --reason TEXT");
    if (reason.empty()) throw UserError("say why with --reason TEXT: it is kept with the results");

    const CampaignView view = open_campaign(dir);
    const std::vector<InvalidatedRecord::Item> items = next_generations(view, expression);
    if (items.empty()) {
        std::cout << "no cell that was ever tried matches: nothing to invalidate\n";
        return 0;
    }
    const SystemClock clock;
    ClaimedPart part(view.directory, {"invalidate", expression}, clock, [](Duration duration) {
        ::poll(nullptr, 0, static_cast<int>(seconds(duration) * 1000));
        return true;
    });
    part.journal().append(InvalidatedRecord{items, reason, part.user(), clock.wall_ns()});
    for (const std::string& problem : part.close(0, "invalidated"))
        std::cerr << "tessera: warning: " << problem << '\n';
    std::cout << fmt::format("{} steps will run again at the next `tessera run`\n", items.size());
    return 0;
}

} // namespace tessera
