#pragma once

#include <tessera/protocol/assign_codec.hpp>
#include <tessera/protocol/messages.hpp>

#include <string>
#include <string_view>

namespace tessera {

/// A message as bytes that can be read without any that went before.
std::string encode_message(const Message& message);

/// `source` names the sender in errors. Throws FormatError, and nothing else, for bytes that are not a
/// message; unknown fields are skipped.
Message decode_message(std::string_view bytes, std::string_view source);

/// What one peer sends to one other: as encode_message(), but remembers which step texts the other has
/// already.
class MessageEncoder {
public:
    std::string encode(const Message& message);

private:
    AssignEncoder assign_;
};

/// The receiving end of one MessageEncoder; it must see all its messages in order. Throws as
/// decode_message(); after that the peer cannot be understood any more.
class MessageDecoder {
public:
    Message decode(std::string_view bytes, std::string_view source);

private:
    AssignDecoder assign_;
};

} // namespace tessera
