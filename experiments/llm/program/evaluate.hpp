#pragma once

#include <tessera/program/options.hpp>
#include <tessera/program/report.hpp>

namespace tessera::llm {

/// Perplexity of a checkpoint on a text, with its metrics appended to TESSERA_METRICS.
Report evaluate(const EvaluateOptions& options);

} // namespace tessera::llm
