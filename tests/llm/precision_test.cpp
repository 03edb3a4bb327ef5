#include <tessera/base/error.hpp>
#include <tessera/quantization/precision.hpp>

#include <doctest/doctest.h>

using namespace tessera::llm;

TEST_CASE("every listed precision can be asked for") {
    for (const std::string& name : precision_names())
        CHECK(parse_precision(name).name == name);
    CHECK(parse_precision("int4").integer_bits == 4);
    CHECK(parse_precision("int4").compute == Precision::Compute::fp32);
    CHECK_FALSE(parse_precision("bf16").quantized());
    CHECK(compute_size_bytes(parse_precision("bf16").compute) == 2);
}

TEST_CASE("an unknown precision is answered with the choices") {
    CHECK_THROWS_AS(parse_precision("int7"), tessera::UserError);
    CHECK_THROWS_WITH(parse_precision("b16"), doctest::Contains("did you mean"));
}
