#include "checkpoint_writer.hpp"

#include <tessera/base/fd.hpp>
#include <tessera/checkpoint/checkpoint.hpp>

#include <nlohmann/json.hpp>

#include <cstring>

namespace tessera::llm::test {

std::string safetensors_bytes(const std::string& header, const std::string& data) {
    std::string bytes;
    for (std::size_t i = 0; i < 8; ++i)
        bytes += static_cast<char>(header.size() >> (8 * i) & 0xFFU);
    return bytes + header + data;
}

std::vector<std::byte> to_bytes(const std::string& text) {
    const auto* first = reinterpret_cast<const std::byte*>(text.data());
    return {first, first + text.size()};
}

void write_text(const std::filesystem::path& path, const std::string& text) {
    write_file_atomically(path.string(), text);
}

std::string small_config() {
    return R"({"model_type": "llama", "hidden_size": 8, "intermediate_size": 12, "num_hidden_layers": 1,
               "num_attention_heads": 2, "num_key_value_heads": 1, "vocab_size": 16, "max_position_embeddings": 32})";
}

std::vector<NamedTensor> small_tensors() {
    std::vector<NamedTensor> tensors;
    for (const auto& [name, shape] : expected_tensors(parse_model_config(small_config(), "config.json"))) {
        tensors.push_back({name, shape});
    }
    return tensors;
}

std::string safetensors_of(const std::vector<NamedTensor>& tensors, float value) {
    nlohmann::json header = nlohmann::json::object();
    std::string data;
    for (const NamedTensor& tensor : tensors) {
        std::size_t elements = 1;
        for (const std::int64_t extent : tensor.shape)
            elements *= static_cast<std::size_t>(extent);
        const std::size_t begin = data.size();
        data.resize(begin + elements * sizeof(float));
        for (std::size_t i = 0; i < elements; ++i)
            std::memcpy(&data[begin + i * sizeof(float)], &value, sizeof(float));
        header[tensor.name] = {
            {"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {begin, data.size()}}};
    }
    return safetensors_bytes(header.dump(), data);
}

} // namespace tessera::llm::test
