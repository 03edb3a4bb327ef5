#include "fixture.hpp"

#include <tessera/journal/campaign_dir.hpp>
#include <tessera/journal/journal_writer.hpp>
#include <tessera/store/store.hpp>

#include <exception>
#include <iostream>
#include <limits>

using namespace tessera;

namespace {

/// The sample that read_back.py expects: product = x in all cells but the last, which failed; a text with any
/// characters and an infinite loss in the first.
void write_sample(const std::string& path) {
    const fixture::Matrix matrix;
    const auto directory = CampaignDirectory::open_or_create(path, "hello");
    const std::string part = directory.create_part(1'767'225'600'000'000'000);
    JournalWriter journal(directory.part_folder(part), part, directory.files());
    journal.append(fixture::part_open());
    journal.append(DefinitionRecord(matrix.definition()));
    journal.append(DefinitionRecord(matrix.cells()));
    for (std::size_t i = 0; i < matrix.size(); ++i) {
        const bool last = i + 1 == matrix.size();
        journal.append(matrix.step(i));
        journal.append(fixture::dispatched(matrix.step_key(i)));
        auto outcome =
            fixture::outcome(part, matrix.step_key(i), last ? OutcomeKind::failed : OutcomeKind::succeeded);
        if (!last) outcome.metrics = {fixture::metric("product", matrix.x(i))};
        if (i == 0) {
            outcome.metrics.push_back(fixture::metric("loss", std::numeric_limits<double>::infinity()));
            outcome.metrics.push_back(fixture::metric("note", std::numeric_limits<double>::quiet_NaN()));
            outcome.metrics.back().text = "äöü 日本語 \"quoted\"\nsecond line";
        }
        journal.append(outcome);
    }
    journal.close();
    std::vector<std::string> warnings;
    compact(directory, warnings);
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    try {
        write_sample(argv[1]);
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
    return 0;
}
