#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace tessera {

/// Base of every exception that Tessera throws on purpose; what() is the message a user sees.
class Error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Bad input or usage: the program prints the message and ends with exit code 2. The message names the place
/// and the remedy.
class UserError : public Error {
public:
    using Error::Error;
};

/// A failed system call on a path. `code` is an errno value.
class IoError : public Error {
public:
    IoError(std::string operation, std::string path, int code);

    std::string operation;
    std::string path;
    int code;
};

/// Bytes from a file or a peer that do not follow their format. `offset` is in bytes from the start of
/// `source`.
class FormatError : public Error {
public:
    FormatError(std::string source, std::uint64_t offset, const std::string& what);

    std::string source;
    std::uint64_t offset;
};

} // namespace tessera
