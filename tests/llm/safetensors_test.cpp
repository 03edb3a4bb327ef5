#include "checkpoint_writer.hpp"

#include <tessera/checkpoint/checkpoint_error.hpp>
#include <tessera/checkpoint/safetensors.hpp>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>

namespace {

using namespace tessera::llm;
using test::safetensors_bytes;
using test::to_bytes;

std::vector<TensorEntry> parse(const std::string& bytes) {
    return parse_safetensors(to_bytes(bytes), "weights");
}

/// The problem that the parser names, or "accepted".
std::string problem_of(const std::string& bytes) {
    try {
        parse(bytes);
    } catch (const CheckpointError& error) {
        CHECK(error.path == "weights");
        return error.problem;
    }
    return "accepted";
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

std::string tensor(const std::string& name, const std::string& shape, const std::string& offsets,
                   const std::string& dtype = "F32") {
    return fmt::format(R"("{}": {{"dtype": "{}", "shape": {}, "data_offsets": {}}})", name, dtype, shape,
                       offsets);
}

std::string object(const std::vector<std::string>& members) {
    return fmt::format("{{{}}}", fmt::join(members, ","));
}

} // namespace

TEST_CASE("a header gives its tensors in the order of their data") {
    const std::string header = object({tensor("b", "[2]", "[12, 20]"), tensor("a", "[3]", "[0, 12]"),
                                       R"("__metadata__": {"format": "pt"})"}) +
                               "   ";
    const auto entries = parse(safetensors_bytes(header, std::string(20, '\0')));
    REQUIRE(entries.size() == 2);
    CHECK(entries[0].name == "a");
    CHECK(entries[0].begin == 8 + header.size());
    CHECK(entries[1].name == "b");
    CHECK(entries[1].begin == 8 + header.size() + 12);
    CHECK(entries[1].size_bytes == 8);
    CHECK(entries[1].shape == std::vector<std::int64_t>{2});
}

TEST_CASE("scalars, empty tensors and every dtype are read") {
    const std::string header =
        object({tensor("scalar", "[]", "[0, 2]", "BF16"), tensor("none", "[0, 5]", "[2, 2]", "F64"),
                tensor("one", "[1]", "[2, 10]", "I64")});
    CHECK(parse(safetensors_bytes(header, std::string(10, '\0'))).size() == 3);
    for (const char* name : {"BOOL", "U8", "I8", "F8_E5M2", "F8_E4M3", "I16", "U16", "F16", "BF16", "I32",
                             "U32", "F32", "F64", "I64", "U64"}) {
        REQUIRE(parse_dtype(name));
        CHECK(dtype_name(*parse_dtype(name)) == name);
    }
    CHECK_FALSE(parse_dtype("f32"));
}

TEST_CASE("hostile and truncated lengths are refused") {
    CHECK(contains(problem_of(""), "too few"));
    CHECK(contains(problem_of("1234567"), "too few"));
    CHECK(contains(problem_of(std::string(8, '\xFF')), "limit"));
    CHECK(contains(problem_of(std::string("\x00\xE1\xF5\x05\x00\x00\x00\x00", 8) + "{}"), "only 2 follow"));
    CHECK(contains(problem_of(std::string("\x01\xE1\xF5\x05\x00\x00\x00\x00", 8) + "{}"), "limit"));
    CHECK(contains(problem_of(safetensors_bytes("", "")), "does not start"));
    CHECK(contains(problem_of(safetensors_bytes(" {}", "")), "does not start"));
}

TEST_CASE("a header that is no JSON object of tensors is refused") {
    CHECK(contains(problem_of(safetensors_bytes("{\"a\": ", "")), "invalid JSON"));
    CHECK(contains(problem_of(safetensors_bytes("{} {}", "")), "invalid JSON"));
    CHECK(contains(problem_of(safetensors_bytes("{\"\xFF\": 1}", "")), "invalid JSON"));
    CHECK(contains(problem_of(safetensors_bytes("{\"a\": 1}", "")), "no dtype"));
    CHECK(contains(problem_of(safetensors_bytes(R"({"a": {"dtype": "F32", "shape": []}})", "")),
                   "no data_offsets"));
    CHECK(contains(problem_of(safetensors_bytes(R"({"__metadata__": {"a": 1}})", "")), "__metadata__"));
    const std::string twice = object({tensor("a", "[1]", "[0, 4]"), tensor("a", "[1]", "[0, 4]")});
    CHECK(contains(problem_of(safetensors_bytes(twice, std::string(4, '\0'))), "appears twice"));
    std::string deep = "{\"a\": ";
    for (int i = 0; i < 100'000; ++i)
        deep += '[';
    CHECK(problem_of(safetensors_bytes(deep, "")) != "accepted");
}

TEST_CASE("sizes that are negative, overflow or disagree are refused") {
    const auto one = [](const std::string& shape, const std::string& offsets,
                        const std::string& dtype = "F32") {
        return problem_of(
            safetensors_bytes(object({tensor("a", shape, offsets, dtype)}), std::string(16, '\0')));
    };
    CHECK(one("[4]", "[0, 16]") == "accepted");
    CHECK(contains(one("[-4]", "[0, 16]"), "no count"));
    CHECK(contains(one("[4.0]", "[0, 16]"), "no count"));
    CHECK(contains(one("[18446744073709551615]", "[0, 16]"), "no count"));
    CHECK(contains(one("4", "[0, 16]"), "no list"));
    CHECK(contains(one("[4294967296, 4294967296]", "[0, 0]"), "overflows"));
    CHECK(contains(one("[4611686018427387904, 4]", "[0, 16]"), "overflows"));
    CHECK(contains(one("[3]", "[0, 16]"), "needs 12 bytes"));
    CHECK(contains(one("[4]", "[16, 0]"), "no range"));
    CHECK(contains(one("[4]", "[-16, 0]"), "no range"));
    CHECK(contains(one("[4]", "[0, 8, 16]"), "no range"));
    CHECK(contains(one("[4]", "[0, 16]", "F31"), "unknown dtype"));
}

TEST_CASE("overlaps, holes and data beyond the file are refused") {
    const auto two = [](const std::string& a, const std::string& b, std::size_t data) {
        return problem_of(safetensors_bytes(object({tensor("a", "[2]", a), tensor("b", "[2]", b)}),
                                            std::string(data, '\0')));
    };
    CHECK(two("[0, 8]", "[8, 16]", 16) == "accepted");
    CHECK(contains(two("[0, 8]", "[4, 12]", 12), "overlap"));
    CHECK(contains(two("[0, 8]", "[0, 8]", 8), "overlap"));
    CHECK(contains(two("[0, 8]", "[12, 20]", 20), "hole"));
    CHECK(contains(two("[4, 12]", "[12, 20]", 20), "hole"));
    CHECK(contains(two("[0, 8]", "[8, 16]", 15), "has only 15"));
    CHECK(contains(two("[0, 8]", "[8, 16]", 17), "belong to none"));
}
