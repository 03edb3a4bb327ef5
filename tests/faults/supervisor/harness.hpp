#pragma once

#include <tessera/base/clock.hpp>
#include <tessera/worker/supervisor_client.hpp>

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::test {

/// A folder that goes with the object.
class ScratchFolder {
public:
    ScratchFolder();
    ~ScratchFolder();
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;

    const std::string& path() const { return path_; }

    std::string file(std::string_view name) const { return path_ + "/" + std::string(name); }

private:
    std::string path_;
};

std::string supervisor_program();
std::string cell_program();
std::string rank_program();

/// Asks again and again until `condition` holds; false once `limit` is over.
bool eventually(Duration limit, const std::function<bool()>& condition);

bool exists(const std::string& path);

/// The living processes with `mark` in their environment or arguments.
std::vector<pid_t> marked_processes(std::string_view mark);

bool is_alive(pid_t pid);

/// A word that no other process carries.
std::string unique_mark();

/// A supervisor with a client and the reports that came.
class Session {
public:
    explicit Session(std::string program = supervisor_program());

    /// A request for `argv` with an environment that holds PATH, the attempt's mark and nothing else.
    SpawnRequest request(std::vector<std::string> argv);

    void send(const SupervisorRequest& request) { client.send(request); }

    /// Waits for the end of the attempt; fails the test if it does not come.
    EndedReport ended(std::uint64_t ticket);

    EndedReport run(const SpawnRequest& request);

    EndedReport run(std::vector<std::string> argv) { return run(request(std::move(argv))); }

    /// Reads reports until `condition` holds; fails the test after a long time.
    void read_until(const std::function<bool()>& condition);

    SupervisorClient client;
    ScratchFolder folder;
    std::string mark = unique_mark();
    std::map<std::uint64_t, StartedReport> started;
    std::map<std::uint64_t, EndedReport> over;
    std::vector<OutputLimitReport> limits;
    std::vector<std::string> deaths;

private:
    std::uint64_t next_ticket_ = 1;
};

} // namespace tessera::test
