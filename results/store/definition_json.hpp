#pragma once

#include <tessera/journal/records.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace tessera {

/// Axes and metrics of a campaign's definition as JSON arrays: what /definitions holds. Throws FormatError if
/// a value or its fields are not JSON.
std::string axes_json(const std::vector<AxisDefinition>& axes);
std::string metrics_json(const std::vector<MetricDefinition>& metrics);

/// Throw FormatError.
std::vector<AxisDefinition> axes_from_json(std::string_view text);
std::vector<MetricDefinition> metrics_from_json(std::string_view text);

/// A JSON array of strings; the empty list is the empty text.
std::string list_json(const std::vector<std::string>& texts);
std::vector<std::string> list_from_json(std::string_view text);

} // namespace tessera
