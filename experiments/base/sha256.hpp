#pragma once

#include <tessera/base/id.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace tessera {

/// Incremental SHA-256 (FIPS 180-4). After finish() or finish_id() it is ready for the next message.
class Sha256 {
public:
    using Digest = std::array<std::uint8_t, 32>;

    Sha256();
    ~Sha256();
    Sha256(Sha256&&) noexcept;
    Sha256& operator=(Sha256&&) noexcept;
    Sha256(const Sha256&) = delete;
    Sha256& operator=(const Sha256&) = delete;

    Sha256& update(std::string_view bytes);

    Digest finish();

    /// The first 128 bits of the digest.
    Id128 finish_id();

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Lower-case hexadecimal SHA-256 of `bytes`.
std::string sha256_hex(std::string_view bytes);

} // namespace tessera
