#include <tessera/base/error.hpp>
#include <tessera/base/hex.hpp>
#include <tessera/base/sha256.hpp>

#include <openssl/evp.h>

#include <algorithm>

namespace tessera {

struct Sha256::State {
    struct Free {
        void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
    };

    std::unique_ptr<EVP_MD_CTX, Free> context{EVP_MD_CTX_new()};
};

namespace {

void require(int result) {
    if (result != 1) throw Error("OpenSSL: SHA-256 failed");
}

} // namespace

Sha256::Sha256()
    : state_(std::make_unique<State>()) {
    require(EVP_DigestInit_ex(state_->context.get(), EVP_sha256(), nullptr));
}

Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

Sha256& Sha256::update(std::string_view bytes) {
    require(EVP_DigestUpdate(state_->context.get(), bytes.data(), bytes.size()));
    return *this;
}

Sha256::Digest Sha256::finish() {
    Digest digest;
    unsigned int size = 0;
    require(EVP_DigestFinal_ex(state_->context.get(), digest.data(), &size));
    require(EVP_DigestInit_ex(state_->context.get(), nullptr, nullptr));
    return digest;
}

Id128 Sha256::finish_id() {
    const Digest digest = finish();
    Id128 id;
    std::copy_n(digest.begin(), id.bytes.size(), id.bytes.begin());
    return id;
}

std::string sha256_hex(std::string_view bytes) {
    return to_hex(Sha256().update(bytes).finish());
}

} // namespace tessera
