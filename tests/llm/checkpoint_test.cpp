#include "checkpoint_writer.hpp"
#include "temporary_folder.hpp"

#include <tessera/checkpoint/checkpoint.hpp>
#include <tessera/checkpoint/checkpoint_error.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstring>
#include <limits>

namespace {

using namespace tessera::llm;
using test::NamedTensor;
using test::TemporaryFolder;
using test::write_text;

void write_single(const TemporaryFolder& folder, const std::string& weights) {
    write_text(folder.path() / "config.json", test::small_config());
    write_text(folder.path() / "model.safetensors", weights);
}

std::string problem_of(const TemporaryFolder& folder) {
    try {
        const Checkpoint checkpoint(folder.path().string());
        for (const auto& [name, shape] : expected_tensors(checkpoint.config()))
            checkpoint.tensor(name);
    } catch (const CheckpointError& error) {
        CHECK_FALSE(error.remedy.empty());
        return error.problem;
    }
    return "accepted";
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

/// All small tensors split over two shards with their index.
nlohmann::json write_shards(const TemporaryFolder& folder) {
    const auto all = test::small_tensors();
    const auto half = static_cast<std::ptrdiff_t>(all.size() / 2);
    write_text(folder.path() / "config.json", test::small_config());
    write_text(folder.path() / "one.safetensors",
               test::safetensors_of({all.begin(), all.begin() + half}, 1.0F));
    write_text(folder.path() / "two.safetensors",
               test::safetensors_of({all.begin() + half, all.end()}, 2.0F));
    nlohmann::json map;
    for (std::size_t i = 0; i < all.size(); ++i) {
        map[all[i].name] = static_cast<std::ptrdiff_t>(i) < half ? "one.safetensors" : "two.safetensors";
    }
    return {{"metadata", {{"total_size", 1}}}, {"weight_map", map}};
}

void write_index(const TemporaryFolder& folder, const nlohmann::json& index) {
    write_text(folder.path() / "model.safetensors.index.json", index.dump());
}

} // namespace

TEST_CASE("a whole checkpoint is accepted and its values read") {
    const TemporaryFolder folder;
    write_single(folder, test::safetensors_of(test::small_tensors(), 0.25F));
    CHECK(problem_of(folder) == "accepted");
    const Checkpoint checkpoint(folder.path().string());
    const TensorView view = checkpoint.tensor("model.norm.weight");
    std::vector<float> values(static_cast<std::size_t>(view.elements()));
    read_as_float(view, values);
    CHECK(values == std::vector<float>(8, 0.25F));
}

TEST_CASE("missing, misshapen and unknown tensors are refused") {
    const TemporaryFolder folder;
    auto tensors = test::small_tensors();
    tensors.pop_back();
    write_single(folder, test::safetensors_of(tensors));
    CHECK(contains(problem_of(folder), "is missing"));

    tensors = test::small_tensors();
    std::swap(tensors.front().shape.front(), tensors.front().shape.back());
    write_single(folder, test::safetensors_of(tensors));
    CHECK(contains(problem_of(folder), "where config.json calls for"));

    tensors = test::small_tensors();
    tensors.push_back({"model.layers.1.mlp.up_proj.weight", {12, 8}});
    write_single(folder, test::safetensors_of(tensors));
    CHECK(contains(problem_of(folder), "has no place"));

    tensors.back().name = "model.layers.0.self_attn.rotary_emb.inv_freq";
    write_single(folder, test::safetensors_of(tensors));
    CHECK(problem_of(folder) == "accepted");
}

TEST_CASE("values that are not finite are refused") {
    for (const float bad :
         {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
        const TemporaryFolder folder;
        std::string weights = test::safetensors_of(test::small_tensors());
        std::memcpy(&weights[weights.size() - sizeof(bad)], &bad, sizeof(bad));
        write_single(folder, weights);
        CHECK(contains(problem_of(folder), "NaN or infinite"));
    }
}

TEST_CASE("truncated files and absent parts are refused") {
    const TemporaryFolder folder;
    const std::string weights = test::safetensors_of(test::small_tensors());
    for (const std::size_t kept : {std::size_t{0}, std::size_t{5}, std::size_t{100}, weights.size() - 1}) {
        write_single(folder, weights.substr(0, kept));
        CHECK(problem_of(folder) != "accepted");
    }
    std::filesystem::remove(folder.path() / "model.safetensors");
    CHECK(contains(problem_of(folder), "neither"));
    std::filesystem::create_directory(folder.path() / "model.safetensors");
    CHECK_THROWS(Checkpoint(folder.path().string()));
    std::filesystem::remove(folder.path() / "config.json");
    CHECK(problem_of(folder) == "not found");
    CHECK_THROWS_AS(Checkpoint((folder.path() / "absent").string()), CheckpointError);
}

TEST_CASE("shards are found through their index") {
    const TemporaryFolder folder;
    write_index(folder, write_shards(folder));
    CHECK(problem_of(folder) == "accepted");
}

TEST_CASE("an index that lies or leaves the folder is refused") {
    const TemporaryFolder folder;
    const nlohmann::json good = write_shards(folder);
    const std::string first = test::small_tensors().front().name;
    const auto with_file = [&](const nlohmann::json& file) {
        nlohmann::json index = good;
        index["weight_map"][first] = file;
        write_index(folder, index);
        return problem_of(folder);
    };
    for (const char* escape : {"../one.safetensors", "/etc/passwd", "sub/one.safetensors", "..", ""}) {
        CAPTURE(escape);
        CHECK(contains(with_file(escape), "not a file name in this folder"));
    }
    CHECK(contains(with_file(7), "not a file name in this folder"));
    CHECK(with_file("three.safetensors") == "not found");
    CHECK(contains(with_file("two.safetensors"), "that the index places there"));
    write_index(folder, {{"weight_map", nlohmann::json::object()}});
    CHECK(contains(problem_of(folder), "weight_map is missing"));
    write_text(folder.path() / "two.safetensors", test::safetensors_of(test::small_tensors()));
    write_index(folder, good);
    CHECK(contains(problem_of(folder), "is also in"));
}

TEST_CASE("half precision is widened exactly") {
    const auto widen = [](Dtype dtype, std::uint16_t bits) {
        float value = 0.0F;
        const TensorView view{dtype, {1}, std::as_bytes(std::span(&bits, 1))};
        read_as_float(view, std::span(&value, 1));
        return value;
    };
    CHECK(widen(Dtype::bf16, 0x3F80) == 1.0F);
    CHECK(widen(Dtype::bf16, 0xC049) == -3.140625F);
    CHECK(widen(Dtype::f16, 0x3C00) == 1.0F);
    CHECK(widen(Dtype::f16, 0xFBFF) == -65504.0F);
    CHECK(widen(Dtype::f16, 0x0001) == std::ldexp(1.0F, -24));
    CHECK(widen(Dtype::f16, 0x83FF) == -1023.0F * std::ldexp(1.0F, -24));
    CHECK(widen(Dtype::f16, 0x0400) == std::ldexp(1.0F, -14));
    CHECK(std::signbit(widen(Dtype::f16, 0x8000)));
}

TEST_CASE("the content hash follows the content") {
    const TemporaryFolder folder;
    write_single(folder, test::safetensors_of(test::small_tensors(), 0.5F));
    const std::string before = Checkpoint(folder.path().string()).content_sha256();
    CHECK(before == Checkpoint(folder.path().string()).content_sha256());
    write_single(folder, test::safetensors_of(test::small_tensors(), 0.75F));
    CHECK(before != Checkpoint(folder.path().string()).content_sha256());
    // `sha256sum config.json model.safetensors | sha256sum` in the folder of the shipped checkpoint.
    CHECK(Checkpoint((test::data_folder() / "stories260K-hf").string()).content_sha256() ==
          "7725f8b66e5280690bf589c8223b77a64213235cd8c50d3a9aabb9947bf53ba0");
}
