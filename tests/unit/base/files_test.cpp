#include <tessera/base/error.hpp>
#include <tessera/base/fd.hpp>

#include <doctest/doctest.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <sys/stat.h>

#include <fcntl.h>

using namespace tessera;

namespace {

/// A folder of its own that goes with the test.
struct TemporaryFolder {
    TemporaryFolder() {
        std::string pattern = (std::filesystem::temp_directory_path() / "tessera-test-XXXXXX").string();
        path = ::mkdtemp(pattern.data());
    }

    ~TemporaryFolder() { std::filesystem::remove_all(path); }

    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    std::filesystem::path path;
};

} // namespace

TEST_CASE("an atomic write replaces the file, leaves nothing else and is the user's alone") {
    const TemporaryFolder folder;
    const std::string path = folder.path / "verdict.json";
    write_file_atomically(path, "one");
    write_file_atomically(path, "two");
    CHECK(read_file(path) == "two");

    struct stat info {};

    REQUIRE(::stat(path.c_str(), &info) == 0);
    CHECK((info.st_mode & 0777) == 0600);
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path), {}) == 1);
}

TEST_CASE("a failed open names the path and the reason") {
    const TemporaryFolder folder;
    const std::string path = folder.path / "missing" / "file";
    try {
        open_file(path, O_RDONLY);
        FAIL("the file was opened");
    } catch (const IoError& error) {
        CHECK(error.path == path);
        CHECK(error.code == ENOENT);
    }
    CHECK_THROWS_AS(write_file_atomically(path, "x"), IoError);
}

TEST_CASE("descriptors are closed once, by their last owner") {
    Pipe pipe = make_pipe();
    const int number = pipe.read.get();
    UniqueFd moved = std::move(pipe.read);
    CHECK_FALSE(static_cast<bool>(pipe.read));
    CHECK(::fcntl(number, F_GETFD) == FD_CLOEXEC);
    moved.reset();
    CHECK(::fcntl(number, F_GETFD) == -1);
}
