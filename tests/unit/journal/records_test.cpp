#include "sample.hpp"

#include <tessera/base/error.hpp>
#include <tessera/base/wire.hpp>
#include <tessera/journal/records.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace tessera;

TEST_CASE("every record reads back as it was written") {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        sample::Random random(seed);
        for (const Record& record : sample::records(random)) {
            CAPTURE(seed);
            const auto read = decode(frame_type(record), encode(record), "test");
            REQUIRE(read);
            CHECK(*read == record);
        }
    }
}

TEST_CASE("records of defaults read back") {
    const std::vector<Record> defaults = {PartOpenRecord(),
                                          DefinitionRecord(CampaignDefinition()),
                                          DefinitionRecord(CellBatch()),
                                          StepRecord(),
                                          ClaimRecord(),
                                          DispatchedRecord(),
                                          StartedRecord(),
                                          MetricsRecord(),
                                          OutcomeRecord(),
                                          InvalidatedRecord(),
                                          PartCloseRecord()};
    for (const Record& record : defaults) {
        const auto read = decode(frame_type(record), encode(record), "test");
        REQUIRE(read);
        CHECK(*read == record);
    }
}

TEST_CASE("NaN, infinities and minus zero are kept") {
    MetricsRecord record;
    for (const double value : {std::nan(""), std::numeric_limits<double>::infinity(),
                               -std::numeric_limits<double>::infinity(), -0.0, 5e-324})
        record.points.emplace_back().value = value;
    const MetricsRecord read = decode_metrics(encode_metrics(record), "test");
    REQUIRE(read.points.size() == 5);
    CHECK(std::isnan(read.points[0].value));
    CHECK(read.points[1].value == std::numeric_limits<double>::infinity());
    CHECK(read.points[2].value == -std::numeric_limits<double>::infinity());
    CHECK(std::signbit(read.points[3].value));
    CHECK(read.points[4].value == 5e-324);
}

TEST_CASE("unknown fields are skipped and unknown types give nothing") {
    sample::Random random(7);
    for (const Record& record : sample::records(random)) {
        if (std::holds_alternative<DefinitionRecord>(record)) continue;
        WireWriter more;
        more.uint_field(4000, 1);
        more.double_field(4001, 2.5);
        more.bytes_field(4002, "later");
        const auto read = decode(frame_type(record), std::string(more.view()) + encode(record), "test");
        REQUIRE(read);
        CHECK(*read == record);
    }
    CHECK_FALSE(decode(static_cast<FrameType>(77), "anything", "test"));
    WireWriter other_definition;
    other_definition.bytes_field(9, "a kind of definition that came later");
    CHECK_FALSE(decode(FrameType::definition, other_definition.view(), "test"));
}

TEST_CASE("hostile payloads end in a FormatError or in a record, never otherwise") {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        sample::Random random(seed);
        for (const Record& record : sample::records(random)) {
            std::string payload = encode(record);
            for (std::uint32_t i = 1 + sample::number(random, 3); i > 0 && !payload.empty(); --i)
                payload[random() % payload.size()] = static_cast<char>(random());
            if (random() % 4 == 0) payload.resize(random() % (payload.size() + 1));
            try {
                const auto read = decode(frame_type(record), payload, "hostile");
                if (read) CHECK(decode(frame_type(*read), encode(*read), "again"));
            } catch (const FormatError& error) {
                CHECK(error.source == "hostile");
            }
        }
    }
}

TEST_CASE("columns of different lengths are refused") {
    CellBatch batch;
    batch.ids = {Id128{}, Id128{}};
    batch.repeats = {1};
    batch.last_steps = {Id128{}, Id128{}};
    CHECK_THROWS_AS(decode(FrameType::definition, encode(Record(DefinitionRecord(batch))), "test"),
                    FormatError);
}

TEST_CASE("an outcome without its kind is refused") {
    CHECK_THROWS_AS(decode_outcome("", "test"), FormatError);
    WireWriter future;
    future.uint_field(4, 200);
    CHECK_THROWS_AS(decode_outcome(future.view(), "test"), FormatError);
}

TEST_CASE("an attempt's text names its folder") {
    const AttemptId attempt{"20260101T000000Z-0123abcd", *Id128::parse("00112233445566778899aabbccddeeff"),
                            4};
    CHECK(attempt.text() == "20260101T000000Z-0123abcd/0011223344556677-4");
}
