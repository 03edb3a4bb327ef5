#include <tessera/base/fd.hpp>
#include <tessera/base/sha256.hpp>
#include <tessera/checkpoint/checkpoint.hpp>
#include <tessera/checkpoint/checkpoint_error.hpp>
#include <tessera/checkpoint/json.hpp>
#include <tessera/checkpoint/values.hpp>

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <numeric>
#include <utility>

namespace tessera::llm {
namespace {

const char* const index_name = "model.safetensors.index.json";
const char* const single_name = "model.safetensors";
const char* const refetch = "download the checkpoint again";

std::string in_folder(const std::string& folder, const std::string& name) {
    return (std::filesystem::path(folder) / name).string();
}

bool exists(const std::string& path) {
    std::error_code ignored;
    return std::filesystem::exists(path, ignored);
}

std::string read_config_text(const std::string& folder) {
    std::error_code ignored;
    if (!std::filesystem::is_directory(folder, ignored)) {
        throw CheckpointError(folder, "not a folder",
                              "name the folder that holds config.json and the weights");
    }
    const std::string path = in_folder(folder, "config.json");
    if (!exists(path)) throw CheckpointError(path, "not found", "name a Hugging Face checkpoint folder");
    return read_file(path);
}

bool is_plain_file_name(const std::string& name) {
    return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos &&
           name.find('\0') == std::string::npos;
}

/// Tensors that older exports carry and that the architecture computes itself.
bool is_ignorable(const std::string& name, const ModelConfig& config) {
    return name.ends_with(".rotary_emb.inv_freq") || (config.tied_embeddings && name == "lm_head.weight");
}

bool is_weight_dtype(Dtype dtype) {
    return dtype == Dtype::f32 || dtype == Dtype::f16 || dtype == Dtype::bf16;
}

std::map<std::string, std::string> read_weight_map(const std::string& index_path) {
    const nlohmann::json root = parse_json_object(read_file(index_path), index_path, refetch);
    const auto found = root.find("weight_map");
    if (found == root.end() || !found->is_object() || found->empty()) {
        throw CheckpointError(index_path, "weight_map is missing", refetch);
    }
    std::map<std::string, std::string> files_by_tensor;
    for (const auto& [tensor, file] : found->items()) {
        if (!file.is_string() || !is_plain_file_name(file.get_ref<const std::string&>())) {
            throw CheckpointError(
                index_path,
                fmt::format("the file of tensor '{}', {}, is not a file name in this folder", tensor,
                            json_excerpt(file)),
                refetch);
        }
        files_by_tensor[tensor] = file.get<std::string>();
    }
    return files_by_tensor;
}

} // namespace

std::int64_t TensorView::elements() const {
    return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

std::string layer_prefix(std::int64_t layer) {
    return fmt::format("model.layers.{}.", layer);
}

std::map<std::string, std::vector<std::int64_t>> expected_tensors(const ModelConfig& config) {
    std::map<std::string, std::vector<std::int64_t>> shapes;
    shapes["model.embed_tokens.weight"] = {config.vocab_size, config.hidden_size};
    shapes["model.norm.weight"] = {config.hidden_size};
    if (!config.tied_embeddings) shapes["lm_head.weight"] = {config.vocab_size, config.hidden_size};
    for (std::int64_t layer = 0; layer < config.layers; ++layer) {
        const std::string prefix = layer_prefix(layer);
        shapes[prefix + "input_layernorm.weight"] = {config.hidden_size};
        shapes[prefix + "post_attention_layernorm.weight"] = {config.hidden_size};
        shapes[prefix + "self_attn.q_proj.weight"] = {config.query_size(), config.hidden_size};
        shapes[prefix + "self_attn.k_proj.weight"] = {config.kv_size(), config.hidden_size};
        shapes[prefix + "self_attn.v_proj.weight"] = {config.kv_size(), config.hidden_size};
        shapes[prefix + "self_attn.o_proj.weight"] = {config.hidden_size, config.query_size()};
        shapes[prefix + "mlp.gate_proj.weight"] = {config.intermediate_size, config.hidden_size};
        shapes[prefix + "mlp.up_proj.weight"] = {config.intermediate_size, config.hidden_size};
        shapes[prefix + "mlp.down_proj.weight"] = {config.hidden_size, config.intermediate_size};
    }
    return shapes;
}

Checkpoint::Checkpoint(const std::string& folder)
    : folder_(folder)
    , config_(parse_model_config(read_config_text(folder), in_folder(folder, "config.json")))
    , text_files_{"config.json"} {
    const std::string single = in_folder(folder, single_name);
    const std::string index = in_folder(folder, index_name);
    if (exists(single)) {
        open_shard(single_name);
    } else if (exists(index)) {
        open_indexed(index);
    } else {
        throw CheckpointError(folder, fmt::format("neither {} nor {} is there", single_name, index_name),
                              "convert the weights to safetensors or download them again");
    }
    check_tensors();
}

std::size_t Checkpoint::open_shard(const std::string& name) {
    const std::string path = in_folder(folder_, name);
    if (!exists(path)) throw CheckpointError(path, "not found", refetch);
    const std::size_t file = files_.size();
    files_.push_back({name, MappedFile(path)});
    for (TensorEntry& entry : parse_safetensors(files_.back().mapped.bytes(), path)) {
        const std::string tensor = entry.name;
        const auto [place, is_new] = tensors_.try_emplace(tensor, Location{file, std::move(entry)});
        if (!is_new) {
            throw CheckpointError(
                path, fmt::format("tensor '{}' is also in {}", tensor, files_[place->second.file].name),
                refetch);
        }
    }
    return file;
}

void Checkpoint::open_indexed(const std::string& index_path) {
    text_files_.emplace_back(index_name);
    const auto files_by_tensor = read_weight_map(index_path);
    std::map<std::string, std::size_t> opened;
    for (const auto& [tensor, name] : files_by_tensor) {
        if (!opened.contains(name)) opened[name] = open_shard(name);
    }
    for (const auto& [tensor, name] : files_by_tensor) {
        const auto found = tensors_.find(tensor);
        if (found == tensors_.end() || found->second.file != opened[name]) {
            throw CheckpointError(in_folder(folder_, name),
                                  fmt::format("lacks tensor '{}' that the index places there", tensor),
                                  refetch);
        }
    }
}

void Checkpoint::check_tensors() const {
    const auto expected = expected_tensors(config_);
    for (const auto& [name, shape] : expected) {
        const auto found = tensors_.find(name);
        if (found == tensors_.end()) {
            throw CheckpointError(folder_, fmt::format("tensor '{}' is missing", name), refetch);
        }
        const TensorEntry& entry = found->second.entry;
        const std::string path = in_folder(folder_, files_[found->second.file].name);
        if (entry.shape != shape) {
            throw CheckpointError(
                path,
                fmt::format("tensor '{}' has the shape [{}] where config.json calls for [{}]", name,
                            fmt::join(entry.shape, ", "), fmt::join(shape, ", ")),
                "use the config.json that belongs to these weights");
        }
        if (!is_weight_dtype(entry.dtype)) {
            throw CheckpointError(path,
                                  fmt::format("tensor '{}' has the dtype {}", name, dtype_name(entry.dtype)),
                                  "use weights in F32, F16 or BF16");
        }
    }
    for (const auto& [name, location] : tensors_) {
        if (!expected.contains(name) && !is_ignorable(name, config_)) {
            throw CheckpointError(in_folder(folder_, files_[location.file].name),
                                  fmt::format("tensor '{}' has no place in the model of config.json", name),
                                  "use the config.json that belongs to these weights");
        }
    }
}

TensorView Checkpoint::tensor(const std::string& name) const {
    const Location& location = tensors_.at(name);
    const File& file = files_[location.file];
    const TensorEntry& entry = location.entry;
    TensorView view{entry.dtype, entry.shape, file.mapped.bytes().subspan(entry.begin, entry.size_bytes)};
    if (!all_finite(view)) {
        throw CheckpointError(in_folder(folder_, file.name),
                              fmt::format("tensor '{}' holds NaN or infinite values", name),
                              "the weights are damaged: download them again");
    }
    return view;
}

std::string Checkpoint::content_sha256() const {
    std::map<std::string, std::string> digests;
    for (const std::string& name : text_files_)
        digests[name] = sha256_hex(read_file(in_folder(folder_, name)));
    for (const File& file : files_) {
        const auto bytes = file.mapped.bytes();
        digests[file.name] = sha256_hex({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    }
    std::string lines;
    for (const auto& [name, digest] : digests)
        lines += fmt::format("{}  {}\n", digest, name);
    return sha256_hex(lines);
}

} // namespace tessera::llm
