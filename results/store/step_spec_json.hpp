#pragma once

#include <tessera/campaign/step_spec.hpp>

#include <string>
#include <string_view>

namespace tessera {

/// A step as one JSON object, every field by its name: what /steps/spec_text holds.
std::string step_spec_json(const StepSpec& spec);

/// Fields that are absent keep their defaults. Throws FormatError.
StepSpec step_spec_from_json(std::string_view text);

} // namespace tessera
