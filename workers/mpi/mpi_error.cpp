#include <tessera/mpi/mpi_error.hpp>

#include <fmt/core.h>
#include <mpi.h>

#include <utility>

namespace tessera {

namespace {

std::string text_of(int code) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    if (MPI_Error_string(code, text, &length) != MPI_SUCCESS) return fmt::format("error {}", code);
    return {text, static_cast<std::size_t>(length)};
}

} // namespace

MpiError::MpiError(std::string failed_call, int failed_code)
    : Error(fmt::format("{} failed: {}", failed_call, text_of(failed_code)))
    , call(std::move(failed_call))
    , code(failed_code) {}

} // namespace tessera
