#include "kill_and_resume.hpp"

#include <doctest/doctest.h>

using namespace tessera::test;

TEST_CASE("twenty kills of all ranks at random moments cost no result") {
    for (const std::uint32_t seed : {11U, 12U, 13U})
        kill_and_resume({"--workers", "2"}, 20, seed);
}

TEST_CASE("with ranks of MPICH too") {
    if (!std::filesystem::exists(TESSERA_BIN_DIR "/tessera-rank-mpich")) return;
    kill_and_resume({"--workers", "2", "--mpi", "mpich"}, 20, 21);
}
