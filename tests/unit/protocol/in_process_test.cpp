#include <tessera/base/fd.hpp>
#include <tessera/protocol/composite_transport.hpp>
#include <tessera/protocol/in_process_transport.hpp>

#include <doctest/doctest.h>

#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <unistd.h>

using namespace tessera;

namespace {

constexpr Duration long_enough = std::chrono::seconds(20);

Incoming next(Transport& transport) {
    for (;;) {
        if (auto message = transport.receive()) return std::move(*message);
        transport.wait({}, long_enough);
    }
}

} // namespace

TEST_CASE("the hub and its peers exchange messages in order") {
    auto star = in_process_star({0, 1, 2});
    CHECK(star[0]->peers() == std::vector<PeerId>{1, 2});
    CHECK(star[2]->peers() == std::vector<PeerId>{0});
    star[1]->send(0, "a");
    star[1]->send(0, "b");
    star[0]->send(2, "c");
    CHECK(star[0]->receive()->bytes == "a");
    const Incoming second = *star[0]->receive();
    CHECK(second.from == 1);
    CHECK(second.bytes == "b");
    CHECK(star[2]->receive()->bytes == "c");
    CHECK_FALSE(star[2]->receive());
}

TEST_CASE("messages to strangers and to closed endpoints vanish") {
    auto star = in_process_star({0, 1, 2});
    star[1]->send(2, "peers talk to the hub alone");
    star[0]->send(9, "nobody");
    CHECK_FALSE(star[2]->receive());
    CHECK(star[1]->close(Duration::zero()));
    star[0]->send(1, "too late");
    CHECK_FALSE(star[1]->receive());
    CHECK(star[0]->lost_peers().empty());
}

TEST_CASE("a waiting endpoint is woken by a message from another thread") {
    auto star = in_process_star({0, 1});
    std::thread echo([worker = std::move(star[1])] {
        for (int i = 0; i < 1000; ++i)
            worker->send(0, next(*worker).bytes);
        worker->close(Duration::zero());
    });
    for (int i = 0; i < 1000; ++i) {
        star[0]->send(1, std::to_string(i));
        REQUIRE(next(*star[0]).bytes == std::to_string(i));
    }
    echo.join();
    CHECK(star[0]->lost_peers().empty());
}

TEST_CASE("many messages from several threads arrive whole and in each sender's order") {
    auto star = in_process_star({0, 1, 2, 3});
    std::vector<std::thread> senders;
    for (std::size_t peer = 1; peer <= 3; ++peer) {
        senders.emplace_back([worker = star[peer].get()] {
            for (int i = 0; i < 5000; ++i)
                worker->send(0, std::to_string(i));
        });
    }
    std::vector<int> seen(4, 0);
    for (int i = 0; i < 15000; ++i) {
        const Incoming message = next(*star[0]);
        REQUIRE(message.bytes == std::to_string(seen[message.from]++));
    }
    for (std::thread& sender : senders)
        sender.join();
}

TEST_CASE("wait ends when a descriptor is ready and says which") {
    auto star = in_process_star({0, 1});
    const Pipe pipe = make_pipe();
    REQUIRE(::write(pipe.write.get(), "x", 1) == 1);
    pollfd entry{pipe.read.get(), POLLIN, 0};
    star[0]->wait({&entry, 1}, long_enough);
    CHECK((entry.revents & POLLIN) != 0);
}

TEST_CASE("an endpoint destroyed without close is a lost peer and wakes the hub") {
    auto star = in_process_star({0, 1, 2});
    std::thread dying([worker = std::move(star[2])]() mutable { worker.reset(); });
    std::vector<PeerId> lost;
    while (lost.empty()) {
        star[0]->wait({}, long_enough);
        lost = star[0]->lost_peers();
    }
    dying.join();
    CHECK(lost == std::vector<PeerId>{2});
    CHECK(star[0]->lost_peers().empty());
}

TEST_CASE("a composite endpoint serves the remote peers and the local one") {
    auto far = in_process_star({0, 1});
    auto near = in_process_star({0, 2});
    CompositeTransport controller(*far[0], *near[0]);
    CHECK(controller.self() == 0);
    CHECK(controller.peers() == std::vector<PeerId>{1, 2});

    controller.send(1, "to the remote one");
    controller.send(2, "to the local one");
    CHECK(far[1]->receive()->bytes == "to the remote one");
    CHECK(near[1]->receive()->bytes == "to the local one");

    std::thread local([worker = near[1].get()] { worker->send(0, "from the local one"); });
    CHECK(next(controller).bytes == "from the local one");
    local.join();
    std::thread remote([worker = far[1].get()] { worker->send(0, "from the remote one"); });
    CHECK(next(controller).from == 1);
    remote.join();

    far[1].reset();
    CHECK(controller.lost_peers() == std::vector<PeerId>{1});
    CHECK(controller.close(Duration::zero()));
}

TEST_CASE("neither side of a composite endpoint starves the other") {
    auto far = in_process_star({0, 1});
    auto near = in_process_star({0, 2});
    CompositeTransport controller(*far[0], *near[0]);
    for (int i = 0; i < 10; ++i) {
        far[1]->send(0, "far");
        near[1]->send(0, "near");
    }
    int from_near = 0;
    for (int i = 0; i < 10; ++i)
        from_near += controller.receive()->from == 2 ? 1 : 0;
    CHECK(from_near == 5);
}
