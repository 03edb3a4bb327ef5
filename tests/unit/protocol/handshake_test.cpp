#include <tessera/protocol/codec.hpp>
#include <tessera/protocol/handshake.hpp>
#include <tessera/protocol/in_process_transport.hpp>

#include <doctest/doctest.h>

#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace tessera;

namespace {

constexpr Duration long_enough = std::chrono::seconds(20);

Id128 campaign(std::uint8_t number) {
    Id128 id;
    id.bytes[0] = number;
    return id;
}

HandshakeTerms terms() {
    return {.version = protocol_version, .build = "1.0", .campaign_id = campaign(1), .host = "node-0"};
}

Hello hello(const std::string& host) {
    Hello greeting;
    greeting.build = "1.0";
    greeting.campaign_id = campaign(1);
    greeting.node.node = host;
    greeting.node.host = host;
    greeting.node.boot_id = "boot of " + host;
    return greeting;
}

bool mentions(const std::vector<std::string>& problems, const std::vector<std::string>& words) {
    if (problems.size() != 1) return false;
    for (const std::string& word : words)
        if (problems[0].find(word) == std::string::npos) return false;
    return true;
}

} // namespace

TEST_CASE("a collector is complete when every peer has spoken") {
    HelloCollector collector(terms(), {1, 2});
    CHECK_FALSE(collector.is_complete());
    collector.take(2, hello("node-2"));
    CHECK(collector.waiting() == std::vector<PeerId>{1});
    collector.take(1, hello("node-1"));
    CHECK(collector.is_complete());
    CHECK(collector.problems().empty());
    CHECK(collector.hellos().at(1) == hello("node-1"));
    CHECK(collector.hellos().at(2) == hello("node-2"));
}

TEST_CASE("a peer on other terms is a problem that names both hosts") {
    Hello greeting = hello("node-7");
    std::string word;
    SUBCASE("protocol") {
        greeting.version = 99;
        word = "protocol 99";
    }
    SUBCASE("build") {
        greeting.build = "0.9";
        word = "build 0.9";
    }
    SUBCASE("campaign") {
        greeting.campaign_id = campaign(2);
        word = "campaign";
    }
    HelloCollector collector(terms(), {7});
    collector.take(7, greeting);
    CHECK(collector.is_complete());
    CHECK(collector.hellos().empty());
    CHECK(mentions(collector.problems(), {"rank 7", "node-7", "node-0", word}));
}

TEST_CASE("two machines that call themselves by one name are a problem, two ranks of one machine are not") {
    HelloCollector collector(terms(), {1, 2, 3});
    Hello other = hello("node-1");
    collector.take(1, other);
    collector.take(2, other);
    CHECK(collector.problems().empty());
    other.node.boot_id = "another boot";
    other.node.host = "twin";
    collector.take(3, other);
    CHECK(mentions(collector.problems(), {"rank 3", "twin", "node-1"}));
}

TEST_CASE("what is not a greeting is a problem") {
    HelloCollector collector(terms(), {1, 2});
    collector.take(1, Heartbeat{});
    CHECK(mentions(collector.problems(), {"rank 1", "node-0"}));
    collector.take_unreadable(2, "garbage");
    CHECK(collector.is_complete());
    CHECK(collector.problems().size() == 2);
}

TEST_CASE("controller and workers come together") {
    auto star = in_process_star({0, 1, 2});
    std::vector<std::thread> workers;
    std::vector<Welcome> welcomes(3);
    for (std::size_t i = 1; i <= 2; ++i) {
        workers.emplace_back([&welcomes, i, worker = std::move(star[i])] {
            welcomes[i] = introduce(*worker, SystemClock(), hello("node-" + std::to_string(i)), long_enough);
            worker->close(Duration::zero());
        });
    }
    const auto hellos = collect_hellos(*star[0], SystemClock(), terms(), long_enough);
    CHECK(hellos.at(2).node.host == "node-2");
    for (const auto& [peer, greeting] : hellos) {
        Welcome welcome;
        welcome.worker = peer;
        star[0]->send(peer, encode_message(welcome));
    }
    for (std::thread& worker : workers)
        worker.join();
    CHECK(welcomes[1].worker == 1);
    CHECK(welcomes[2].worker == 2);
}

TEST_CASE("one mismatch refuses all, and everyone is told why") {
    auto star = in_process_star({0, 1, 2});
    star[1]->send(0, encode_message(hello("node-1")));
    Hello odd = hello("node-2");
    odd.build = "0.9";
    star[2]->send(0, encode_message(odd));
    CHECK_THROWS_AS(collect_hellos(*star[0], SystemClock(), terms(), long_enough), HandshakeError);
    for (std::size_t i = 1; i <= 2; ++i) {
        const auto answer = star[i]->receive();
        REQUIRE(answer);
        const Message message = decode_message(answer->bytes, "controller");
        REQUIRE(std::holds_alternative<Refuse>(message));
        CHECK(mentions({std::get<Refuse>(message).reason}, {"node-2", "build 0.9", "node-0"}));
    }
}

TEST_CASE("silent and unreadable peers are named") {
    auto star = in_process_star({0, 1, 2});
    star[2]->send(0, "not of this protocol");
    try {
        collect_hellos(*star[0], SystemClock(), terms(), std::chrono::milliseconds(1));
        FAIL("rank 1 was silent");
    } catch (const HandshakeError& error) {
        REQUIRE(error.problems.size() == 2);
        CHECK(mentions({error.problems[0]}, {"rank 2", "cannot be understood"}));
        CHECK(mentions({error.problems[1]}, {"rank 1", "did not report"}));
    }
}

TEST_CASE("a worker is told the controller's refusal, its silence and its end") {
    auto star = in_process_star({0, 1});
    CHECK_THROWS_WITH_AS(introduce(*star[1], SystemClock(), hello("node-1"), Duration::zero()),
                         doctest::Contains("did not answer"), HandshakeError);
    star[0]->send(1, encode_message(Refuse{"wrong build on node-1"}));
    CHECK_THROWS_WITH_AS(introduce(*star[1], SystemClock(), hello("node-1"), long_enough),
                         "wrong build on node-1", HandshakeError);
    star[0]->send(1, "\xff garbage");
    CHECK_THROWS_AS(introduce(*star[1], SystemClock(), hello("node-1"), long_enough), HandshakeError);
    star[0].reset();
    CHECK_THROWS_WITH_AS(introduce(*star[1], SystemClock(), hello("node-1"), long_enough),
                         doctest::Contains("ended"), HandshakeError);
}
