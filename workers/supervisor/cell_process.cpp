#include <tessera/base/error.hpp>
#include <tessera/base/text.hpp>
#include <tessera/supervisor/cell_process.hpp>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <memory>
#include <string_view>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <vector>

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

namespace tessera {

namespace {

/// Everything that the child needs, made before vfork: between vfork and execve it may only make system
/// calls, because it runs in our memory.
struct Launch {
    char* const* argv = nullptr;
    char* const* env = nullptr;
    const char* const* candidates = nullptr; ///< paths to try, ended by a null pointer
    const char* folder = nullptr;
    int descriptors[3] = {-1, -1, -1};
    const cpu_set_t* cpus = nullptr;
    std::size_t cpus_bytes = 0;
    const char* oom_score_adj = nullptr;
    std::size_t oom_score_adj_bytes = 0;
    rlimit open_files{};
    pid_t supervisor = 0;
};

/// Written by the child into our memory.
struct ChildReport {
    SpawnStage stage = SpawnStage::none;
    int error = 0;
    bool bound = false;
};

void reset_signals() {
    struct sigaction action {};

    action.sa_handler = SIG_DFL;
    for (int signal = 1; signal < NSIG; ++signal)
        ::sigaction(signal, &action, nullptr);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

void raise_oom_score(const Launch& launch) {
    const int fd = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd < 0) return;
    // Failure leaves the score as it was, which is no reason not to run.
    [[maybe_unused]] const ssize_t written = ::write(fd, launch.oom_score_adj, launch.oom_score_adj_bytes);
    ::close(fd);
}

/// Tries the candidates in order as execvp(3) does, but never a shell. Returns only on failure, with its
/// errno.
int execute(const Launch& launch) {
    int result = ENOENT;
    for (const char* const* path = launch.candidates; *path != nullptr; ++path) {
        ::execve(*path, launch.argv, launch.env);
        if (errno == EACCES)
            result = EACCES;
        else if (errno != ENOENT && errno != ENOTDIR)
            return errno;
    }
    return result;
}

[[noreturn]] void run_child(const Launch& launch, volatile ChildReport& report) {
    ::setsid();
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != launch.supervisor) ::_exit(127); // it died before the line above
    reset_signals();
    for (int fd = 0; fd < 3; ++fd)
        ::dup2(launch.descriptors[fd], fd);
    if (launch.cpus != nullptr) report.bound = ::sched_setaffinity(0, launch.cpus_bytes, launch.cpus) == 0;
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    ::setrlimit(RLIMIT_NOFILE, &launch.open_files);
    raise_oom_score(launch);
    if (::chdir(launch.folder) != 0) {
        report.error = errno;
        report.stage = SpawnStage::folder;
        ::_exit(127);
    }
    report.error = execute(launch);
    report.stage = SpawnStage::exec;
    ::_exit(127);
}

/// In a function of its own, because a function that calls vfork must not be returned from by the child.
[[gnu::noinline]] pid_t vfork_child(const Launch& launch, volatile ChildReport& report) {
    const pid_t pid = ::vfork();
    if (pid == 0) run_child(launch, report);
    return pid;
}

std::vector<std::string> executable_candidates(const SpawnRequest& request) {
    const std::string& program = request.argv.front();
    if (program.find('/') != std::string::npos) return {program};
    constexpr std::string_view variable = "PATH=";
    std::vector<std::string> candidates;
    for (const std::string& entry : request.env) {
        if (entry.compare(0, variable.size(), variable) != 0) continue;
        for (const std::string& folder : split(std::string_view(entry).substr(variable.size()), ':'))
            candidates.push_back((folder.empty() ? "." : folder) + "/" + program);
        break;
    }
    return candidates;
}

std::vector<char*> pointers(const std::vector<std::string>& words) {
    std::vector<char*> result;
    result.reserve(words.size() + 1);
    for (const std::string& word : words)
        result.push_back(const_cast<char*>(word.c_str()));
    result.push_back(nullptr);
    return result;
}

/// An anonymous file: unlike a pipe it takes any amount of text at once, so nothing can block on a child that
/// never reads.
UniqueFd text_as_file(std::string_view text) {
    UniqueFd file(::memfd_create("stdin", MFD_CLOEXEC));
    if (!file) throw IoError("make", "stdin", errno);
    write_all(file.get(), text, "stdin");
    ::lseek(file.get(), 0, SEEK_SET);
    return file;
}

/// A set of any size: cpu_set_t alone ends at 1,024 CPUs.
class CpuMask {
public:
    explicit CpuMask(const std::vector<std::uint32_t>& cpus)
        : words_(cpus.empty() ? 0 : *std::max_element(cpus.begin(), cpus.end()) / bits + 1) {
        for (const std::uint32_t cpu : cpus)
            words_[cpu / bits] |= 1UL << (cpu % bits);
    }

    const cpu_set_t* set() const {
        return words_.empty() ? nullptr : reinterpret_cast<const cpu_set_t*>(words_.data());
    }

    std::size_t bytes() const { return words_.size() * sizeof(unsigned long); }

private:
    static constexpr std::size_t bits = 8 * sizeof(unsigned long);
    std::vector<unsigned long> words_;
};

/// execve says "no such file" also for a script whose interpreter is missing.
SpawnStage refine(SpawnStage stage, int error, const std::vector<std::string>& candidates,
                  const std::string& folder) {
    if (stage != SpawnStage::exec || error != ENOENT) return stage;
    for (const std::string& candidate : candidates) {
        struct stat status {};

        const std::string path = candidate.front() == '/' ? candidate : folder + "/" + candidate;
        if (::stat(path.c_str(), &status) == 0) return SpawnStage::interpreter;
    }
    return stage;
}

CellStart launch_cell(const SpawnRequest& request, const CellDefaults& defaults) {
    const UniqueFd input = request.stdin_text ? text_as_file(*request.stdin_text) : UniqueFd();
    Pipe output = make_pipe();
    Pipe error = make_pipe();
    const std::vector<char*> argv = pointers(request.argv);
    const std::vector<char*> env = pointers(request.env);
    const std::vector<std::string> candidates = executable_candidates(request);
    const std::vector<char*> candidate_pointers = pointers(candidates);
    const CpuMask cpus(request.cpus);
    const std::string score = std::to_string(defaults.oom_score_adj);

    Launch launch;
    launch.argv = argv.data();
    launch.env = env.data();
    launch.candidates = candidate_pointers.data();
    launch.folder = request.folder.c_str();
    launch.descriptors[0] = input ? input.get() : defaults.null_fd;
    launch.descriptors[1] = output.write.get();
    launch.descriptors[2] = error.write.get();
    launch.cpus = cpus.set();
    launch.cpus_bytes = cpus.bytes();
    launch.oom_score_adj = score.data();
    launch.oom_score_adj_bytes = score.size();
    launch.open_files = defaults.open_files;
    launch.supervisor = ::getpid();

    volatile ChildReport report;
    report.stage = SpawnStage::none;
    const pid_t pid = vfork_child(launch, report);
    if (pid < 0) return {std::nullopt, {SpawnStage::fork, errno}};
    if (report.stage != SpawnStage::none) {
        while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
        }
        return {std::nullopt, {refine(report.stage, report.error, candidates, request.folder), report.error}};
    }
    CellProcess process;
    process.pid = pid;
    process.bound = report.bound;
    process.standard_output = std::move(output.read);
    process.standard_error = std::move(error.read);
    return {std::move(process), {}};
}

} // namespace

CellStart start_cell(const SpawnRequest& request, const CellDefaults& defaults) {
    if (request.argv.empty() || request.argv.front().empty())
        return {std::nullopt, {SpawnStage::exec, ENOENT}};
    try {
        return launch_cell(request, defaults);
    } catch (const IoError& error) {
        return {std::nullopt, {SpawnStage::resources, error.code}};
    }
}

} // namespace tessera
