#include <tessera/base/error.hpp>
#include <tessera/journal/owner.hpp>

#include <doctest/doctest.h>

#include <csignal>
#include <sys/wait.h>

#include <unistd.h>

using namespace tessera;

namespace {

const std::string another_host = "another-host";
const std::string another_boot = "another boot";
const std::string another_namespace = "pid:[1]";
const std::string job = "7";

} // namespace

TEST_CASE("an owner reads back from its text") {
    OwnerInfo owner = this_process("part", 1'767'225'600'000'000'000);
    owner.job = std::to_string(88);
    owner.restart_count = 2;
    CHECK(parse_owner(to_text(owner), "test") == owner);
    CHECK(describe(owner).find("Slurm job 88") != std::string::npos);
    CHECK(describe(owner).find("since 2026-01-01T00:00:00Z") != std::string::npos);
    CHECK_THROWS_AS(parse_owner("", "test"), FormatError);
    CHECK_THROWS_AS(parse_owner("{\"part\":\"x\"}", "test"), FormatError);
    CHECK_THROWS_AS(parse_owner("[1,2]", "test"), FormatError);
}

TEST_CASE("a running process is alive and one with another start is gone") {
    const OwnerInfo self = this_process("part", 0);
    CHECK(owner_state(self, self) == OwnerState::alive);
    OwnerInfo reused = self;
    ++reused.pid_start;
    CHECK(owner_state(reused, self) == OwnerState::gone);
}

TEST_CASE("a dead process is gone, also before its parent has asked for it") {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        for (;;)
            ::pause();
    }
    OwnerInfo owner = this_process("part", 0);
    const OwnerInfo self = owner;
    owner.pid = child;
    // The child's start is not known here, so only its end can be told: both ways must say gone.
    ::kill(child, SIGKILL);
    siginfo_t info{};
    REQUIRE(::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT) == 0);
    CHECK(owner_state(owner, self) == OwnerState::gone);
    ::waitpid(child, nullptr, 0);
    CHECK(owner_state(owner, self) == OwnerState::gone);
}

TEST_CASE("other boots, hosts, namespaces and job restarts") {
    const OwnerInfo self = this_process("part", 0);
    OwnerInfo owner = self;
    owner.boot_id = another_boot;
    CHECK(owner_state(owner, self) == OwnerState::gone);
    owner.host = another_host;
    CHECK(owner_state(owner, self) == OwnerState::unknown);
    owner.boot_id.clear();
    CHECK(owner_state(owner, self) == OwnerState::unknown);

    owner = self;
    owner.pid_namespace = another_namespace;
    CHECK(owner_state(owner, self) == OwnerState::unknown);

    OwnerInfo requeued = self;
    requeued.job = job;
    requeued.restart_count = 1;
    owner.host = another_host;
    owner.boot_id = another_boot;
    owner.job = job;
    CHECK(owner_state(owner, requeued) == OwnerState::gone);
    owner.restart_count = 1;
    CHECK(owner_state(owner, requeued) == OwnerState::unknown);
}
