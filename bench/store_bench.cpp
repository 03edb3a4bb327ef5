// How fast results become columns and answers: 10^6 cells, each with a step, a dispatch, an outcome and one
// metric. Prints a table, or with --json one object. Optional argument: the number of cells.

#include <tessera/store/campaign_state.hpp>
#include <tessera/store/query.hpp>
#include <tessera/store/table_builder.hpp>
#include <tessera/store/table_file.hpp>

#include <fmt/core.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <vector>

using namespace tessera;

namespace {

constexpr std::uint32_t x_count = 1000;
constexpr std::uint32_t y_count = 10;
const std::string part = "20260101T000000Z-01234567";

struct Result {
    std::string name;
    double seconds;
};

Id128 make_id(std::uint64_t n, std::uint64_t kind) {
    Id128 id;
    // Spread as hashes are.
    const std::uint64_t words[] = {(n + 1) * 0x9E3779B97F4A7C15ULL, (n + 1) * 0xC2B2AE3D27D4EB4FULL ^ kind};
    std::memcpy(id.bytes.data(), words, sizeof words);
    return id;
}

CampaignDefinition definition(std::uint64_t cells) {
    CampaignDefinition record{make_id(0, 9), "bench", cells, {}, {}, ""};
    for (const auto& [name, count] : {std::pair("x", x_count), std::pair("y", y_count)}) {
        AxisDefinition axis{name, "integer", {}, {}};
        for (std::uint32_t i = 0; i < count; ++i) {
            axis.values.push_back(std::to_string(i));
            axis.fields.emplace_back("{}");
        }
        record.axes.push_back(axis);
    }
    return record;
}

CellBatch cell_batch(std::uint32_t cells) {
    CellBatch batch;
    batch.definition = make_id(0, 9);
    batch.codes.resize(2);
    const std::uint32_t repeats = std::max<std::uint32_t>(1, cells / (x_count * y_count));
    for (std::uint32_t n = 0; n < cells; ++n) {
        batch.ids.push_back(make_id(n, 1));
        batch.last_steps.push_back(make_id(n, 2));
        batch.repeats.push_back(n % repeats);
        batch.codes[0].push_back(n / repeats / y_count % x_count + 1);
        batch.codes[1].push_back(n / repeats % y_count + 1);
    }
    return batch;
}

OutcomeRecord outcome(std::uint32_t n) {
    OutcomeRecord record;
    record.attempt = {part, make_id(n, 2), 1};
    record.claim = {"all", 1};
    record.exit_code = 0;
    record.worker = n % 64;
    record.host = "node0042";
    record.started_ns = 1'767'225'600'000'000'000 + n;
    record.ended_ns = record.started_ns + 1'000'000'000;
    record.duration_s = 1.0 + n * 1e-7;
    record.max_rss_bytes = 50'000'000 + n;
    MetricPoint& point = record.metrics.emplace_back();
    point.name = "perplexity";
    point.value = 12.5 + n * 1e-6;
    return record;
}

template <typename Work>
void time(std::vector<Result>& results, std::string name, Work&& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    results.push_back(
        {std::move(name), std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()});
}

void append_outcomes(TableBuilder& builder, std::uint32_t cells, std::vector<Result>& results) {
    std::vector<Record> records;
    for (std::uint32_t n = 0; n < cells; ++n)
        records.emplace_back(outcome(n));
    time(results, "append outcomes", [&] {
        for (std::uint32_t n = 0; n < cells; ++n)
            builder.add({part, n + 4}, records[n]);
    });
}

std::vector<Result> measure(std::uint32_t cells) {
    std::vector<Result> results;
    TableBuilder builder;
    builder.add({part, 1}, DefinitionRecord(definition(cells)));
    const Record batch = DefinitionRecord(cell_batch(cells));
    time(results, "append cells", [&] { builder.add({part, 2}, batch); });
    append_outcomes(builder, cells, results);
    const std::string path = (std::filesystem::temp_directory_path() / "tessera-store-bench.h5").string();
    time(results, "write the file", [&] { write_table_file(path, builder.tables()); });
    Tables tables;
    time(results, "read the file", [&] { tables = read_table_file(path, StepTexts::skip); });
    CampaignState state;
    time(results, "acceptance and status", [&] {
        state = campaign_state(tables, acceptance_of(tables), [](const std::string&) { return false; });
    });
    Query query;
    query.group_by = {"x", "y"};
    query.aggregates = {Aggregate::mean, Aggregate::count};
    time(results, "group by two axes", [&] { run_query(tables, state, query); });
    query = {};
    query.where = "x = 7 and perplexity > 12";
    time(results, "filter", [&] { run_query(tables, state, query); });
    time(results, "all rows", [&] { run_query(tables, state, {}); });
    fmt::print(stderr, "file: {} bytes\n", std::filesystem::file_size(path));
    std::filesystem::remove(path);
    return results;
}

} // namespace

int main(int argc, char** argv) {
    bool json = false;
    std::uint32_t cells = 1'000'000;
    for (int i = 1; i < argc; ++i) {
        if (std::string_view(argv[i]) == "--json")
            json = true;
        else
            cells = static_cast<std::uint32_t>(std::strtoul(argv[i], nullptr, 10));
    }
    const auto results = measure(cells);
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    if (json)
        fmt::print("{{\"cells\": {}, \"peak_rss_bytes\": {}", cells, usage.ru_maxrss * 1024);
    else
        fmt::print("{} cells, peak {} MB\n{:<24} {:>9} {:>12}\n", cells, usage.ru_maxrss / 1024, "work", "s",
                   "rows/s");
    for (const Result& result : results) {
        if (json)
            fmt::print(", \"{}_s\": {}", result.name, result.seconds);
        else
            fmt::print("{:<24} {:>9.3f} {:>12.0f}\n", result.name, result.seconds, cells / result.seconds);
    }
    if (json) fmt::print("}}\n");
    return 0;
}
