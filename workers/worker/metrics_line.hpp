#pragma once

#include <tessera/journal/records.hpp>

#include <string>
#include <string_view>
#include <variant>

namespace tessera {

/// Why a line could not be used, for people.
struct MetricLineProblem {
    std::string text;
};

/// One line of the metrics protocol without its newline: a JSON object with "metric" and either "value" (a
/// number, or NaN, Infinity, -Infinity as Python writes them) or "text", and optionally "step", "unit",
/// "direction". Other keys are passed over. Any bytes are safe input; malformed UTF-8 in strings is repaired;
/// text and unit may hold an escaped NUL. `t_s` of the point is left at 0.
std::variant<MetricPoint, MetricLineProblem> parse_metric_line(std::string_view line);

} // namespace tessera
