#pragma once

#include <tessera/base/error.hpp>

#include <hdf5.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace tessera {

/// A failed call of the HDF5 library. what() holds the operation, the object's path and the library's error
/// stack.
class Hdf5Error : public Error {
public:
    Hdf5Error(std::string operation, std::string object, const std::string& stack);

    std::string operation;
    std::string object; ///< path of the file or of the object within it
};

/// Keeps HDF5 from printing its error stack while it lives, so that errors are reported once, by us.
class Hdf5Quiet {
public:
    Hdf5Quiet();
    ~Hdf5Quiet();
    Hdf5Quiet(const Hdf5Quiet&) = delete;
    Hdf5Quiet& operator=(const Hdf5Quiet&) = delete;

private:
    H5E_auto2_t function_ = nullptr;
    void* data_ = nullptr;
};

/// Owns an identifier of the HDF5 library and closes it by its kind.
template <herr_t (*close_call)(hid_t)>
class Hdf5Handle {
public:
    Hdf5Handle() = default;

    explicit Hdf5Handle(hid_t id)
        : id_(id) {}

    ~Hdf5Handle() { reset(); }

    Hdf5Handle(Hdf5Handle&& other) noexcept
        : id_(std::exchange(other.id_, H5I_INVALID_HID)) {}

    Hdf5Handle& operator=(Hdf5Handle&& other) noexcept {
        if (this != &other) {
            reset();
            id_ = std::exchange(other.id_, H5I_INVALID_HID);
        }
        return *this;
    }

    Hdf5Handle(const Hdf5Handle&) = delete;
    Hdf5Handle& operator=(const Hdf5Handle&) = delete;

    hid_t get() const { return id_; }

    hid_t release() { return std::exchange(id_, H5I_INVALID_HID); }

    void reset() {
        if (id_ >= 0) close_call(id_);
        id_ = H5I_INVALID_HID;
    }

private:
    hid_t id_ = H5I_INVALID_HID;
};

using Hdf5File = Hdf5Handle<H5Fclose>;
using Hdf5Group = Hdf5Handle<H5Gclose>;
using Hdf5Dataset = Hdf5Handle<H5Dclose>;
using Hdf5Space = Hdf5Handle<H5Sclose>;
using Hdf5Type = Hdf5Handle<H5Tclose>;
using Hdf5Attribute = Hdf5Handle<H5Aclose>;
using Hdf5Properties = Hdf5Handle<H5Pclose>;

/// Throws Hdf5Error with the library's error stack if `result` (of a call that reports failure by a negative
/// number) is negative; else gives it back.
template <typename Result>
Result hdf5_check(Result result, const char* operation, std::string_view object);

extern template hid_t hdf5_check(hid_t, const char*, std::string_view);
extern template herr_t hdf5_check(herr_t, const char*, std::string_view);

/// Bytes at the front of the files that we create which HDF5 leaves alone (file_seal.hpp).
inline constexpr std::size_t user_block_bytes = 512;

/// Creates a new file without HDF5's own locks, which fail on several network filesystems. Throws Hdf5Error.
Hdf5File create_hdf5_file(const std::string& path);

/// Opens an existing file for reading, without HDF5's own locks. Throws Hdf5Error.
Hdf5File open_hdf5_file(const std::string& path);

/// Closes a written file; unlike the destructor it reports what could not be written. Throws Hdf5Error.
void close_hdf5_file(Hdf5File file, const std::string& path);

} // namespace tessera
