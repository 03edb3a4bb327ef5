#include <tessera/worker/resource_pool.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

using namespace tessera;

namespace {

using Cpus = std::vector<std::uint32_t>;
using Devices = std::vector<std::string>;

Welcome owned(Cpus cpus, std::uint32_t core_slots, Devices devices = {}) {
    Welcome welcome;
    welcome.cpus = std::move(cpus);
    welcome.core_slots = core_slots;
    welcome.devices = std::move(devices);
    return welcome;
}

} // namespace

TEST_CASE("attempts get CPUs of their own and give them back") {
    ResourcePool pool(owned({4, 5, 6}, 3));
    const Placement first = pool.take({.cores = 2});
    const Placement second = pool.take({.cores = 1});
    CHECK(first.cpus == Cpus{4, 5});
    CHECK(second.cpus == Cpus{6});
    CHECK_FALSE(pool.has_free_core());
    CHECK_FALSE(pool.fits({.cores = 1}));
    pool.release({.cores = 2}, first);
    CHECK(pool.fits({.cores = 2}));
    CHECK(pool.take({.cores = 2}).cpus == Cpus{4, 5});
}

TEST_CASE("more slots than cores share the least used ones") {
    ResourcePool pool(owned({0, 1}, 4));
    CHECK(pool.take({}).cpus == Cpus{0});
    CHECK(pool.take({}).cpus == Cpus{1});
    CHECK(pool.take({.cores = 2}).cpus == Cpus{0, 1});
    CHECK_FALSE(pool.has_free_core());
}

TEST_CASE("without known CPUs attempts are not bound, but slots still count") {
    ResourcePool pool(owned({}, 1));
    CHECK(pool.take({}).cpus.empty());
    CHECK_FALSE(pool.fits({}));
}

TEST_CASE("a worker without a stated core slot has one") {
    ResourcePool pool(owned({}, 0));
    CHECK(pool.fits({.cores = 1}));
    CHECK(pool.fits({.cores = 0}));
}

TEST_CASE("memory that a worker does not know is not counted") {
    ResourcePool unknown(owned({}, 2));
    CHECK(unknown.fits({.cores = 1, .memory_bytes = UINT64_MAX}));
    CHECK(unknown.why_never({.cores = 1, .memory_bytes = UINT64_MAX}).empty());
    Welcome welcome = owned({}, 2);
    welcome.memory_bytes = 10;
    ResourcePool known(welcome);
    CHECK_FALSE(known.why_never({.cores = 1, .memory_bytes = 11}).empty());
    const Placement placement = known.take({.cores = 1, .memory_bytes = 10});
    CHECK_FALSE(known.fits({.cores = 1, .memory_bytes = 1}));
    known.release({.cores = 1, .memory_bytes = 10}, placement);
    CHECK(known.fits({.cores = 1, .memory_bytes = 10}));
}

TEST_CASE("devices of one NUMA node go together, with CPUs near to them") {
    const Welcome welcome = owned({0, 1, 2, 3}, 4, {"a", "b", "c", "d"});
    ResourcePool pool(welcome, {.cpu_nodes = {0, 0, 1, 1}, .device_nodes = {0, 1, 0, 1}});
    const Placement single = pool.take({.cores = 1, .memory_bytes = 0, .devices = 1});
    CHECK(single.devices == Devices{"a"});
    CHECK(single.cpus == Cpus{0});
    const Placement pair = pool.take({.cores = 2, .memory_bytes = 0, .devices = 2});
    CHECK(pair.devices == Devices{"b", "d"});
    CHECK(pair.cpus == Cpus{2, 3});
}

TEST_CASE("a single device is taken from the node that has the fewest left") {
    const Welcome welcome = owned({}, 4, {"a", "b", "c"});
    ResourcePool pool(welcome, {.cpu_nodes = {}, .device_nodes = {0, 0, 1}});
    CHECK(pool.take({.cores = 1, .memory_bytes = 0, .devices = 1}).devices == Devices{"c"});
    CHECK(pool.take({.cores = 1, .memory_bytes = 0, .devices = 2}).devices == Devices{"a", "b"});
}

TEST_CASE("a step's CPUs stay on one NUMA node where they can") {
    ResourcePool pool(owned({0, 1, 2, 3}, 4), {.cpu_nodes = {0, 1, 0, 1}, .device_nodes = {}});
    CHECK(pool.take({.cores = 2}).cpus == Cpus{0, 2});
}
