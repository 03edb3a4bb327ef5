#include "fixture.hpp"

#include <tessera/base/sha256.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

namespace fixture {

using namespace tessera;

TemporaryFolder::TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "tessera-store-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

Id128 id(std::uint64_t number) {
    return Sha256().update(std::to_string(number)).finish_id();
}

CellId Matrix::cell_id(std::size_t cell) const {
    return Sha256().update(fmt::format("cell {} {} {}", x(cell), y(cell), repeat(cell))).finish_id();
}

StepKey Matrix::step_key(std::size_t cell) const {
    return Sha256().update(fmt::format("step {} {} {}", x(cell), y(cell), repeat(cell))).finish_id();
}

CampaignDefinition Matrix::definition() const {
    CampaignDefinition definition{
        Sha256().update(fmt::format("{} {} {}", x_count, y_count, repeats)).finish_id(),
        "hello",
        size(),
        {},
        {},
        "campaign.toml"};
    AxisDefinition x_axis{"x", "integer", {}, {}};
    for (std::uint32_t i = 1; i <= x_count; ++i) {
        x_axis.values.push_back(std::to_string(i));
        x_axis.fields.emplace_back("{}");
    }
    AxisDefinition y_axis{"y", "string", {}, {}};
    for (std::uint32_t i = 0; i < y_count; ++i) {
        y_axis.values.push_back(fmt::format("\"{}\"", static_cast<char>('a' + i)));
        y_axis.fields.push_back(fmt::format(R"({{"label":"Ünit {}","size":{}}})", i, 10 * (i + 1)));
    }
    definition.axes = {x_axis, y_axis};
    definition.metrics = {{"product", "", Direction::higher}};
    return definition;
}

CellBatch Matrix::cells() const {
    CellBatch batch;
    batch.definition = definition().digest;
    batch.codes.resize(2);
    for (std::size_t i = 0; i < size(); ++i) {
        batch.ids.push_back(cell_id(i));
        batch.repeats.push_back(repeat(i));
        batch.codes[0].push_back(x(i));
        batch.codes[1].push_back(y(i) + 1);
        batch.last_steps.push_back(step_key(i));
    }
    return batch;
}

StepRecord Matrix::step(std::size_t cell) const {
    StepSpec spec;
    spec.name = "workload";
    spec.executor = "cpu";
    spec.argv = {"echo", fmt::format("{}", x(cell)), "\"quoted\" ünïcode"};
    spec.env = {{"A", "1"}};
    spec.cell = cell_id(cell).hex();
    spec.repeat = repeat(cell);
    spec.seed = UINT64_MAX;
    return {step_key(cell), {}, spec};
}

PartOpenRecord part_open() {
    return {id(7),
            "hello",
            "0.1.0",
            "node1",
            "boot",
            42,
            "job 9",
            "someone",
            {"tessera", "run"},
            1'767'225'600'123'000'000};
}

DispatchedRecord dispatched(const StepKey& step, std::uint32_t number, std::uint32_t generation) {
    return {1, {"b0", 1}, 1'767'225'601'000'000'000, {{step, number, generation, {}}}};
}

OutcomeRecord outcome(const std::string& part, const StepKey& step, OutcomeKind kind) {
    OutcomeRecord record;
    record.attempt = {part, step, 1};
    record.claim = {"b0", 1};
    record.kind = kind;
    if (kind != OutcomeKind::succeeded) {
        record.failure = FailureClass::exit;
        record.message = "exit code 3";
        record.exit_code = 3;
    }
    record.host = "node1";
    record.devices = {"0", "GPU-1"};
    record.cpus = {0, 1};
    record.started_ns = 1'767'225'602'000'000'000;
    record.ended_ns = 1'767'225'603'500'000'000;
    record.duration_s = 1.5;
    record.max_rss_bytes = std::uint64_t{1} << 40U;
    record.folder = "attempts/" + record.attempt.text();
    return record;
}

MetricPoint metric(const std::string& name, double value) {
    MetricPoint point;
    point.name = name;
    point.value = value;
    return point;
}

void Journal::add_to(TableBuilder& builder, std::size_t from, std::size_t to) const {
    for (std::size_t i = from; i < std::min(to, records_.size()); ++i)
        builder.add({part_, i + 1}, records_[i]);
}

Tables Journal::tables(std::size_t from, std::size_t to) const {
    TableBuilder builder;
    add_to(builder, from, to);
    return builder.take();
}

Journal journal(const Matrix& matrix, const std::string& part) {
    Journal journal(part);
    journal.add(part_open());
    journal.add(DefinitionRecord(matrix.definition()));
    journal.add(DefinitionRecord(matrix.cells()));
    return journal;
}

} // namespace fixture
