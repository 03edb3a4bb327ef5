#include <tessera/protocol/simulated_transport.hpp>

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

using namespace tessera;

namespace {

/// Ten messages from each of three workers; what the controller saw, in order.
std::vector<std::string> arrivals(std::uint64_t seed) {
    VirtualClock clock;
    SimulatedNetwork network(clock, seed);
    const auto controller = network.endpoint(0);
    std::vector<std::unique_ptr<Transport>> workers;
    for (PeerId id = 1; id <= 3; ++id)
        workers.push_back(network.endpoint(id));
    for (int i = 0; i < 10; ++i)
        for (const auto& worker : workers)
            worker->send(0, std::to_string(worker->self()) + ":" + std::to_string(i));
    std::vector<std::string> seen;
    do {
        while (auto message = controller->receive())
            seen.push_back(message->bytes);
    } while (network.advance());
    return seen;
}

} // namespace

TEST_CASE("a seed gives one order, another seed another") {
    CHECK(arrivals(1) == arrivals(1));
    CHECK(arrivals(1) != arrivals(2));
}

TEST_CASE("messages overtake those of other peers but never their own peer's") {
    std::map<char, int> next;
    bool overtaken = false;
    char last = '0';
    for (const std::string& message : arrivals(3)) {
        CHECK(message.substr(2) == std::to_string(next[message[0]]++));
        overtaken = overtaken || message[0] < last;
        last = message[0];
    }
    CHECK(next == std::map<char, int>{{'1', 10}, {'2', 10}, {'3', 10}});
    CHECK(overtaken);
}

TEST_CASE("nothing arrives before its delay is over") {
    VirtualClock clock;
    SimulatedNetwork network(clock, 1, {std::chrono::milliseconds(5), std::chrono::milliseconds(5)});
    const auto controller = network.endpoint(0);
    const auto worker = network.endpoint(1);
    const Moment sent = clock.now();
    worker->send(0, "hello");
    CHECK_FALSE(controller->receive());
    CHECK(network.advance());
    CHECK(clock.now() - sent == std::chrono::milliseconds(5));
    CHECK(controller->receive()->bytes == "hello");
}

TEST_CASE("the clock moves to the earliest wish to be woken") {
    VirtualClock clock;
    SimulatedNetwork network(clock, 1);
    const auto controller = network.endpoint(0);
    const auto worker = network.endpoint(1);
    const Moment start = clock.now();
    controller->wait({}, std::chrono::seconds(3));
    worker->wait({}, std::chrono::seconds(2));
    CHECK(network.advance());
    CHECK(clock.now() - start == std::chrono::seconds(2));
    CHECK(network.advance());
    CHECK(clock.now() - start == std::chrono::seconds(3));
    CHECK_FALSE(network.advance());
}

TEST_CASE("a lost peer's messages vanish, and the others learn of it if the network can tell") {
    for (const bool noticed : {false, true}) {
        VirtualClock clock;
        SimulatedNetwork network(clock, 7);
        const auto controller = network.endpoint(0);
        const auto worker = network.endpoint(1);
        for (int i = 0; i < 100; ++i)
            worker->send(0, std::to_string(i));
        network.lose(1, noticed);
        worker->send(0, "from the grave");
        controller->send(1, "to the grave");
        int seen = 0;
        do {
            while (auto message = controller->receive())
                CHECK(message->bytes == std::to_string(seen++));
        } while (network.advance());
        CHECK(seen < 100);
        CHECK(controller->lost_peers() == (noticed ? std::vector<PeerId>{1} : std::vector<PeerId>{}));
    }
}
