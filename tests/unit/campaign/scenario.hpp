#pragma once

#include <tessera/campaign/plan.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::scenario {

/// Plans `text` as the content of /study/c.toml, which does not exist.
inline Plan plan(std::string_view text) {
    return Plan::make(parse_campaign(text, "/study/c.toml"));
}

/// A campaign whose workload echoes `argument`, with `more` sections after it.
inline std::string campaign(const std::string& matrix, const std::string& argument,
                            const std::string& more = "") {
    return "[campaign]\nname = \"c\"\n[matrix]\n" + matrix + "\n[workload]\ncommand = [\"echo\", " +
           argument + "]\n" + more;
}

/// "line:column message" of every problem; empty if the campaign is fine.
inline std::vector<std::string> problems(std::string_view text) {
    try {
        plan(text);
        return {};
    } catch (const CampaignError& error) {
        std::vector<std::string> found;
        for (const Diagnostic& diagnostic : error.diagnostics)
            found.push_back(std::to_string(diagnostic.place.line) + ":" +
                            std::to_string(diagnostic.place.column) + " " + diagnostic.message);
        return found;
    }
}

/// The only problem of a campaign; the count if it has more or none.
inline std::string problem(std::string_view text) {
    const auto found = problems(text);
    return found.size() == 1 ? found.front() : std::to_string(found.size()) + " problems";
}

/// The argument vectors of all cells in order.
inline std::vector<std::vector<std::string>> commands(const Plan& plan) {
    std::vector<std::vector<std::string>> all;
    for (CellIndex cell = 0; cell < plan.cell_count(); ++cell)
        all.push_back(plan.resolve(plan.last_step(cell)).argv);
    return all;
}

/// What the echo of campaign() prints in each cell, arguments joined by a space.
inline std::vector<std::string> echoes(const Plan& plan) {
    std::vector<std::string> all;
    for (const auto& argv : commands(plan)) {
        std::string line;
        for (std::size_t i = 1; i < argv.size(); ++i)
            line.append(i > 1 ? " " : "").append(argv[i]);
        all.push_back(line);
    }
    return all;
}

inline StepKey first_key(std::string_view text) {
    const Plan planned = plan(text);
    return planned.step_key(planned.last_step(0));
}

inline CellId first_cell(std::string_view text) {
    return plan(text).cell_id(0);
}

/// A folder that goes with the test.
class Folder {
public:
    Folder() {
        std::string name = (std::filesystem::temp_directory_path() / "tessera-campaign-XXXXXX").string();
        path_ = ::mkdtemp(name.data());
    }

    ~Folder() { std::filesystem::remove_all(path_); }

    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    std::string operator/(const std::string& name) const { return (path_ / name).string(); }

    std::string write(const std::string& name, std::string_view content) const {
        const std::filesystem::path file = path_ / name;
        std::filesystem::create_directories(file.parent_path());
        std::ofstream(file, std::ios::binary) << content;
        return file.string();
    }

private:
    std::filesystem::path path_;
};

} // namespace tessera::scenario
