#pragma once

#include <tessera/store/table_builder.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

/// A made-up campaign as its journals would tell it.
namespace fixture {

/// A folder of its own that goes at the end of the test.
class TemporaryFolder {
public:
    TemporaryFolder();
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    std::string path(const std::string& name = {}) const { return (path_ / name).string(); }

private:
    std::filesystem::path path_;
};

tessera::Id128 id(std::uint64_t number);

inline const std::string first_part = "20260101T000000Z-00000001";
inline const std::string second_part = "20260102T000000Z-00000002";

/// A matrix of x (integers from 1), y (texts "a", "b", ... with the fields {"size": 10, "label": "..."}) and
/// repeats from 0, in the order of a campaign; each cell has a step of its own.
struct Matrix {
    std::uint32_t x_count = 3;
    std::uint32_t y_count = 2;
    std::uint32_t repeats = 2;

    std::size_t size() const { return std::size_t{x_count} * y_count * repeats; }

    std::uint32_t x(std::size_t cell) const {
        return static_cast<std::uint32_t>(cell / repeats / y_count) + 1;
    }

    std::uint32_t y(std::size_t cell) const { return static_cast<std::uint32_t>(cell / repeats % y_count); }

    std::uint32_t repeat(std::size_t cell) const { return static_cast<std::uint32_t>(cell % repeats); }

    tessera::CellId cell_id(std::size_t cell) const;
    tessera::StepKey step_key(std::size_t cell) const;

    tessera::CampaignDefinition definition() const;
    tessera::CellBatch cells() const;
    tessera::StepRecord step(std::size_t cell) const;
};

tessera::PartOpenRecord part_open();
tessera::DispatchedRecord dispatched(const tessera::StepKey& step, std::uint32_t number = 1,
                                     std::uint32_t generation = 1);
tessera::OutcomeRecord outcome(const std::string& part, const tessera::StepKey& step,
                               tessera::OutcomeKind kind = tessera::OutcomeKind::succeeded);
tessera::MetricPoint metric(const std::string& name, double value);

/// A journal in memory: numbers records and hands them to a builder.
class Journal {
public:
    explicit Journal(std::string part)
        : part_(std::move(part)) {}

    void add(tessera::Record record) { records_.push_back(std::move(record)); }

    const std::vector<tessera::Record>& records() const { return records_; }

    void add_to(tessera::TableBuilder& builder, std::size_t from = 0, std::size_t to = SIZE_MAX) const;
    tessera::Tables tables(std::size_t from = 0, std::size_t to = SIZE_MAX) const;

private:
    std::string part_;
    std::vector<tessera::Record> records_;
};

/// Opens a part and declares the matrix.
Journal journal(const Matrix& matrix, const std::string& part = first_part);

} // namespace fixture
