#pragma once

#include <tessera/campaign/plan.hpp>

#include <filesystem>
#include <string>

#include <stdlib.h>

/// A folder of its own that goes with the test.
struct TemporaryFolder {
    TemporaryFolder() {
        std::string pattern = (std::filesystem::temp_directory_path() / "tessera-test-XXXXXX").string();
        path = ::mkdtemp(pattern.data());
    }

    ~TemporaryFolder() { std::filesystem::remove_all(path); }

    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    std::string path;
};

/// A campaign of `cells` cells that run nothing, axis i from 1; `more` is put at its end.
inline tessera::Plan null_plan(int cells, const std::string& more = {}) {
    std::string values;
    for (int i = 1; i <= cells; ++i)
        values += std::to_string(i) + ',';
    return tessera::Plan::make(tessera::parse_campaign(
        "[campaign]\nname = \"t\"\n[matrix]\ni = [" + values +
            "]\n[workload]\nexecutor = \"null\"\ncommand = [\"x\", \"${i}\"]\n" + more,
        "t.toml"));
}
