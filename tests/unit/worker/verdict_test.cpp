#include <tessera/worker/verdict.hpp>

#include <doctest/doctest.h>

#include <cerrno>
#include <csignal>
#include <string>
#include <vector>

using namespace tessera;

namespace {

StepSpec step() {
    StepSpec spec;
    spec.argv = {"train"};
    spec.timeout_s = 30;
    return spec;
}

EndedReport exited(int code) {
    EndedReport report;
    report.exit_code = code;
    return report;
}

EndedReport signalled(int signal) {
    EndedReport report;
    report.signal = signal;
    return report;
}

bool says(const Verdict& verdict, std::string_view text) {
    CAPTURE(verdict.message);
    return verdict.message.find(text) != std::string::npos;
}

} // namespace

TEST_CASE("success") {
    const Verdict verdict = judge(exited(0), step(), "");
    CHECK(verdict.kind == OutcomeKind::succeeded);
    CHECK(verdict.failure == FailureClass::none);
    CHECK(verdict.message.empty());
}

TEST_CASE("exit codes and the last line of the output") {
    EndedReport report = exited(3);
    report.stderr_tail = "Traceback\nValueError: \x1b[31mbad\x90 value\r\n\n";
    const Verdict verdict = judge(report, step(), "");
    CHECK(verdict.kind == OutcomeKind::failed);
    CHECK(verdict.failure == FailureClass::exit);
    CHECK(says(verdict, "exit code 3; last line of stderr: ValueError:"));
    CHECK(verdict.message.find('\x1b') == std::string::npos);
    CHECK(verdict.message.find('\x90') == std::string::npos);
    report.stderr_tail.clear();
    report.stdout_tail = "giving up\n";
    CHECK(says(judge(report, step(), ""), "stderr is empty; last line of stdout: giving up"));
}

TEST_CASE("signals") {
    const Verdict verdict = judge(signalled(SIGSEGV), step(), "");
    CHECK(verdict.failure == FailureClass::crash);
    CHECK(says(verdict, "killed by signal 11 (Segmentation fault)"));
    CHECK_FALSE(may_be_preemption(signalled(SIGSEGV)));
    CHECK(may_be_preemption(signalled(SIGTERM)));
    CHECK(may_be_preemption(signalled(SIGKILL)));
    CHECK_FALSE(may_be_preemption(exited(1)));
    EndedReport ours = signalled(SIGKILL);
    ours.kill_sent = true;
    CHECK_FALSE(may_be_preemption(ours));
}

TEST_CASE("timeouts") {
    EndedReport report =
        exited(0); // the process ended in order when it was asked to; it was too late all the same
    report.timed_out = true;
    Verdict verdict = judge(report, step(), "");
    CHECK(verdict.kind == OutcomeKind::timed_out);
    CHECK(verdict.failure == FailureClass::timeout);
    CHECK(says(verdict, "timed out after 30"));
    report.kill_sent = true;
    report.stopped = true;
    verdict = judge(report, step(), "");
    CHECK(verdict.failure == FailureClass::timeout);
    CHECK(says(verdict, "grace time"));
}

TEST_CASE("stops") {
    EndedReport report = exited(0);
    report.stopped = true;
    CHECK(judge(report, step(), "").kind == OutcomeKind::preempted);
    CHECK(judge(report, step(), "").failure == FailureClass::preempted);
}

TEST_CASE("out of memory") {
    EndedReport report = signalled(SIGKILL);
    CHECK(judge(report, step(), "").failure == FailureClass::crash);
    report.oom = OomEvidence::cgroup;
    Verdict verdict = judge(report, step(), "");
    CHECK(verdict.kind == OutcomeKind::failed);
    CHECK(verdict.failure == FailureClass::out_of_memory);
    CHECK_FALSE(may_be_preemption(report));
    report.oom = OomEvidence::machine;
    CHECK(says(judge(report, step(), ""), "probably out of memory"));
    report = exited(137);
    report.oom = OomEvidence::cgroup;
    CHECK(judge(report, step(), "").failure == FailureClass::out_of_memory);
    report = exited(1);
    report.oom = OomEvidence::cgroup;
    verdict = judge(report, step(), "");
    CHECK(verdict.failure == FailureClass::exit);
    CHECK(says(verdict, "out-of-memory kills"));
}

TEST_CASE("starts that fail") {
    struct Case {
        SpawnStage stage;
        int error;
        FailureClass failure;
        const char* text;
    };

    for (const Case& item :
         std::vector<Case>{{SpawnStage::exec, ENOENT, FailureClass::verdict,
                            "command not found: 'train' is in none of the folders of PATH (/a:/b)"},
                           {SpawnStage::exec, EACCES, FailureClass::verdict, "chmod +x"},
                           {SpawnStage::exec, ENOEXEC, FailureClass::verdict, "#!/bin/sh"},
                           {SpawnStage::exec, E2BIG, FailureClass::verdict, "too long"},
                           {SpawnStage::interpreter, ENOENT, FailureClass::verdict, "interpreter"},
                           {SpawnStage::exec, ENOMEM, FailureClass::spawn, "memory"},
                           {SpawnStage::resources, EMFILE, FailureClass::spawn, "ulimit -n"},
                           {SpawnStage::fork, EAGAIN, FailureClass::spawn, "cannot start a process"},
                           {SpawnStage::folder, ENOENT, FailureClass::spawn, "folder"}}) {
        CAPTURE(item.text);
        EndedReport report;
        report.failed_stage = item.stage;
        report.failed_errno = item.error;
        const Verdict verdict = judge(report, step(), "/a:/b");
        CHECK(verdict.kind == OutcomeKind::failed);
        CHECK(verdict.failure == item.failure);
        CHECK(says(verdict, item.text));
    }
}
