#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tessera::llm {

/// A JSON document that must be one object without repeated keys. Throws CheckpointError naming `path`, with
/// `remedy`.
nlohmann::json parse_json_object(std::string_view text, const std::string& path, const std::string& remedy);

/// The value as a count from 0 to 2^63-1; empty if it is anything else.
std::optional<std::int64_t> json_count(const nlohmann::json& value);

/// The value as short text for a message.
std::string json_excerpt(const nlohmann::json& value);

} // namespace tessera::llm
