#pragma once

#include <tessera/base/id.hpp>
#include <tessera/store/hdf5_handle.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

/// A group of a file, and where it is, for errors.
class Hdf5Folder {
public:
    /// The root group. `file` must outlive it.
    Hdf5Folder(const Hdf5File& file, std::string file_path);

    Hdf5Folder create_folder(const std::string& name) const;
    Hdf5Folder open_folder(const std::string& name) const;
    bool has(const std::string& name) const;

    /// Names of the groups and datasets in it, in the order of their creation.
    std::vector<std::string> names() const;

    /// One-dimensional, chunked, shuffled and compressed datasets. T: std::uint8_t, std::uint32_t,
    /// std::int32_t, std::uint64_t, std::int64_t, double; ids become 32 hexadecimal digits.
    template <typename T>
    void write(const std::string& name, std::span<const T> values) const;
    template <typename T>
    std::vector<T> read(const std::string& name) const;

    /// Variable-length UTF-8 strings, which end at a NUL.
    void write_texts(const std::string& name, const std::vector<std::string>& texts) const;
    std::vector<std::string> read_texts(const std::string& name) const;

    /// Fixed-size ASCII of `width` bytes a row; `bytes` holds them one after another.
    void write_fixed_texts(const std::string& name, std::string_view bytes, std::size_t width) const;

    /// Attributes: of the object `name` in the folder ("." is the folder itself).
    void set_text(const std::string& name, const std::string& attribute, const std::string& text) const;
    void set_texts(const std::string& name, const std::string& attribute,
                   std::span<const std::string_view> texts) const;
    void set_number(const std::string& name, const std::string& attribute, std::int64_t number) const;
    std::string text(const std::string& name, const std::string& attribute) const;
    std::int64_t number(const std::string& name, const std::string& attribute) const;

    /// The path of an object in it, for errors: "FILE:/group/name".
    std::string where(const std::string& name) const { return path_ + "/" + name; }

private:
    Hdf5Folder(Hdf5Group group, std::string path)
        : group_(std::move(group))
        , path_(std::move(path)) {}

    Hdf5Dataset create(const std::string& name, hid_t type, std::size_t rows, std::size_t row_bytes) const;
    std::pair<Hdf5Dataset, std::size_t> open(const std::string& name) const;
    Hdf5Attribute create_attribute(const std::string& name, const std::string& attribute, hid_t type,
                                   hid_t space) const;
    Hdf5Attribute open_attribute(const std::string& name, const std::string& attribute) const;

    Hdf5Group group_;
    std::string path_;
};

} // namespace tessera
