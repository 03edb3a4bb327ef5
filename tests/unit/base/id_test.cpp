#include <tessera/base/id.hpp>
#include <tessera/base/sha256.hpp>

#include <doctest/doctest.h>

using namespace tessera;

TEST_CASE("an id is written as 32 hexadecimal digits and read back") {
    const Id128 id = Id128::random();
    CHECK(id.hex().size() == 32);
    CHECK(Id128::parse(id.hex()) == id);
    CHECK(id.short_hex(8) == id.hex().substr(0, 8));
    CHECK(Id128::random() != id);
    for (const char* bad :
         {"", "12", "g0000000000000000000000000000000", "000000000000000000000000000000000"})
        CHECK_FALSE(Id128::parse(bad).has_value());
}

TEST_CASE("SHA-256 gives the digests of FIPS 180-4's examples") {
    CHECK(sha256_hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK(sha256_hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    Sha256 hash;
    hash.update("a").update("bc");
    CHECK(hash.finish_id().hex() == "ba7816bf8f01cfea414140de5dae2223");
    CHECK(hash.update("abc").finish_id().hex() == "ba7816bf8f01cfea414140de5dae2223");
}
