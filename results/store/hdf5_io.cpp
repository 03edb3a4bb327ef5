#include <tessera/base/text.hpp>
#include <tessera/store/hdf5_io.hpp>

#include <algorithm>
#include <deque>

namespace tessera {

namespace {

constexpr std::size_t chunk_bytes = 256UL << 10U;
constexpr unsigned gzip_level = 1; // higher ones cost several times the time for a few per cent
constexpr std::size_t id_digits = 32;

template <typename T>
hid_t native_type();

template <>
hid_t native_type<std::uint8_t>() {
    return H5T_NATIVE_UINT8;
}

template <>
hid_t native_type<std::uint32_t>() {
    return H5T_NATIVE_UINT32;
}

template <>
hid_t native_type<std::int32_t>() {
    return H5T_NATIVE_INT32;
}

template <>
hid_t native_type<std::uint64_t>() {
    return H5T_NATIVE_UINT64;
}

template <>
hid_t native_type<std::int64_t>() {
    return H5T_NATIVE_INT64;
}

template <>
hid_t native_type<double>() {
    return H5T_NATIVE_DOUBLE;
}

Hdf5Type utf8_type() {
    Hdf5Type type(hdf5_check(H5Tcopy(H5T_C_S1), "make a type of", "text"));
    hdf5_check(H5Tset_size(type.get(), H5T_VARIABLE), "make a type of", "text");
    hdf5_check(H5Tset_cset(type.get(), H5T_CSET_UTF8), "make a type of", "text");
    return type;
}

Hdf5Type fixed_type(std::size_t width) {
    Hdf5Type type(hdf5_check(H5Tcopy(H5T_C_S1), "make a type of", "text"));
    hdf5_check(H5Tset_size(type.get(), width), "make a type of", "text");
    hdf5_check(H5Tset_strpad(type.get(), H5T_STR_NULLPAD), "make a type of", "text");
    return type;
}

/// Texts as HDF5 takes them: it ends them at the first NUL, which must not cut one short unseen.
class CTexts {
public:
    explicit CTexts(const std::vector<std::string>& texts) {
        pointers_.reserve(texts.size());
        for (const std::string& text : texts)
            pointers_.push_back(text.find('\0') == std::string::npos
                                    ? text.c_str()
                                    : repaired_.emplace_back(replace_nul(text)).c_str());
    }

    const char* const* data() const { return pointers_.data(); }

private:
    std::deque<std::string> repaired_; // which moves none of its elements when it grows
    std::vector<const char*> pointers_;
};

Hdf5Space simple_space(std::size_t rows) {
    const hsize_t size = rows;
    return Hdf5Space(hdf5_check(H5Screate_simple(1, &size, nullptr), "make", "a data space"));
}

} // namespace

Hdf5Folder::Hdf5Folder(const Hdf5File& file, std::string file_path)
    : path_(std::move(file_path) + ":") {
    group_ = Hdf5Group(hdf5_check(H5Gopen2(file.get(), "/", H5P_DEFAULT), "open", path_));
}

Hdf5Folder Hdf5Folder::create_folder(const std::string& name) const {
    const Hdf5Properties creation(hdf5_check(H5Pcreate(H5P_GROUP_CREATE), "create", where(name)));
    hdf5_check(H5Pset_link_creation_order(creation.get(), H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED),
               "create", where(name));
    Hdf5Group group(
        hdf5_check(H5Gcreate2(group_.get(), name.c_str(), H5P_DEFAULT, creation.get(), H5P_DEFAULT), "create",
                   where(name)));
    return {std::move(group), where(name)};
}

Hdf5Folder Hdf5Folder::open_folder(const std::string& name) const {
    return {Hdf5Group(hdf5_check(H5Gopen2(group_.get(), name.c_str(), H5P_DEFAULT), "open", where(name))),
            where(name)};
}

bool Hdf5Folder::has(const std::string& name) const {
    return hdf5_check(H5Lexists(group_.get(), name.c_str(), H5P_DEFAULT), "look up", where(name)) > 0;
}

std::vector<std::string> Hdf5Folder::names() const {
    H5G_info_t info{};
    hdf5_check(H5Gget_info(group_.get(), &info), "list", path_);
    std::vector<std::string> names;
    for (hsize_t i = 0; i < info.nlinks; ++i) {
        const auto link = [&](char* buffer, std::size_t size) {
            const auto length = H5Lget_name_by_idx(group_.get(), ".", H5_INDEX_CRT_ORDER, H5_ITER_INC, i,
                                                   buffer, size, H5P_DEFAULT);
            return static_cast<std::size_t>(hdf5_check(static_cast<hid_t>(length), "list", path_));
        };
        std::string name(link(nullptr, 0), '\0');
        link(name.data(), name.size() + 1);
        names.push_back(std::move(name));
    }
    return names;
}

Hdf5Dataset Hdf5Folder::create(const std::string& name, hid_t type, std::size_t rows,
                               std::size_t row_bytes) const {
    const Hdf5Properties creation(hdf5_check(H5Pcreate(H5P_DATASET_CREATE), "create", where(name)));
    if (rows > 0) {
        const hsize_t chunk = std::min(rows, std::max<std::size_t>(1, chunk_bytes / row_bytes));
        hdf5_check(H5Pset_chunk(creation.get(), 1, &chunk), "create", where(name));
        hdf5_check(H5Pset_shuffle(creation.get()), "create", where(name));
        hdf5_check(H5Pset_deflate(creation.get(), gzip_level), "create", where(name));
    }
    const auto space = simple_space(rows);
    return Hdf5Dataset(hdf5_check(
        H5Dcreate2(group_.get(), name.c_str(), type, space.get(), H5P_DEFAULT, creation.get(), H5P_DEFAULT),
        "create", where(name)));
}

std::pair<Hdf5Dataset, std::size_t> Hdf5Folder::open(const std::string& name) const {
    Hdf5Dataset dataset(hdf5_check(H5Dopen2(group_.get(), name.c_str(), H5P_DEFAULT), "open", where(name)));
    const Hdf5Space space(hdf5_check(H5Dget_space(dataset.get()), "open", where(name)));
    if (H5Sget_simple_extent_ndims(space.get()) != 1)
        throw Hdf5Error("read", where(name), "not one-dimensional");
    hsize_t rows = 0;
    hdf5_check(H5Sget_simple_extent_dims(space.get(), &rows, nullptr), "open", where(name));
    return {std::move(dataset), static_cast<std::size_t>(rows)};
}

template <typename T>
void Hdf5Folder::write(const std::string& name, std::span<const T> values) const {
    const auto dataset = create(name, native_type<T>(), values.size(), sizeof(T));
    if (values.empty()) return;
    hdf5_check(H5Dwrite(dataset.get(), native_type<T>(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()),
               "write", where(name));
}

template <typename T>
std::vector<T> Hdf5Folder::read(const std::string& name) const {
    const auto [dataset, rows] = open(name);
    std::vector<T> values(rows);
    if (rows > 0)
        hdf5_check(H5Dread(dataset.get(), native_type<T>(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()),
                   "read", where(name));
    return values;
}

template <>
void Hdf5Folder::write<Id128>(const std::string& name, std::span<const Id128> values) const {
    std::string digits;
    digits.reserve(values.size() * id_digits);
    for (const Id128& id : values)
        digits += id.hex();
    write_fixed_texts(name, digits, id_digits);
}

template <>
std::vector<Id128> Hdf5Folder::read<Id128>(const std::string& name) const {
    const auto [dataset, rows] = open(name);
    std::string digits(rows * id_digits, '\0');
    const auto type = fixed_type(id_digits);
    if (rows > 0)
        hdf5_check(H5Dread(dataset.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, digits.data()), "read",
                   where(name));
    std::vector<Id128> ids;
    ids.reserve(rows);
    for (std::size_t i = 0; i < rows; ++i) {
        const auto id = Id128::parse(std::string_view(digits).substr(i * id_digits, id_digits));
        if (!id) throw Hdf5Error("read", where(name), "not 32 hexadecimal digits");
        ids.push_back(*id);
    }
    return ids;
}

template void Hdf5Folder::write(const std::string&, std::span<const std::uint8_t>) const;
template void Hdf5Folder::write(const std::string&, std::span<const std::uint32_t>) const;
template void Hdf5Folder::write(const std::string&, std::span<const std::int32_t>) const;
template void Hdf5Folder::write(const std::string&, std::span<const std::uint64_t>) const;
template void Hdf5Folder::write(const std::string&, std::span<const std::int64_t>) const;
template void Hdf5Folder::write(const std::string&, std::span<const double>) const;
template std::vector<std::uint8_t> Hdf5Folder::read(const std::string&) const;
template std::vector<std::uint32_t> Hdf5Folder::read(const std::string&) const;
template std::vector<std::int32_t> Hdf5Folder::read(const std::string&) const;
template std::vector<std::uint64_t> Hdf5Folder::read(const std::string&) const;
template std::vector<std::int64_t> Hdf5Folder::read(const std::string&) const;
template std::vector<double> Hdf5Folder::read(const std::string&) const;

void Hdf5Folder::write_texts(const std::string& name, const std::vector<std::string>& texts) const {
    const auto type = utf8_type();
    const auto dataset = create(name, type.get(), texts.size(), sizeof(char*));
    if (texts.empty()) return;
    hdf5_check(H5Dwrite(dataset.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, CTexts(texts).data()),
               "write", where(name));
}

std::vector<std::string> Hdf5Folder::read_texts(const std::string& name) const {
    const auto [dataset, rows] = open(name);
    std::vector<std::string> texts;
    if (rows == 0) return texts;
    const auto type = utf8_type();
    const auto space = simple_space(rows);
    std::vector<char*> pointers(rows, nullptr);
    hdf5_check(H5Dread(dataset.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, pointers.data()), "read",
               where(name));
    texts.reserve(rows);
    for (const char* text : pointers)
        texts.emplace_back(text != nullptr ? text : "");
    hdf5_check(H5Dvlen_reclaim(type.get(), space.get(), H5P_DEFAULT, pointers.data()), "read", where(name));
    return texts;
}

void Hdf5Folder::write_fixed_texts(const std::string& name, std::string_view bytes, std::size_t width) const {
    const auto type = fixed_type(width);
    const auto dataset = create(name, type.get(), bytes.size() / width, width);
    if (bytes.empty()) return;
    hdf5_check(H5Dwrite(dataset.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()), "write",
               where(name));
}

Hdf5Attribute Hdf5Folder::create_attribute(const std::string& name, const std::string& attribute, hid_t type,
                                           hid_t space) const {
    return Hdf5Attribute(hdf5_check(H5Acreate_by_name(group_.get(), name.c_str(), attribute.c_str(), type,
                                                      space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                                    "create an attribute of", where(name)));
}

Hdf5Attribute Hdf5Folder::open_attribute(const std::string& name, const std::string& attribute) const {
    return Hdf5Attribute(
        hdf5_check(H5Aopen_by_name(group_.get(), name.c_str(), attribute.c_str(), H5P_DEFAULT, H5P_DEFAULT),
                   "open an attribute of", where(name)));
}

void Hdf5Folder::set_text(const std::string& name, const std::string& attribute,
                          const std::string& text) const {
    const auto type = utf8_type();
    const Hdf5Space space(hdf5_check(H5Screate(H5S_SCALAR), "make", "a data space"));
    const auto handle = create_attribute(name, attribute, type.get(), space.get());
    const std::vector<std::string> one = {text};
    hdf5_check(H5Awrite(handle.get(), type.get(), CTexts(one).data()), "write an attribute of", where(name));
}

void Hdf5Folder::set_texts(const std::string& name, const std::string& attribute,
                           std::span<const std::string_view> texts) const {
    const auto type = utf8_type();
    const auto space = simple_space(texts.size());
    const auto handle = create_attribute(name, attribute, type.get(), space.get());
    const std::vector<std::string> copies(texts.begin(), texts.end());
    hdf5_check(H5Awrite(handle.get(), type.get(), CTexts(copies).data()), "write an attribute of",
               where(name));
}

void Hdf5Folder::set_number(const std::string& name, const std::string& attribute,
                            std::int64_t number) const {
    const Hdf5Space space(hdf5_check(H5Screate(H5S_SCALAR), "make", "a data space"));
    const auto handle = create_attribute(name, attribute, H5T_NATIVE_INT64, space.get());
    hdf5_check(H5Awrite(handle.get(), H5T_NATIVE_INT64, &number), "write an attribute of", where(name));
}

std::string Hdf5Folder::text(const std::string& name, const std::string& attribute) const {
    const auto handle = open_attribute(name, attribute);
    const auto type = utf8_type();
    char* pointer = nullptr;
    hdf5_check(H5Aread(handle.get(), type.get(), static_cast<void*>(&pointer)), "read an attribute of",
               where(name));
    std::string value(pointer != nullptr ? pointer : "");
    hdf5_check(H5free_memory(pointer), "free", "an attribute");
    return value;
}

std::int64_t Hdf5Folder::number(const std::string& name, const std::string& attribute) const {
    const auto handle = open_attribute(name, attribute);
    std::int64_t value = 0;
    hdf5_check(H5Aread(handle.get(), H5T_NATIVE_INT64, &value), "read an attribute of", where(name));
    return value;
}

} // namespace tessera
