#include <tessera/cli/version.hpp>
#include <tessera/version.hpp>

#include <boost/version.hpp>
#include <fmt/core.h>
#include <hdf5.h>
#include <hwloc.h>
#include <nlohmann/json.hpp>
#include <openssl/crypto.h>

namespace tessera {

std::string version_text() {
    unsigned major = 0;
    unsigned minor = 0;
    unsigned release = 0;
    H5get_libversion(&major, &minor, &release);
    const unsigned hwloc = hwloc_get_api_version();
    std::string text = fmt::format("tessera {}\n", version);
    text += fmt::format("HDF5 {}.{}.{} (built with {}.{}.{})\n", major, minor, release, H5_VERS_MAJOR,
                        H5_VERS_MINOR, H5_VERS_RELEASE);
    text += fmt::format("Boost {}.{}.{}\n", BOOST_VERSION / 100000, BOOST_VERSION / 100 % 1000,
                        BOOST_VERSION % 100);
    text += fmt::format("fmt {}.{}.{}\n", FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100);
    text += fmt::format("nlohmann-json {}.{}.{}\n", NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR,
                        NLOHMANN_JSON_VERSION_PATCH);
    text += fmt::format("{}\n", OpenSSL_version(OPENSSL_VERSION));
    text += fmt::format("hwloc API {}.{}.{}\n", hwloc >> 16U, hwloc >> 8U & 0xFFU, hwloc & 0xFFU);
    text += fmt::format("MPI of the rank programs: {}\n", built_mpis.empty() ? "none" : built_mpis);
    return text;
}

} // namespace tessera
