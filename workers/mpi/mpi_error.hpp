#pragma once

#include <tessera/base/error.hpp>

#include <string>

namespace tessera {

/// A failed call of MPI. `code` is its return value.
class MpiError : public Error {
public:
    MpiError(std::string call, int code);

    std::string call;
    int code;
};

} // namespace tessera
