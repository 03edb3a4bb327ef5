#pragma once

#include <tessera/program/options.hpp>
#include <tessera/program/report.hpp>

namespace tessera::llm {

/// Greedy generation after prompts of random tokens or of a text, with a KV cache, timed with the device's
/// work complete at each reading, its metrics appended to TESSERA_METRICS. Time to first token is the prefill
/// with its choice of a token; time per output token is (whole - first) / (generated - 1), as vLLM defines
/// them.
Report benchmark(const BenchmarkOptions& options);

} // namespace tessera::llm
