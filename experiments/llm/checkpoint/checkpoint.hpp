#pragma once

#include <tessera/checkpoint/mapped_file.hpp>
#include <tessera/checkpoint/model_config.hpp>
#include <tessera/checkpoint/safetensors.hpp>

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace tessera::llm {

/// One weight of a checkpoint, still as stored. `data` points into the mapped file and may be unaligned.
struct TensorView {
    Dtype dtype = Dtype::f32;
    std::vector<std::int64_t> shape;
    std::span<const std::byte> data;

    std::int64_t elements() const;
};

/// Copies a tensor of dtype F32, F16 or BF16 to `out`, which has as many elements. Exact.
void read_as_float(const TensorView& tensor, std::span<float> out);

/// A Hugging Face Llama checkpoint folder: config.json and model.safetensors, or shards under
/// model.safetensors.index.json. Weights are mapped, not read, until they are asked for.
class Checkpoint {
public:
    /// Checks that each weight of the architecture is there once with its shape and a usable dtype, and that
    /// there are no others. Throws CheckpointError or IoError.
    explicit Checkpoint(const std::string& folder);

    const ModelConfig& config() const { return config_; }

    const std::string& folder() const { return folder_; }

    /// `name` is one of expected_tensors(). Throws CheckpointError if a value is NaN or infinite.
    TensorView tensor(const std::string& name) const;

    /// SHA-256 over the lines "HEX  NAME\n" of config.json and the weight files (and index), sorted by name:
    /// what `sha256sum config.json model.safetensors | sha256sum` prints.
    std::string content_sha256() const;

private:
    struct Location {
        std::size_t file = 0;
        TensorEntry entry;
    };

    struct File {
        std::string name;
        MappedFile mapped;
    };

    std::size_t open_shard(const std::string& name);
    void open_indexed(const std::string& index_path);
    void check_tensors() const;

    std::string folder_;
    ModelConfig config_;
    std::vector<File> files_;
    std::vector<std::string> text_files_;
    std::map<std::string, Location> tensors_;
};

/// Names and shapes of the weights that `config` calls for, by the names of transformers.
std::map<std::string, std::vector<std::int64_t>> expected_tensors(const ModelConfig& config);

/// "model.layers.N.": the prefix of the weights of decoder layer N.
std::string layer_prefix(std::int64_t layer);

} // namespace tessera::llm
