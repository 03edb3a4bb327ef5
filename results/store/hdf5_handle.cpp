#include <tessera/base/fd.hpp>
#include <tessera/store/hdf5_handle.hpp>

#include <fmt/core.h>

#include <type_traits>

#include <fcntl.h>

namespace tessera {

namespace {

extern "C" herr_t append_stack_entry(unsigned /*depth*/, const H5E_error2_t* entry, void* text) {
    auto& out = *static_cast<std::string*>(text);
    if (!out.empty()) out += "; ";
    out += entry->desc != nullptr ? entry->desc : entry->func_name;
    return 0;
}

std::string take_error_stack() {
    std::string text;
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, append_stack_entry, &text);
    H5Eclear2(H5E_DEFAULT);
    return text.empty() ? "no reason given" : text;
}

/// Before 1.10.7 the library has no call for this and only obeys HDF5_USE_FILE_LOCKING; then the caller's
/// environment decides.
void turn_locking_off([[maybe_unused]] hid_t access, [[maybe_unused]] std::string_view path) {
#if H5_VERSION_GE(1, 10, 7)
    hdf5_check(H5Pset_file_locking(access, false, true), "turn file locking off for", path);
#endif
}

Hdf5Properties file_access(std::string_view path) {
    Hdf5Properties access(hdf5_check(H5Pcreate(H5P_FILE_ACCESS), "set up access to", path));
    turn_locking_off(access.get(), path);
    // This format has checksums over its metadata and can be read by every HDF5 since 1.10.2.
    hdf5_check(H5Pset_libver_bounds(access.get(), H5F_LIBVER_V110, H5F_LIBVER_V110), "set up access to",
               path);
    hdf5_check(H5Pset_fclose_degree(access.get(), H5F_CLOSE_STRONG), "set up access to", path);
    return access;
}

} // namespace

Hdf5Error::Hdf5Error(std::string operation, std::string object, const std::string& stack)
    : Error(fmt::format("HDF5 could not {} {}: {}", operation, object, stack))
    , operation(std::move(operation))
    , object(std::move(object)) {}

Hdf5Quiet::Hdf5Quiet() {
    // We close what we open; the library's own cleaning at exit complains of objects that damaged files left
    // in it.
    H5dont_atexit();
    H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

Hdf5Quiet::~Hdf5Quiet() {
    H5Eset_auto2(H5E_DEFAULT, function_, data_);
}

template <typename Result>
Result hdf5_check(Result result, const char* operation, std::string_view object) {
    if (result < 0) throw Hdf5Error(operation, std::string(object), take_error_stack());
    return result;
}

template hid_t hdf5_check(hid_t, const char*, std::string_view);
template herr_t hdf5_check(herr_t, const char*, std::string_view);

Hdf5File create_hdf5_file(const std::string& path) {
    const Hdf5Quiet quiet;
    const auto access = file_access(path);
    const Hdf5Properties creation(hdf5_check(H5Pcreate(H5P_FILE_CREATE), "set up", path));
    hdf5_check(H5Pset_link_creation_order(creation.get(), H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED),
               "set up", path);
    hdf5_check(H5Pset_userblock(creation.get(), user_block_bytes), "set up", path);
    // HDF5 would let the umask decide who may read it.
    const UniqueFd own = open_file(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    return Hdf5File(
        hdf5_check(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation.get(), access.get()), "create", path));
}

Hdf5File open_hdf5_file(const std::string& path) {
    const Hdf5Quiet quiet;
    const auto access = file_access(path);
    return Hdf5File(hdf5_check(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get()), "open", path));
}

void close_hdf5_file(Hdf5File file, const std::string& path) {
    const Hdf5Quiet quiet;
    hdf5_check(H5Fflush(file.get(), H5F_SCOPE_GLOBAL), "write", path);
    hdf5_check(H5Fclose(file.release()), "close", path);
}

} // namespace tessera
