#include <tessera/base/error.hpp>
#include <tessera/tokenizer/sentencepiece_model.hpp>

#include <bit>
#include <functional>
#include <utility>

namespace tessera::llm {
namespace {

/// One field of a protobuf message; which member holds its value follows from the wire type.
struct Field {
    std::uint64_t number = 0;
    std::uint64_t integer = 0;
    std::string_view bytes;
    std::uint64_t offset = 0;
};

/// Walks the fields of a protobuf message within bounds. https://protobuf.dev/programming-guides/encoding
class Reader {
public:
    Reader(std::string_view message, std::uint64_t offset, const std::string& path)
        : message_(message)
        , offset_(offset)
        , path_(path) {}

    void for_each(const std::function<void(const Field&)>& visit) {
        while (position_ < message_.size())
            visit(next());
    }

private:
    enum WireType : std::uint64_t { varint = 0, fixed64 = 1, length_delimited = 2, fixed32 = 5 };

    Field next() {
        constexpr int type_bits = 3;
        Field field;
        const std::uint64_t key = read_varint();
        field.number = key >> type_bits;
        switch (key & ((1U << type_bits) - 1U)) {
        case varint:
            field.integer = read_varint();
            break;
        case fixed64:
            field.integer = read_fixed(8);
            break;
        case fixed32:
            field.integer = read_fixed(4);
            break;
        case length_delimited: {
            const std::uint64_t length = read_varint();
            field.offset = offset_ + position_;
            field.bytes = take(length);
            break;
        }
        default:
            fail("a field of an unknown wire type");
        }
        return field;
    }

    std::uint64_t read_varint() {
        std::uint64_t value = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            const auto byte = static_cast<std::uint8_t>(take(1).front());
            value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
            if ((byte & 0x80U) == 0) return value;
        }
        fail("a number of more than 64 bits");
    }

    std::uint64_t read_fixed(std::size_t size) {
        std::uint64_t value = 0;
        const std::string_view bytes = take(size);
        for (std::size_t i = size; i-- > 0;)
            value = value << 8 | static_cast<std::uint8_t>(bytes[i]);
        return value;
    }

    std::string_view take(std::uint64_t length) {
        if (length > message_.size() - position_) fail("the file ends within a field");
        const std::string_view bytes = message_.substr(position_, length);
        position_ += length;
        return bytes;
    }

    [[noreturn]] void fail(const std::string& problem) const {
        throw FormatError(path_, offset_ + position_,
                          "not a SentencePiece model: " + problem + "; download tokenizer.model again");
    }

    std::string_view message_;
    std::uint64_t offset_;
    const std::string& path_;
    std::size_t position_ = 0;
};

SentencePieceModel::Piece read_piece(const Field& message, const std::string& path) {
    SentencePieceModel::Piece piece;
    Reader(message.bytes, message.offset, path).for_each([&](const Field& field) {
        if (field.number == 1) piece.text = field.bytes;
        if (field.number == 2) piece.score = std::bit_cast<float>(static_cast<std::uint32_t>(field.integer));
        if (field.number == 3) piece.type = static_cast<SentencePieceModel::PieceType>(field.integer);
    });
    return piece;
}

void read_trainer(const Field& message, const std::string& path, SentencePieceModel& model) {
    Reader(message.bytes, message.offset, path).for_each([&](const Field& field) {
        const auto integer = static_cast<std::int64_t>(field.integer);
        if (field.number == 3) model.model_type = integer;
        if (field.number == 24) model.whitespace_as_suffix = integer != 0;
        if (field.number == 35) model.byte_fallback = integer != 0;
        if (field.number == 40) model.unknown_id = integer;
        if (field.number == 41) model.bos_id = integer;
    });
}

void read_normalizer(const Field& message, const std::string& path, SentencePieceModel& model) {
    Reader(message.bytes, message.offset, path).for_each([&](const Field& field) {
        if (field.number == 2) model.character_map = field.bytes;
        if (field.number == 3) model.add_dummy_prefix = field.integer != 0;
        if (field.number == 4) model.remove_extra_whitespaces = field.integer != 0;
        if (field.number == 5) model.escape_whitespaces = field.integer != 0;
    });
}

} // namespace

SentencePieceModel parse_sentencepiece_model(std::string_view bytes, const std::string& path) {
    SentencePieceModel model;
    Reader(bytes, 0, path).for_each([&](const Field& field) {
        if (field.number == 1) model.pieces.push_back(read_piece(field, path));
        if (field.number == 2) read_trainer(field, path, model);
        if (field.number == 3) read_normalizer(field, path, model);
    });
    return model;
}

} // namespace tessera::llm
