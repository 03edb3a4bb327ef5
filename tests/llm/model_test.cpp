#include <tessera/checkpoint/checkpoint.hpp>
#include <tessera/llama/llama.hpp>
#include <tessera/llama/rope.hpp>
#include <tessera/tokenizer/tokenizer.hpp>

#include <doctest/doctest.h>

#include <ATen/ops/empty.h>
#include <c10/core/InferenceMode.h>
#include <filesystem>
#include <fstream>
#include <sstream>

using namespace tessera::llm;

namespace {

const std::filesystem::path data = std::filesystem::path(TESSERA_SOURCE_DIR) / "experiments" / "data";

using Ids = std::vector<std::int32_t>;

at::Tensor row_of(const Ids& ids) {
    const at::Tensor row =
        at::empty({1, static_cast<std::int64_t>(ids.size())}, at::TensorOptions(at::kLong));
    std::copy(ids.begin(), ids.end(), row.data_ptr<std::int64_t>());
    return row;
}

/// The shipped model in fp32, and what it computes.
struct Stories {
    Checkpoint checkpoint{(data / "stories260K-hf").string()};
    Tokenizer tokenizer{(data / "stories260K-hf" / "tokenizer.model").string()};
    Llama model{checkpoint.config(), load_weights(checkpoint, {parse_precision("fp32"), 128, at::kCPU}), 512};

    Ids with_bos(const std::string& text) const {
        Ids ids = tokenizer.encode(text);
        ids.insert(ids.begin(), tokenizer.bos_id());
        return ids;
    }

    /// Logits after the last token.
    at::Tensor last_logits(const Ids& ids, KvCache* cache = nullptr) const {
        const at::Tensor hidden = model.hidden_states(row_of(ids), cache);
        return model.logits(hidden.select(1, hidden.size(1) - 1)).squeeze(0);
    }

    std::int32_t best(const Ids& ids, KvCache* cache = nullptr) const {
        return static_cast<std::int32_t>(last_logits(ids, cache).argmax().item<std::int64_t>());
    }
};

} // namespace

TEST_CASE("the next token's logits are those of another implementation") {
    const c10::InferenceMode no_gradients;
    const Stories stories;
    const at::Tensor logits =
        stories.last_logits(stories.with_bos("Once upon a time, there was a little girl named Lily."));
    for (const auto& [id, value] :
         {std::pair{338, 17.4565}, {385, 14.7381}, {317, 13.8856}, {342, 11.785}, {405, 11.295}}) {
        CHECK(logits[id].item<double>() == doctest::Approx(value).epsilon(1e-4));
    }
}

TEST_CASE("greedy generation tells the story of another implementation, with and without the cache") {
    const c10::InferenceMode no_gradients;
    const Stories stories;
    const Ids expected{1,   403, 407, 261, 378, 432, 383, 286, 261, 376, 298, 315, 421, 395, 317, 426, 338,
                       401, 396, 267, 337, 410, 408, 419, 292, 411, 322, 265, 282, 295, 433, 426, 385, 328,
                       432, 358, 394, 261, 370, 432, 352, 266, 268, 388, 426, 338, 391, 266, 267, 337, 335,
                       312, 432, 398, 312, 286, 267, 414, 270, 333, 415, 426, 13,  438, 310};
    Ids whole{1};
    while (whole.size() < expected.size())
        whole.push_back(stories.best(whole));
    CHECK(whole == expected);

    KvCache cache = stories.model.make_cache(1, 128);
    Ids cached(expected.begin(), expected.begin() + 5);
    cached.push_back(stories.best(cached, &cache));
    while (cached.size() < expected.size())
        cached.push_back(stories.best({cached.back()}, &cache));
    CHECK(cached == expected);
    CHECK(cache.length == static_cast<std::int64_t>(expected.size()) - 1);
}

TEST_CASE("log-likelihoods of in-domain stories are those of another implementation") {
    const c10::InferenceMode no_gradients;
    const Stories stories;
    std::ifstream file(data / "tinystories_sample.txt", std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const std::string separator = "<|endoftext|>";
    std::vector<double> found;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find(separator, begin), text.size());
        std::string story = text.substr(begin, end - begin);
        story.erase(0, story.find_first_not_of(" \n"));
        story.erase(story.find_last_not_of(" \n") + 1);
        if (!story.empty())
            found.push_back(window_nll(stories.model, row_of(stories.with_bos(story))).front());
        begin = end + separator.size();
    }
    const std::vector<double> expected{490.86396430143276, 407.48478066861094, 211.39598646808037,
                                       633.2228005532305, 541.6919564664323};
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i)
        CHECK(found[i] == doctest::Approx(expected[i]).epsilon(1e-5));
}

TEST_CASE("rows of a batch do not see one another") {
    const c10::InferenceMode no_gradients;
    const Stories stories;
    const at::Tensor two = at::empty({2, 200}, at::TensorOptions(at::kLong));
    for (std::int64_t i = 0; i < two.numel(); ++i)
        two.data_ptr<std::int64_t>()[i] = (i * 37 + i / 200) % 512;
    const auto together = window_nll(stories.model, two);
    for (std::int64_t row = 0; row < 2; ++row) {
        const double alone = window_nll(stories.model, two.narrow(0, row, 1)).front();
        CHECK(together[static_cast<std::size_t>(row)] == doctest::Approx(alone).epsilon(1e-6));
    }
}

TEST_CASE("rotary frequencies follow the configuration's scaling") {
    ModelConfig config;
    config.head_dim = 64;
    config.rope_theta = 500000.0;
    const auto plain = rope_frequencies(config);
    REQUIRE(plain.size() == 32);
    CHECK(plain[0] == 1.0F);
    CHECK(plain[16] == doctest::Approx(1.0 / std::sqrt(500000.0)));

    config.rope_scaling = RopeScaling{RopeScaling::Kind::linear, 4.0, 1.0, 4.0, 8192.0};
    CHECK(rope_frequencies(config)[16] == doctest::Approx(plain[16] / 4.0F));

    config.rope_scaling = RopeScaling{RopeScaling::Kind::llama3, 8.0, 1.0, 4.0, 8192.0};
    const auto llama3 = rope_frequencies(config);
    CHECK(llama3[0] == plain[0]);
    CHECK(llama3[31] == doctest::Approx(plain[31] / 8.0F));
    // A wavelength of 2 pi 500000^(36/64) = 10,091 is above 8192, one of 2 pi 500000^(34/64) = 6,696 in
    // between.
    CHECK(llama3[18] == doctest::Approx(plain[18] / 8.0F));
    const double smooth = (8192.0 / (2.0 * 3.14159265358979 / static_cast<double>(plain[17])) - 1.0) / 3.0;
    CHECK(llama3[17] == doctest::Approx(static_cast<double>(plain[17]) * ((1.0 - smooth) / 8.0 + smooth)));
}
