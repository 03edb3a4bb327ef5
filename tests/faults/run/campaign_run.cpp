#include "campaign_run.hpp"

#include <tessera/base/error.hpp>
#include <tessera/base/fd.hpp>
#include <tessera/base/text.hpp>
#include <tessera/journal/acceptance.hpp>
#include <tessera/journal/campaign_dir.hpp>
#include <tessera/journal/replay.hpp>
#include <tessera/journal/spool.hpp>

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <filesystem>

#include <unistd.h>

namespace tessera::test {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view mark_variable = "TESSERA_TEST_MARK=";

std::string read_proc(pid_t pid, const char* file) {
    try {
        return read_file(fmt::format("/proc/{}/{}", pid, file));
    } catch (const IoError&) {
        return {}; // It has ended meanwhile.
    }
}

std::string program_of(pid_t pid) {
    std::error_code ignored;
    return fs::read_symlink(fmt::format("/proc/{}/exe", pid), ignored).filename().string();
}

/// State and parent, behind the name in parentheses.
std::pair<char, pid_t> state_of(pid_t pid) {
    const std::string stat = read_proc(pid, "stat");
    const std::size_t name_end = stat.rfind(')');
    if (name_end == std::string::npos) return {'X', 0};
    return {stat[name_end + 2], static_cast<pid_t>(std::atoi(stat.c_str() + name_end + 4))};
}

Role role_of(const std::string& program) {
    if (program == "tessera") return Role::command;
    if (program == "tessera-supervisor") return Role::supervisor;
    if (program.starts_with("tessera-rank-")) return Role::rank;
    for (const char* launcher : {"orterun", "prterun", "orted", "mpiexec", "mpirun", "hydra_pmi_proxy"})
        if (program.starts_with(launcher)) return Role::launcher;
    return Role::cell;
}

int rank_of(const std::string& environment) {
    for (const std::string& entry : split(environment, '\0'))
        for (const std::string_view name : {"OMPI_COMM_WORLD_RANK=", "PMI_RANK="})
            if (entry.starts_with(name)) return std::atoi(entry.c_str() + name.size());
    return -1;
}

std::vector<pid_t> all_pids() {
    std::vector<pid_t> pids;
    for (const auto& entry : fs::directory_iterator("/proc")) {
        const std::string name = entry.path().filename().string();
        pid_t pid = 0;
        const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
        if (error == std::errc{} && end == name.data() + name.size()) pids.push_back(pid);
    }
    return pids;
}

} // namespace

CampaignRun::CampaignRun(int cells, std::string_view script, std::vector<std::string> run_options)
    : cells_(cells)
    , run_options_(std::move(run_options)) {
    std::string values = "[1";
    for (int x = 2; x <= cells; ++x)
        values += fmt::format(", {}", x);
    const std::string whole =
        fmt::format("ran=\"$TESSERA_CAMPAIGN_FOLDER/ran\"\necho \"$TESSERA_STEP_KEY begin\" >> \"$ran\"\n"
                    "echo \"{{\\\"metric\\\": \\\"m\\\", \\\"value\\\": $1}}\" >> \"$TESSERA_METRICS\"\n"
                    "{}\necho \"$TESSERA_STEP_KEY end\" >> \"$ran\"",
                    script);
    folder_.write("c.toml", shell_campaign("c", values + "]", whole, "[retry]\nbackoff = \"0s\""));
}

Command CampaignRun::command() const {
    std::vector<std::string> args = {"run", "c.toml", "--dir", "D"};
    args.insert(args.end(), run_options_.begin(), run_options_.end());
    Command command = tessera_command(folder_.path(), args);
    command.env = {fmt::format("{}{}", mark_variable, mark_)};
    return command;
}

std::vector<Process> CampaignRun::processes() const {
    const std::string mark = fmt::format("{}{}", mark_variable, mark_);
    std::vector<Process> found;
    for (const pid_t pid : all_pids()) {
        const std::string environment = read_proc(pid, "environ");
        if (environment.find(mark) == std::string::npos) continue;
        const auto [state, parent] = state_of(pid);
        if (state == 'Z' || state == 'X') continue;
        found.push_back({pid, parent, role_of(program_of(pid)), rank_of(environment)});
    }
    return found;
}

std::vector<Process> CampaignRun::processes(Role role) const {
    std::vector<Process> found = processes();
    std::erase_if(found, [role](const Process& process) { return process.role != role; });
    return found;
}

void CampaignRun::require_nothing_left() const {
    const bool gone = eventually([this] { return processes().empty(); });
    std::string left;
    for (const Process& process : processes())
        left += fmt::format("{} {}; ", process.pid, program_of(process.pid));
    CAPTURE(left);
    REQUIRE(gone);
}

std::map<std::string, int> CampaignRun::count_lines(const std::string& word) const {
    std::map<std::string, int> counts;
    for (const std::string& line : folder_.lines("ran")) {
        const std::size_t blank = line.find(' ');
        if (line.substr(blank + 1) == word) ++counts[line.substr(0, blank)];
    }
    return counts;
}

std::set<std::string> CampaignRun::recorded_successes() const {
    std::set<std::string> steps;
    if (!CampaignDirectory::exists(folder_.file("D"))) return steps;
    const auto take = [&](const OutcomeRecord& outcome) {
        if (outcome.kind == OutcomeKind::succeeded) steps.insert(outcome.attempt.step.hex());
    };
    const auto directory = CampaignDirectory::open(folder_.file("D"));
    read_campaign(directory, [&](const FramePosition&, Record&& record) {
        if (const auto* outcome = std::get_if<OutcomeRecord>(&record)) take(*outcome);
    });
    for (const std::string& part : directory.parts())
        for (const std::string& spool : directory.part_files(part).spools)
            read_spool(spool, part, [&](OutcomeRecord&& outcome) { take(outcome); });
    return steps;
}

void CampaignRun::check_each_succeeded_once() const {
    const auto directory = CampaignDirectory::open(folder_.file("D"));
    Acceptance acceptance;
    read_campaign(directory, [&](const FramePosition& position, Record&& record) {
        std::visit(
            [&](const auto& frame) {
                if constexpr (requires { acceptance.add(position, frame); })
                    acceptance.add(position, frame);
                else if constexpr (requires { acceptance.add(frame); })
                    acceptance.add(frame);
            },
            record);
    });
    CHECK(acceptance.open_attempts().empty());
    CHECK(acceptance.step_count() == static_cast<std::size_t>(cells_));
    acceptance.for_each_step([&](const StepKey& key) {
        const auto attempts = acceptance.attempts(key);
        const auto succeeded =
            std::count_if(attempts.begin(), attempts.end(),
                          [](const AttemptView& attempt) { return attempt.kind == OutcomeKind::succeeded; });
        CAPTURE(key.hex());
        CHECK(succeeded == 1);
        CHECK(acceptance.step(key).accepted.has_value());
    });
    const nlohmann::json rows = query(folder_.path(), "D", {"--columns", "x,status,m"});
    CHECK(rows.size() == static_cast<std::size_t>(cells_));
    for (const nlohmann::json& row : rows) {
        CAPTURE(row.dump());
        CHECK(row["status"] == "succeeded");
        CHECK(row["m"] == row["x"]);
    }
}

std::size_t CampaignRun::accepted_by_h5py() const {
    if (!folder_.has("D/results.h5")) return 0;
    constexpr const char* reader = R"py(
import sys, h5py
with h5py.File(sys.argv[1], "r") as f:
    f.visititems(lambda name, item: item[...] if isinstance(item, h5py.Dataset) else None)
    attempt = f["cell_results/attempt"]
    print(sum(1 for a in attempt[...] if a != attempt.attrs["null"]))
)py";
    const Outcome outcome = test::run({{"/usr/bin/python3", "-c", reader, folder_.file("D/results.h5")},
                                       {},
                                       {"HDF5_USE_FILE_LOCKING=FALSE"}});
    require_code(outcome, 0);
    return std::stoul(outcome.out);
}

void kill_at_once(std::vector<Process> processes) {
    std::stable_sort(processes.begin(), processes.end(),
                     [](const Process& a, const Process& b) { return a.role < b.role; });
    for (const Process& process : processes)
        ::kill(process.pid, SIGKILL);
}

} // namespace tessera::test
