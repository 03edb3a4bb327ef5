#pragma once

#include <tessera/checkpoint/checkpoint.hpp>
#include <tessera/llama/llama.hpp>
#include <tessera/program/options.hpp>
#include <tessera/program/report.hpp>

#include <cstdint>

namespace tessera::llm {

/// Loads the model for sequences of up to `positions` tokens. Throws UserError if that is more than the model
/// has.
Llama load_model(const Checkpoint& checkpoint, const CommonOptions& options, std::int64_t positions);

/// Adds what every report says of the model, its precision and the machine.
void describe_model(Report& report, const Checkpoint& checkpoint, const CommonOptions& options);

/// The metrics that go with describe_model().
std::vector<Metric> model_metrics();

} // namespace tessera::llm
