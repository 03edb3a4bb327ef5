#include <tessera/base/error.hpp>
#include <tessera/base/fd.hpp>
#include <tessera/supervisor/supervisor_protocol.hpp>

#include <doctest/doctest.h>

#include <string>
#include <sys/socket.h>

using namespace tessera;

namespace {

struct SocketPair {
    SocketPair() {
        int ends[2];
        REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
        left = UniqueFd(ends[0]);
        right = UniqueFd(ends[1]);
    }

    UniqueFd left;
    UniqueFd right;
};

} // namespace

TEST_CASE("requests survive the way") {
    SpawnRequest spawn;
    spawn.ticket = 7;
    spawn.attempt = "part/step-1";
    spawn.argv = {"a", "", std::string("with\0zero", 9)};
    spawn.env = {"A=1"};
    spawn.folder = "/f";
    spawn.cpus = {0, 300};
    spawn.stdin_text = "";
    spawn.stdout_path = "/o";
    spawn.stderr_path = "/e";
    spawn.log_limit_bytes = 1ULL << 40U;
    spawn.timeout_s = 1.5;
    spawn.grace_s = 0;
    for (const SupervisorRequest& request :
         {SupervisorRequest(spawn), SupervisorRequest(StopRequest{3, true}),
          SupervisorRequest(SweepRequest{4, "x", 2.5}), SupervisorRequest(ShutdownRequest{})})
        CHECK(decode_request(encode(request)) == request);
}

TEST_CASE("reports survive the way") {
    EndedReport ended;
    ended.ticket = 9;
    ended.failed_stage = SpawnStage::interpreter;
    ended.failed_errno = 2;
    ended.exit_code = 0;
    ended.signal = 15;
    ended.timed_out = true;
    ended.stopped = true;
    ended.kill_sent = true;
    ended.oom = OomEvidence::machine;
    ended.duration_s = 1;
    ended.user_s = 2;
    ended.system_s = 3;
    ended.max_rss_bytes = 4;
    ended.leaked_processes = 5;
    ended.standard_output = {6, true, "full"};
    ended.standard_error = {7, false, ""};
    ended.stderr_tail = std::string("\0\xff", 2);
    ended.stdout_tail = "t";
    for (const SupervisorReport& report :
         {SupervisorReport(StartedReport{1, 2, true}),
          SupervisorReport(OutputLimitReport{1, OutputStream::standard_error}), SupervisorReport(ended)})
        CHECK(decode_report(encode(report)) == report);
}

TEST_CASE("damaged payloads are refused") {
    CHECK_THROWS_AS(decode_request(""), FormatError);
    CHECK_THROWS_AS(decode_report(""), FormatError);
    CHECK_THROWS_AS(decode_request("\x0a\x7f"), FormatError);
}

TEST_CASE("frames arrive whole and in order, in whatever pieces") {
    const SocketPair sockets;
    FrameWriter writer;
    FrameReader reader;
    CHECK(writer.empty());
    const std::string large(5'000'000, 'x');
    writer.push("one");
    writer.push(large);
    writer.push("");
    std::vector<std::string> got;
    bool stalled = false;
    while (got.size() < 3) {
        REQUIRE(writer.flush(sockets.left.get()));
        stalled = stalled || !writer.empty();
        REQUIRE(reader.fill(sockets.right.get()));
        while (auto payload = reader.next())
            got.push_back(std::move(*payload));
    }
    CHECK(stalled);
    CHECK(got[0] == "one");
    CHECK((got[1] == large));
    CHECK(got[2].empty());
    CHECK(writer.empty());
}

TEST_CASE("an absurd length and a closed socket") {
    SocketPair sockets;
    FrameReader reader;
    REQUIRE(::send(sockets.left.get(), "\xff\xff\xff\xff", 4, 0) == 4);
    REQUIRE(reader.fill(sockets.right.get()));
    CHECK_THROWS_AS(reader.next(), FormatError);
    sockets.left.reset();
    CHECK_FALSE(reader.fill(sockets.right.get()));
    FrameWriter writer;
    writer.push("lost");
    CHECK_FALSE(writer.flush(sockets.right.get()));
}
