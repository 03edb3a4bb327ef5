#include <tessera/base/error.hpp>
#include <tessera/base/fd.hpp>
#include <tessera/base/id.hpp>
#include <tessera/worker/attempt_folder.hpp>
#include <tessera/worker/environment.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <set>
#include <string>
#include <sys/stat.h>

#include <fcntl.h>

using namespace tessera;
namespace fs = std::filesystem;

namespace {

class Attempt {
public:
    Attempt()
        : root_((fs::temp_directory_path() / ("tessera-" + Id128::random().hex())).string()) {
        fs::create_directories(root_);
        make_attempt_folder(root_, id, R"({"x": 1})");
        folder = root_ + "/" + attempt_folder(id);
        add(attempt_file::standard_output);
        add(attempt_file::metrics);
    }

    ~Attempt() { fs::remove_all(root_); }

    Attempt(const Attempt&) = delete;
    Attempt& operator=(const Attempt&) = delete;

    void add(std::string_view name) const {
        const fs::path path = folder + "/" + std::string(name);
        fs::create_directories(path.parent_path());
        open_file(path.string(), O_WRONLY | O_CREAT);
    }

    std::set<std::string> files() const {
        std::set<std::string> names;
        if (!fs::exists(folder)) return names;
        for (const auto& entry : fs::recursive_directory_iterator(folder))
            if (!entry.is_directory()) names.insert(fs::relative(entry.path(), folder).string());
        return names;
    }

    const std::string& root() const { return root_; }

    AttemptId id{"part", Id128::random(), 1};
    std::string folder;

private:
    std::string root_;
};

} // namespace

TEST_CASE("patterns of paths") {
    struct Case {
        const char* pattern;
        const char* path;
        bool matches;
    };

    for (const Case& item : {Case{"*.json", "a.json", true}, Case{"*.json", "d/a.json", false},
                             Case{"**/*.json", "a.json", true}, Case{"**/*.json", "d/e/a.json", true},
                             Case{"d/*", "d/a", true}, Case{"d/*", "d/e/a", false}, Case{"d/", "d/a", true},
                             Case{"d/", "d/e/a", true}, Case{"d/", "da", false}, Case{"d/**/a", "d/a", true},
                             Case{"?", "ab", false}, Case{"a", "a", true}, Case{"", "a", false}}) {
        CAPTURE(item.pattern);
        CAPTURE(item.path);
        CHECK(path_matches(item.pattern, item.path) == item.matches);
    }
}

TEST_CASE("a folder is its owner's, and nobody gets it twice") {
    const Attempt attempt;

    struct stat status {};

    REQUIRE(::stat(attempt.folder.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777U) == 0700);
    CHECK(read_file(attempt.folder + "/" + std::string(attempt_file::axes)) == R"({"x": 1})");
    CHECK_THROWS_AS(make_attempt_folder(attempt.root(), attempt.id, "{}"), IoError);
}

TEST_CASE("without files of the cell nothing stays") {
    const Attempt attempt;
    fs::create_directories(attempt.folder + "/empty/folders");
    REQUIRE(::mkfifo((attempt.folder + "/fifo").c_str(), 0600) == 0);
    CHECK_FALSE(clean_attempt_folder(attempt.folder, FolderPolicy::files, {}));
    CHECK_FALSE(fs::exists(attempt.folder));
}

TEST_CASE("without keep the cell's files stay") {
    const Attempt attempt;
    attempt.add("model.bin");
    attempt.add("d/e/log.txt");
    CHECK(clean_attempt_folder(attempt.folder, FolderPolicy::files, {}));
    CHECK(attempt.files() == std::set<std::string>{"model.bin", "d/e/log.txt"});
}

TEST_CASE("with keep only what it names") {
    const Attempt attempt;
    attempt.add("model.bin");
    attempt.add("d/e/log.txt");
    attempt.add("d/other");
    StepSpec spec;
    spec.keep = {"d/**/*.txt", "tessera.*"};
    CHECK(clean_attempt_folder(attempt.folder, FolderPolicy::files, spec));
    CHECK(attempt.files() == std::set<std::string>{"d/e/log.txt"});
    spec.keep = {"nothing"};
    CHECK_FALSE(clean_attempt_folder(attempt.folder, FolderPolicy::files, spec));
}

TEST_CASE("links are not followed") {
    const Attempt attempt;
    fs::create_directories(attempt.root() + "/precious");
    open_file(attempt.root() + "/precious/file", O_WRONLY | O_CREAT);
    fs::create_directory_symlink(attempt.root() + "/precious", attempt.folder + "/link");
    StepSpec spec;
    spec.keep = {"nothing"};
    CHECK_FALSE(clean_attempt_folder(attempt.folder, FolderPolicy::files, spec));
    CHECK(fs::exists(attempt.root() + "/precious/file"));
}

TEST_CASE("a link in the place of the folder goes, and what it names stays") {
    const Attempt attempt;
    fs::rename(attempt.folder, attempt.root() + "/moved");
    fs::create_directory_symlink(attempt.root() + "/moved", attempt.folder);
    StepSpec spec;
    spec.keep = {"nothing"};
    for (const FolderPolicy policy : {FolderPolicy::files, FolderPolicy::none}) {
        CHECK_FALSE(clean_attempt_folder(attempt.folder, policy, spec));
        CHECK_FALSE(fs::is_symlink(attempt.folder));
        CHECK(fs::exists(attempt.root() + "/moved/" + std::string(attempt_file::axes)));
        fs::create_directory_symlink(attempt.root() + "/moved", attempt.folder);
    }
}

TEST_CASE("all and none") {
    const Attempt attempt;
    attempt.add("model.bin");
    CHECK(clean_attempt_folder(attempt.folder, FolderPolicy::all, {}));
    CHECK(attempt.files().size() == 4);
    CHECK_FALSE(clean_attempt_folder(attempt.folder, FolderPolicy::none, {}));
    CHECK_FALSE(fs::exists(attempt.folder));
}

TEST_CASE("whose folders stay") {
    StepSpec spec;
    CHECK(folder_policy(spec, OutcomeKind::succeeded, true) == FolderPolicy::files);
    CHECK(folder_policy(spec, OutcomeKind::failed, true) == FolderPolicy::all);
    CHECK(folder_policy(spec, OutcomeKind::failed, false) == FolderPolicy::none);
    spec.keep_attempts = KeepAttempts::all;
    CHECK(folder_policy(spec, OutcomeKind::succeeded, true) == FolderPolicy::all);
    spec.keep_attempts = KeepAttempts::none;
    CHECK(folder_policy(spec, OutcomeKind::succeeded, true) == FolderPolicy::none);
    CHECK(folder_policy(spec, OutcomeKind::timed_out, true) == FolderPolicy::none);
    spec.keep = {"*"};
    CHECK(folder_policy(spec, OutcomeKind::succeeded, true) == FolderPolicy::files);
}
