#pragma once

#include <tessera/base/id.hpp>
#include <tessera/journal/records.hpp>

#include <map>
#include <program.hpp>
#include <set>
#include <string>
#include <sys/types.h>
#include <vector>

namespace tessera::test {

/// What a process of a campaign's run is.
enum class Role { command, launcher, rank, supervisor, cell };

struct Process {
    pid_t pid = 0;
    pid_t parent = 0;
    Role role = Role::cell;
    int rank = -1; ///< in MPI, of ranks and what they started
};

/// A campaign of short cells in a folder of its own, run by programs whose processes can be found again.
///
/// Each cell leaves lines in the file `ran`: its step and "begin", and at its end its step and "end".
class CampaignRun {
public:
    /// `script` runs between the two lines.
    CampaignRun(int cells, std::string_view script, std::vector<std::string> run_options);

    const TemporaryFolder& folder() const { return folder_; }

    /// `tessera run`, with the processes that it starts to be seen by processes().
    Command command() const;

    /// Runs it to its end.
    Outcome run() const { return test::run(command()); }

    /// All living processes of all runs so far, but for those between fork and exec.
    std::vector<Process> processes() const;
    std::vector<Process> processes(Role role) const;

    /// Waits until nothing of the runs is left; fails the test if something stays.
    void require_nothing_left() const;

    /// How often each step has begun, by the lines that its cells left.
    std::map<std::string, int> begun() const { return count_lines("begin"); }

    std::map<std::string, int> finished() const { return count_lines("end"); }

    std::size_t lines() const { return folder_.lines("ran").size(); }

    /// Keys of the steps that a worker's spool or a journal says succeeded.
    std::set<std::string> recorded_successes() const;

    /// Each step has one successful attempt, and that is the accepted one; none is open.
    void check_each_succeeded_once() const;

    /// results.h5, if it is there, is read by h5py; returns its number of cells with an accepted result.
    std::size_t accepted_by_h5py() const;

private:
    std::map<std::string, int> count_lines(const std::string& word) const;

    TemporaryFolder folder_;
    int cells_;
    std::string mark_ = Id128::random().hex();
    std::vector<std::string> run_options_;
};

/// SIGKILL to each of them, launchers first.
void kill_at_once(std::vector<Process> processes);

} // namespace tessera::test
