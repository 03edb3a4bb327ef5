#pragma once

#include <tessera/journal/records.hpp>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

/// Records with every field set, from a seeded generator, so that a failing case can be repeated.
namespace sample {

using Random = std::mt19937_64;

std::uint32_t number(Random& random, std::uint32_t below);
tessera::Id128 id(Random& random);
std::string text(Random& random);
tessera::MetricPoint metric(Random& random);
tessera::OutcomeRecord outcome(Random& random);
tessera::StepSpec step_spec(Random& random);

/// One record of each type, two for definitions.
std::vector<tessera::Record> records(Random& random);

} // namespace sample
