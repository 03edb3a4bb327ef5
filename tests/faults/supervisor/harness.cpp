#include "harness.hpp"

#include <tessera/base/error.hpp>
#include <tessera/base/fd.hpp>
#include <tessera/base/id.hpp>

#include <doctest/doctest.h>

#include <charconv>
#include <filesystem>
#include <system_error>

#include <poll.h>
#include <unistd.h>

namespace tessera::test {

namespace fs = std::filesystem;

ScratchFolder::ScratchFolder()
    : path_((fs::temp_directory_path() / ("tessera-" + unique_mark())).string()) {
    fs::create_directories(path_);
}

ScratchFolder::~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
}

std::string supervisor_program() {
    return TESSERA_BIN_DIR "/tessera-supervisor";
}

std::string cell_program() {
    return TEST_PROGRAMS_DIR "/test_cell";
}

std::string rank_program() {
    return TEST_PROGRAMS_DIR "/test_rank";
}

bool eventually(Duration limit, const std::function<bool()>& condition) {
    const Moment end = SystemClock().now() + limit;
    while (!condition()) {
        if (SystemClock().now() > end) return false;
        ::poll(nullptr, 0, 2);
    }
    return true;
}

bool exists(const std::string& path) {
    return ::access(path.c_str(), F_OK) == 0;
}

namespace {

std::string read_proc(pid_t pid, const char* file) {
    try {
        return read_file("/proc/" + std::to_string(pid) + "/" + file);
    } catch (const IoError&) {
        return {};
    }
}

} // namespace

bool is_alive(pid_t pid) {
    const std::string stat = read_proc(pid, "stat");
    const std::size_t name_end = stat.rfind(')');
    return name_end != std::string::npos && stat[name_end + 2] != 'Z' && stat[name_end + 2] != 'X';
}

std::vector<pid_t> marked_processes(std::string_view mark) {
    std::vector<pid_t> found;
    for (const auto& entry : fs::directory_iterator("/proc")) {
        const std::string name = entry.path().filename().string();
        pid_t pid = 0;
        const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
        if (error != std::errc{} || end != name.data() + name.size() || pid == ::getpid()) continue;
        const std::string text = read_proc(pid, "environ") + read_proc(pid, "cmdline");
        if (text.find(mark) != std::string::npos && is_alive(pid)) found.push_back(pid);
    }
    return found;
}

std::string unique_mark() {
    return Id128::random().hex();
}

Session::Session(std::string program)
    : client(std::move(program)) {}

SpawnRequest Session::request(std::vector<std::string> argv) {
    SpawnRequest request;
    request.ticket = next_ticket_++;
    request.attempt = mark + "-" + std::to_string(request.ticket);
    request.argv = std::move(argv);
    request.env = {"PATH=/usr/bin:/bin", "TESSERA_ATTEMPT=" + request.attempt};
    request.folder = folder.path();
    request.stdout_path = folder.file("stdout-" + std::to_string(request.ticket));
    request.stderr_path = folder.file("stderr-" + std::to_string(request.ticket));
    request.log_limit_bytes = 1U << 20U;
    request.grace_s = 10;
    return request;
}

void Session::read_until(const std::function<bool()>& condition) {
    const Moment end = SystemClock().now() + std::chrono::seconds(60);
    while (!condition()) {
        REQUIRE(SystemClock().now() < end);
        if (auto fd = client.poll_fd()) ::poll(&*fd, 1, 100);
        SupervisorClient::News news = client.poll();
        for (const SupervisorReport& report : news.reports) {
            if (const auto* begun = std::get_if<StartedReport>(&report)) started[begun->ticket] = *begun;
            if (const auto* limit = std::get_if<OutputLimitReport>(&report)) limits.push_back(*limit);
            if (const auto* ended = std::get_if<EndedReport>(&report)) over[ended->ticket] = *ended;
        }
        if (news.death) deaths.push_back(*news.death);
    }
}

EndedReport Session::ended(std::uint64_t ticket) {
    read_until([&] { return over.count(ticket) > 0; });
    return over[ticket];
}

EndedReport Session::run(const SpawnRequest& request) {
    send(request);
    return ended(request.ticket);
}

} // namespace tessera::test
