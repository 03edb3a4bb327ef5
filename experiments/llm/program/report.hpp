#pragma once

#include <tessera/program/options.hpp>

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace tessera::llm {

/// The one object that a command prints, its keys in the order in which they were added.
using Report = nlohmann::ordered_json;

/// A report's key that is also a metric of the step.
struct Metric {
    std::string key;
    std::string unit;
    /// "lower", "higher", or empty for a plain fact.
    std::string direction;
};

/// A number as JSON has it, or "NaN", "Infinity", "-Infinity".
Report json_number(double value);

void print_report(const Report& report, OutputFormat format);

/// Appends the metrics, as JSON lines, to the file that TESSERA_METRICS names, in one write; without it does
/// nothing. A key whose value is text becomes a text metric. Throws IoError.
void append_metrics(const Report& report, const std::vector<Metric>& metrics);

} // namespace tessera::llm
