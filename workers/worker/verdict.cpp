#include <tessera/base/text.hpp>
#include <tessera/worker/verdict.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <vector>

namespace tessera {

namespace {

constexpr std::size_t longest_quote_bytes = 300;

/// The last line with something on it, fit for a terminal.
std::string last_line(std::string_view tail) {
    const std::size_t end = tail.find_last_not_of(" \t\r\n");
    if (end == std::string_view::npos) return {};
    tail = tail.substr(0, end + 1);
    const std::size_t begin = tail.find_last_of("\r\n");
    if (begin != std::string_view::npos) tail.remove_prefix(begin + 1);
    if (tail.size() > longest_quote_bytes) tail.remove_prefix(tail.size() - longest_quote_bytes);
    std::string line = repair_utf8(tail);
    std::replace_if(
        line.begin(), line.end(),
        [](char byte) { return static_cast<unsigned char>(byte) < 0x20 || byte == 0x7F; }, ' ');
    return line;
}

std::string with_last_line(std::string message, const EndedReport& report) {
    if (const std::string line = last_line(report.stderr_tail); !line.empty())
        return fmt::format("{}; last line of stderr: {}", message, line);
    if (const std::string line = last_line(report.stdout_tail); !line.empty())
        return fmt::format("{}; stderr is empty; last line of stdout: {}", message, line);
    return message;
}

std::string signal_text(int signal) {
    return fmt::format("signal {} ({})", signal, ::strsignal(signal));
}

/// Errors that another try, later or elsewhere, may not meet.
bool is_lack(int error) {
    constexpr std::array lacks = {EMFILE, ENFILE, EAGAIN, ENOMEM, ETXTBSY, EIO, ESTALE, EINTR};
    return std::find(lacks.begin(), lacks.end(), error) != lacks.end();
}

std::string not_found(const std::string& program, std::string_view path) {
    if (program.find('/') != std::string::npos)
        return fmt::format(
            "cannot run {}: there is no such file; correct the command or make the file on every node",
            program);
    return fmt::format("command not found: '{}' is in none of the folders of PATH ({}); install it there or "
                       "set PATH in [env]",
                       program, path);
}

std::string spawn_message(const EndedReport& report, const StepSpec& spec, std::string_view path) {
    const std::string program = spec.argv.empty() ? std::string() : spec.argv.front();
    const char* const reason = std::strerror(report.failed_errno);
    if (program.empty()) return "the command is empty";
    switch (report.failed_stage) {
    case SpawnStage::interpreter:
        return fmt::format(
            "cannot run '{}': the interpreter that its first line (#!) or its program header names does "
            "not exist",
            program);
    case SpawnStage::folder:
        return fmt::format("cannot enter the attempt's folder: {}", reason);
    case SpawnStage::exec:
        break;
    default:
        return fmt::format("cannot start a process: {}{}", reason,
                           report.failed_errno == EMFILE ? "; raise the limit of open files (ulimit -n)"
                                                         : "");
    }
    switch (report.failed_errno) {
    case ENOENT:
        return not_found(program, path);
    case EACCES:
        return fmt::format("cannot run '{}': permission denied; make it executable (chmod +x)", program);
    case ENOEXEC:
        return fmt::format(
            "cannot run '{}': it is neither a program for this machine nor a script with a first line "
            "that names its interpreter (#!/bin/sh)",
            program);
    case E2BIG:
        return fmt::format("cannot run '{}': its arguments and environment are too long", program);
    default:
        return fmt::format("cannot run '{}': {}", program, reason);
    }
}

Verdict spawn_failure(const EndedReport& report, const StepSpec& spec, std::string_view path) {
    const bool final = report.failed_stage == SpawnStage::interpreter ||
                       (report.failed_stage == SpawnStage::exec && !is_lack(report.failed_errno));
    return {OutcomeKind::failed, final ? FailureClass::verdict : FailureClass::spawn,
            spawn_message(report, spec, path)};
}

std::string ending(const EndedReport& report) {
    if (report.signal) return "killed by " + signal_text(*report.signal);
    return fmt::format("exit code {}", report.exit_code.value_or(0));
}

std::string oom_message(const EndedReport& report, const StepSpec& spec) {
    const std::string asked =
        spec.resources.memory_bytes == 0
            ? std::string("the step asks for no memory; give it [resources] memory")
            : fmt::format("the step asks for {} MiB", spec.resources.memory_bytes >> 20U);
    if (report.oom == OomEvidence::cgroup)
        return fmt::format(
            "out of memory: {}, not sent by Tessera, while the out-of-memory kills of its memory cgroup "
            "rose ({})",
            ending(report), asked);
    return fmt::format(
        "probably out of memory: {}, not sent by Tessera, while the machine's count of out-of-memory kills "
        "rose; the cgroup's own could not tell ({})",
        ending(report), asked);
}

} // namespace

Verdict judge(const EndedReport& report, const StepSpec& spec, std::string_view path) {
    if (report.failed_stage != SpawnStage::none) return spawn_failure(report, spec, path);
    if (report.timed_out) {
        std::string message = fmt::format("timed out after {}", format_duration(spec.timeout_s.value_or(0)));
        if (report.kill_sent)
            message += fmt::format("; it did not end within the grace time of {} and was killed",
                                   format_duration(spec.grace_s));
        return {OutcomeKind::timed_out, FailureClass::timeout, with_last_line(message, report)};
    }
    if (report.stopped) return {OutcomeKind::preempted, FailureClass::preempted, "stopped before its end"};
    constexpr int killed_as_shells_say = 128 + SIGKILL;
    const bool killed = report.signal == SIGKILL || report.exit_code == killed_as_shells_say;
    if (killed && report.oom != OomEvidence::none)
        return {OutcomeKind::failed, FailureClass::out_of_memory, oom_message(report, spec)};
    if (!report.signal && report.exit_code.value_or(0) == 0) return {};
    std::string message = ending(report);
    // Its child may have been the victim, which the process then reported in its own way.
    if (report.oom == OomEvidence::cgroup)
        message += " (the out-of-memory kills of its memory cgroup rose meanwhile)";
    return {OutcomeKind::failed, report.signal ? FailureClass::crash : FailureClass::exit,
            with_last_line(message, report)};
}

bool may_be_preemption(const EndedReport& report) {
    constexpr std::array senders_signals = {SIGTERM, SIGKILL, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGXCPU};
    if (!report.signal || report.timed_out || report.stopped || report.kill_sent ||
        report.oom != OomEvidence::none)
        return false;
    return std::find(senders_signals.begin(), senders_signals.end(), *report.signal) != senders_signals.end();
}

} // namespace tessera
