#include <tessera/base/wire.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <random>

using namespace tessera;

TEST_CASE("fields come back with their tags, types and values") {
    WireWriter writer;
    writer.uint_field(1, std::numeric_limits<std::uint64_t>::max());
    writer.int_field(2, std::numeric_limits<std::int64_t>::min());
    writer.int_field(3, -1);
    writer.double_field(4, -0.5);
    writer.double_field(5, std::numeric_limits<double>::quiet_NaN());
    writer.bytes_field(6, std::string("a\0b", 3));
    writer.bool_field(7, true);
    const Id128 id = Id128::random();
    writer.id_field(1000000, id);
    writer.record_field(9, [](WireWriter& nested) { nested.uint_field(1, 42); });

    WireReader reader(writer.view(), "test");
    REQUIRE(reader.next());
    CHECK(reader.as_uint() == std::numeric_limits<std::uint64_t>::max());
    REQUIRE(reader.next());
    CHECK(reader.as_int() == std::numeric_limits<std::int64_t>::min());
    REQUIRE(reader.next());
    CHECK(reader.as_int() == -1);
    REQUIRE(reader.next());
    CHECK(reader.as_double() == -0.5);
    REQUIRE(reader.next());
    CHECK(std::isnan(reader.as_double()));
    REQUIRE(reader.next());
    CHECK(reader.as_string() == std::string("a\0b", 3));
    REQUIRE(reader.next());
    CHECK(reader.as_bool());
    REQUIRE(reader.next());
    CHECK(reader.tag() == 1000000);
    CHECK(reader.as_id() == id);
    REQUIRE(reader.next());
    WireReader nested = reader.as_record();
    REQUIRE(nested.next());
    CHECK(nested.as_uint() == 42);
    CHECK_FALSE(nested.next());
    CHECK_FALSE(reader.next());
}

TEST_CASE("a field of another type than expected is an error that names the source") {
    WireWriter writer;
    writer.uint_field(1, 5);
    WireReader reader(writer.view(), "some/journal");
    REQUIRE(reader.next());
    CHECK_THROWS_WITH_AS(reader.as_bytes(), doctest::Contains("some/journal"), FormatError);
    CHECK_THROWS_AS(reader.as_double(), FormatError);
}

TEST_CASE("cut or damaged bytes give a FormatError and nothing else") {
    WireWriter writer;
    for (std::uint32_t tag = 1; tag < 20; ++tag) {
        writer.uint_field(tag, 1ULL << tag);
        writer.bytes_field(tag, "some text that is long enough to be cut");
        writer.double_field(tag, tag);
    }
    const std::string whole = writer.take();
    std::mt19937 random(7);
    for (int round = 0; round < 2000; ++round) {
        std::string bytes = whole.substr(0, random() % (whole.size() + 1));
        if (!bytes.empty()) bytes[random() % bytes.size()] = static_cast<char>(random());
        std::size_t fields = 0;
        try {
            WireReader reader(bytes, "damaged");
            while (reader.next())
                ++fields;
        } catch (const FormatError& error) {
            CHECK(error.offset <= bytes.size());
        }
        CHECK(fields <= whole.size());
    }
}
