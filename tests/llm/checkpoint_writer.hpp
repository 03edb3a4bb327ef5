#pragma once

#include <tessera/checkpoint/model_config.hpp>

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace tessera::llm::test {

/// The bytes of a safetensors file: length, header, data.
std::string safetensors_bytes(const std::string& header, const std::string& data);

/// As parse_safetensors takes it.
std::vector<std::byte> to_bytes(const std::string& text);

void write_text(const std::filesystem::path& path, const std::string& text);

/// A config.json of one layer: hidden 8, intermediate 12, 2 heads of 4, 1 KV head, vocabulary 16.
std::string small_config();

struct NamedTensor {
    std::string name;
    std::vector<std::int64_t> shape;
};

/// What small_config() calls for, untied.
std::vector<NamedTensor> small_tensors();

/// A safetensors file of fp32 tensors filled with `value`.
std::string safetensors_of(const std::vector<NamedTensor>& tensors, float value = 0.5F);

} // namespace tessera::llm::test
