#include "checkpoint_writer.hpp"
#include "temporary_folder.hpp"

#include <tessera/base/error.hpp>
#include <tessera/base/fd.hpp>
#include <tessera/checkpoint/checkpoint_error.hpp>
#include <tessera/tokenizer/tokenizer.hpp>

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <cstring>

namespace {

using namespace tessera::llm;
using Ids = std::vector<std::int32_t>;

std::string shipped() {
    return (test::data_folder() / "stories260K-hf" / "tokenizer.model").string();
}

std::string field(char key, const std::string& bytes) {
    return std::string{key, static_cast<char>(bytes.size())} + bytes;
}

std::string piece(const std::string& text, float score, char type) {
    std::string score_bytes(sizeof(score), '\0');
    std::memcpy(score_bytes.data(), &score, sizeof(score));
    return field(0x0A, field(0x0A, text) + '\x15' + score_bytes + '\x18' + type);
}

constexpr char normal = 1;
constexpr char unknown = 2;
constexpr char control = 3;
constexpr char byte = 6;

/// A BPE model (model_type 2) with byte fallback (field 35) and spaces kept (normalizer field 4).
std::string small_model(const std::string& pieces) {
    const std::string start =
        piece("<unk>", 0, unknown) + piece("<s>", 0, control) + piece("</s>", 0, control);
    return start + pieces + field(0x12, std::string("\x18\x02\x98\x02\x01", 5)) +
           field(0x1A, std::string("\x20\x00", 2));
}

std::string byte_pieces() {
    std::string pieces;
    for (int value = 0; value < 256; ++value)
        pieces += piece(fmt::format("<0x{:02X}>", value), 0, byte);
    return pieces;
}

constexpr std::int32_t first_byte_id = 3;
constexpr std::int32_t first_piece_id = first_byte_id + 256;

std::int32_t byte_id(unsigned value) {
    return first_byte_id + static_cast<std::int32_t>(value);
}

} // namespace

TEST_CASE("the shipped tokenizer gives SentencePiece's own ids") {
    const Tokenizer tokenizer(shipped());
    CHECK(tokenizer.bos_id() == 1);
    CHECK(tokenizer.size() == 512);
    CHECK(tokenizer.sha256() == "fec6aa960a1fb3ebf71d26f9b0e486afcbd76c34cf0fbfb93e21126ca9f778d3");
    CHECK(tokenizer.encode("Once upon a time, there was a little girl named Lily.") ==
          Ids{403, 407, 261, 378, 432, 383, 286, 261, 376, 298, 315, 421, 395, 317, 426});
    CHECK(tokenizer.encode("  two  spaces ") == Ids{259, 424, 414, 262, 427, 412, 331, 419});
    CHECK(tokenizer.encode("h\xC3\xA9llo \xF0\x9F\x98\x80") ==
          Ids{270, 485, 306, 414, 410, 243, 162, 155, 131});
    CHECK(tokenizer.encode("\xFFz") == Ids{410, 242, 194, 192, 451});
    CHECK(tokenizer.encode("a\n\nb") == Ids{261, 13, 13, 430});
    CHECK(tokenizer.encode("").empty());
    CHECK(tokenizer.encode(" ").empty());
}

TEST_CASE("the best pair merges first, the leftmost on ties, and spaces are kept where the model says so") {
    const test::TemporaryFolder folder;
    const std::string space = "\xE2\x96\x81";
    // Ids 259 onward: space, a, b, aa, ab, and a merge that no piece leads to.
    test::write_text(folder.file("m"),
                     small_model(byte_pieces() + piece(space, -9, normal) + piece("a", -9, normal) +
                                 piece("b", -9, normal) + piece("aa", -1, normal) + piece("ab", -2, normal)));
    const Tokenizer tokenizer(folder.file("m"));
    const std::int32_t mark = first_piece_id;
    CHECK(tokenizer.encode("ab") == Ids{mark, mark + 4});
    CHECK(tokenizer.encode("aab") == Ids{mark, mark + 3, mark + 2});
    CHECK(tokenizer.encode("aaab") == Ids{mark, mark + 3, mark + 4});
    CHECK(tokenizer.encode(" a ") == Ids{mark, mark, mark + 1, mark});
    CHECK(tokenizer.encode("c") == Ids{mark, byte_id('c')});
    CHECK(tokenizer.encode("\xC3") == Ids{mark, byte_id(0xEF), byte_id(0xBF), byte_id(0xBD)});
    CHECK(tokenizer.encode("<s>") == Ids{mark, byte_id('<'), byte_id('s'), byte_id('>')});
}

TEST_CASE("a megabyte without a break is one word") {
    const Tokenizer tokenizer(shipped());
    const std::string word(1'000'000, 'e');
    const auto ids = tokenizer.encode(word);
    CHECK(ids.size() > 100'000);
    CHECK(ids == tokenizer.encode(word));
}

TEST_CASE("files that are no Llama tokenizer are refused") {
    const test::TemporaryFolder folder;
    CHECK_THROWS_AS(Tokenizer(folder.file("absent")), CheckpointError);
    const auto refused = [&](const std::string& bytes) {
        test::write_text(folder.file("m"), bytes);
        CHECK_THROWS_AS(Tokenizer(folder.file("m")), tessera::Error);
    };
    const std::string good = tessera::read_file(shipped());
    for (std::size_t kept = 0; kept < good.size(); kept += 97)
        refused(good.substr(0, kept));
    refused("{\"model\": {\"type\": \"BPE\"}}");
    refused(std::string(1000, '\xFF'));
    refused(small_model(""));
    refused(small_model(byte_pieces() + piece("a", 0, normal) + piece("a", 0, normal)));
    refused(small_model(byte_pieces() + piece("a", 0, 4)));
}
