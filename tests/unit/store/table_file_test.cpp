#include "fixture.hpp"

#include <tessera/base/error.hpp>
#include <tessera/base/fd.hpp>
#include <tessera/store/hdf5_handle.hpp>
#include <tessera/store/lookup.hpp>
#include <tessera/store/step_spec_json.hpp>
#include <tessera/store/table_file.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <limits>

using namespace tessera;

namespace {

/// Every kind of record and the values that are hard to keep.
fixture::Journal rich_journal() {
    const fixture::Matrix matrix;
    auto journal = fixture::journal(matrix);
    ClaimRecord claim;
    claim.claim = {"b0", 1};
    journal.add(claim);
    for (std::size_t i = 0; i < matrix.size(); ++i) {
        journal.add(matrix.step(i));
        journal.add(fixture::dispatched(matrix.step_key(i)));
        if (i == 0) continue;
        journal.add(StartedRecord{matrix.step_key(i), 1, 1, "node1", {"0"}, 5});
        auto outcome = fixture::outcome(fixture::first_part, matrix.step_key(i),
                                        i == 1 ? OutcomeKind::failed : OutcomeKind::succeeded);
        outcome.metrics = {fixture::metric("product", static_cast<double>(i)),
                           fixture::metric("not a number", std::numeric_limits<double>::quiet_NaN()),
                           fixture::metric("infinite.loss", -std::numeric_limits<double>::infinity())};
        outcome.metrics[0].series_index = -3;
        outcome.metrics[0].member = 2;
        outcome.metrics[1].text = "日本語 " + std::string(100'000, 'x');
        outcome.metrics[2].text = "";
        outcome.metrics[2].unit = "s";
        outcome.metrics[2].direction = Direction::lower;
        outcome.metric_problems = {"line 3: no name"};
        outcome.folder = i % 2 == 0 ? "elsewhere/ü" : outcome.folder;
        journal.add(outcome);
    }
    journal.add(InvalidatedRecord{{{matrix.step_key(2), 2}}, "a bad disk", "someone", 9});
    journal.add(PartCloseRecord{0, "all done", 10});
    return journal;
}

} // namespace

TEST_CASE("tables are the same after writing and reading") {
    const fixture::TemporaryFolder folder;
    const Tables tables = rich_journal().tables();
    CHECK(tables.metrics.size() == 33);
    write_table_file(folder.path("t.h5"), tables);
    CHECK(identical(read_table_file(folder.path("t.h5")), tables));
}

TEST_CASE("an outcome comes back from the columns as it was recorded") {
    const auto journal = rich_journal();
    const Tables tables = journal.tables();
    std::uint32_t row = 0;
    for (const Record& record : journal.records()) {
        const auto* outcome = std::get_if<OutcomeRecord>(&record);
        if (outcome == nullptr) continue;
        OutcomeRecord read = outcome_record(tables, row++);
        CHECK(std::isnan(read.metrics.at(1).value));
        read.metrics[1].value = 0;
        OutcomeRecord written = *outcome;
        written.metrics[1].value = 0;
        CHECK(read == written);
    }
    CHECK(row == 11);
}

TEST_CASE("a cell is found by the first digits of its id, with its steps and attempts") {
    const fixture::Matrix matrix;
    const Tables tables = rich_journal().tables();
    const Acceptance acceptance = acceptance_of(tables);
    const auto state = campaign_state(tables, acceptance, [](const std::string&) { return true; });
    const auto detail =
        cell_detail(tables, acceptance, state, find_cell(tables, matrix.cell_id(1).hex().substr(0, 12)));
    CHECK(detail.status == CellStatus::failed);
    CHECK(detail.repeat == 1);
    CHECK(detail.axes == std::vector<std::pair<std::string, std::string>>{{"x", "1"}, {"y", "a"}});
    REQUIRE(detail.steps.size() == 1);
    CHECK(detail.steps[0].spec == matrix.step(1).spec);
    REQUIRE(detail.steps[0].attempts.size() == 1);
    CHECK(detail.steps[0].attempts[0].outcome->exit_code == 3);
    const auto running = cell_detail(tables, acceptance, state, find_cell(tables, matrix.cell_id(0).hex()));
    CHECK(running.status == CellStatus::running);
    CHECK(running.steps[0].attempts[0].folder ==
          "attempts/" + AttemptId{fixture::first_part, matrix.step_key(0), 1}.text());
    CHECK_THROWS_WITH_AS(find_cell(tables, "xyz"), doctest::Contains("'xyz'"), UserError);
    CHECK_THROWS_WITH_AS(find_cell(tables, ""), doctest::Contains("12 cells"), UserError);
    const CampaignCounts counts = count_cells(tables, state);
    CHECK(counts.of(CellStatus::succeeded) == 9);
    CHECK(counts.of(CellStatus::running) == 1);
    CHECK(counts.of(CellStatus::pending) == 1);
    REQUIRE(counts.failures.size() == 1);
    CHECK(counts.failures[0].message == "exit code 3");
}

TEST_CASE("empty tables are the same after writing and reading") {
    const fixture::TemporaryFolder folder;
    write_table_file(folder.path("t.h5"), Tables());
    CHECK(identical(read_table_file(folder.path("t.h5")), Tables()));
}

TEST_CASE("a campaign without cells keeps its axes") {
    const fixture::TemporaryFolder folder;
    const Tables tables = fixture::journal({0, 2, 1}).tables();
    write_table_file(folder.path("t.h5"), tables);
    const Tables read = read_table_file(folder.path("t.h5"));
    CHECK(identical(read, tables));
    CHECK(read.cells.size() == 0);
    REQUIRE(read.cells.axes.size() == 2);
    CHECK(read.cells.axes[1].name == "y");
}

TEST_CASE("texts of steps can be left out") {
    const fixture::TemporaryFolder folder;
    write_table_file(folder.path("t.h5"), rich_journal().tables());
    const Tables read = read_table_file(folder.path("t.h5"), StepTexts::skip);
    CHECK(read.steps.size() == 12);
    CHECK(read.steps.spec == std::vector<std::string>(12));
}

TEST_CASE("bytes that are no UTF-8, and NUL, are replaced and nothing else is lost") {
    auto outcome = fixture::outcome(fixture::first_part, fixture::id(1), OutcomeKind::failed);
    outcome.message = std::string("a\0b\xFF", 4);
    TableBuilder builder;
    builder.add({fixture::first_part, 1}, outcome);
    const Tables tables = builder.take();
    CHECK(tables.text(tables.attempts.message[0]) == "a\uFFFDb\uFFFD");
}

TEST_CASE("records split over journal files give the same rows as together") {
    const auto journal = rich_journal();
    const Tables whole = journal.tables();
    for (std::size_t cut = 0; cut <= journal.records().size(); ++cut) {
        // A later file of a part knows the definitions of the earlier ones.
        TableBuilder second;
        for (std::size_t i = 1; i < std::min<std::size_t>(cut, 2); ++i)
            second.add({fixture::first_part, i + 1}, journal.records()[i]);
        journal.add_to(second, cut);
        TableBuilder united;
        united.add(journal.tables(0, cut));
        united.add(second.tables());
        CAPTURE(cut);
        CHECK(united.tables().attempts.recorded_sequence == whole.attempts.recorded_sequence);
        CHECK(united.tables().metrics.size() == whole.metrics.size());
        CHECK(united.tables().cells.id == whole.cells.id);
        CHECK(united.tables().cells.axes == whole.cells.axes);
        CHECK(united.tables().cell_steps.size() == whole.cell_steps.size());
        CHECK(united.tables().parts.closed_ns == whole.parts.closed_ns);
        for (std::size_t i = 0; i < whole.metrics.size(); ++i) {
            const auto text = [&](const Tables& tables) {
                const std::uint32_t code = tables.metrics.text[i];
                return code == null_code ? "none" : tables.text(code);
            };
            CHECK(text(united.tables()) == text(whole));
        }
    }
}

TEST_CASE("adding the same cells and steps again adds no rows") {
    const auto journal = rich_journal();
    TableBuilder builder(journal.tables());
    builder.add(fixture::journal(fixture::Matrix(), fixture::second_part).tables());
    CHECK(builder.tables().cells.size() == 12);
    CHECK(builder.tables().definition_cells.size() == 12);
    CHECK(builder.tables().cell_steps.size() == 12);
    CHECK(builder.tables().definitions.size() == 1);
    CHECK(builder.tables().text(builder.tables().parts.part[builder.tables().definitions.newest_part[0]]) ==
          fixture::second_part);
}

TEST_CASE("an axis added later leaves earlier cells unset, and the newest definition's fields count") {
    const fixture::Matrix old_matrix;
    CampaignDefinition wider = old_matrix.definition();
    wider.digest = fixture::id(99);
    wider.axes.push_back({"z", "boolean", {"true", "false"}, {"{}", "{}"}});
    wider.axes[1].fields[0] = R"({"label":"new"})";
    CellBatch batch{wider.digest, {fixture::id(5)}, {0}, {{1}, {2}, {2}}, {fixture::id(6)}, {}};
    for (const bool newest_first : {false, true}) {
        fixture::Journal second(fixture::second_part);
        second.add(DefinitionRecord(wider));
        second.add(DefinitionRecord(batch));
        const auto first = fixture::journal(old_matrix);
        TableBuilder builder;
        if (newest_first) second.add_to(builder);
        first.add_to(builder);
        if (!newest_first) second.add_to(builder);
        const Tables tables = builder.take();
        REQUIRE(tables.cells.axes.size() == 3);
        CHECK(tables.cells.axes[1].fields[0] == R"({"label":"new"})");
        const std::size_t added = newest_first ? 0 : 12;
        for (std::size_t i = 0; i < tables.cells.size(); ++i)
            CHECK(tables.cells.axes[2].codes[i] == (i == added ? 2 : 0));
    }
}

TEST_CASE("cells without their definition are counted as lost") {
    TableBuilder builder;
    builder.add({fixture::first_part, 1}, DefinitionRecord(fixture::Matrix().cells()));
    CHECK(builder.lost_cells() == 12);
    CHECK(builder.tables().cells.size() == 0);
}

TEST_CASE("a step keeps every field as JSON") {
    StepSpec spec = fixture::Matrix().step(3).spec;
    spec.stdin_text = "1\n2";
    spec.timeout_s = 0.1;
    spec.keep = {"*.json"};
    spec.keep_attempts = KeepAttempts::all;
    spec.resources = {4, std::uint64_t{1} << 63U, 2};
    spec.axes_json = R"({"x":1})";
    spec.campaign_folder = "/somewhere";
    CHECK(step_spec_from_json(step_spec_json(spec)) == spec);
    CHECK(step_spec_from_json(step_spec_json(StepSpec())) == StepSpec());
    CHECK_THROWS_AS(step_spec_from_json("[1"), FormatError);
}

TEST_CASE("a damaged file is an error that names it, at whatever byte it is cut") {
    const fixture::TemporaryFolder folder;
    write_table_file(folder.path("whole.h5"), rich_journal().tables());
    const std::string bytes = read_file(folder.path("whole.h5"));
    for (const std::size_t size : {std::size_t{0}, std::size_t{100}, bytes.size() / 2, bytes.size() - 1}) {
        std::ofstream(folder.path("cut.h5"), std::ios::binary | std::ios::trunc) << bytes.substr(0, size);
        CHECK_THROWS_WITH_AS(read_table_file(folder.path("cut.h5")), doctest::Contains("cut.h5"),
                             FormatError);
    }
}

TEST_CASE("a failed write leaves the earlier file and no temporary one") {
    const fixture::TemporaryFolder folder;
    CHECK_THROWS_AS(write_table_file(folder.path("missing/t.h5"), Tables()), IoError);
    std::filesystem::create_directories(folder.path("t.h5/full"));
    CHECK_THROWS_AS(write_table_file(folder.path("t.h5"), Tables()), IoError);
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("a text with a NUL is shown with U+FFFD, not cut") {
    const fixture::TemporaryFolder folder;
    const fixture::Matrix matrix;
    auto journal = fixture::journal(matrix);
    auto outcome = fixture::outcome(fixture::first_part, matrix.step_key(0), OutcomeKind::succeeded);
    outcome.message = std::string("a\0b", 3);
    journal.add(matrix.step(0));
    journal.add(outcome);
    write_table_file(folder.path("t.h5"), journal.tables());
    const Tables tables = read_table_file(folder.path("t.h5"));
    CHECK(tables.text(tables.attempts.message[0]) == "a\xEF\xBF\xBD"
                                                     "b");
}
