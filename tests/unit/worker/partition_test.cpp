#include <tessera/worker/partition.hpp>

#include <doctest/doctest.h>

#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

using namespace tessera;

namespace {

std::vector<std::uint32_t> range(std::uint32_t begin, std::uint32_t end) {
    std::vector<std::uint32_t> cpus(end - begin);
    std::iota(cpus.begin(), cpus.end(), begin);
    return cpus;
}

NodeReport report(std::string node, std::vector<std::uint32_t> cpus, std::vector<std::string> devices = {}) {
    NodeReport result;
    result.node = node;
    result.host = node;
    result.cpus = std::move(cpus);
    result.memory_bytes = 1000;
    result.device_ids = devices;
    result.devices = std::move(devices);
    return result;
}

/// How often each device of each node was given, by identity.
std::map<std::string, int> given(const std::vector<NodeReport>& reports, const Partition& partition) {
    std::map<std::string, int> counts;
    for (std::size_t rank = 0; rank < reports.size(); ++rank) {
        if (!partition.shares[rank]) continue;
        for (const std::string& entry : partition.shares[rank]->devices)
            for (std::size_t i = 0; i < reports[rank].devices.size(); ++i)
                if (reports[rank].devices[i] == entry)
                    ++counts[reports[rank].node + ":" + reports[rank].device_ids[i]];
    }
    return counts;
}

void check_sound(const std::vector<NodeReport>& reports, const Partition& partition) {
    REQUIRE(partition.shares.size() == reports.size());
    for (std::size_t rank = 0; rank < reports.size(); ++rank) {
        if (!partition.shares[rank]) continue;
        const WorkerShare& share = *partition.shares[rank];
        CHECK(share.core_slots >= 1);
        const std::set<std::uint32_t> allowed(reports[rank].cpus.begin(), reports[rank].cpus.end());
        for (const std::uint32_t cpu : share.cpus)
            CHECK(allowed.count(cpu) == 1);
    }
    for (const auto& device : given(reports, partition)) {
        CAPTURE(device.first);
        CHECK(device.second == 1);
    }
}

} // namespace

TEST_CASE("one rank alone has everything") {
    const std::vector<NodeReport> reports = {report("n1", range(0, 4), {"0", "1"})};
    const Partition partition = partition_nodes(reports);
    check_sound(reports, partition);
    REQUIRE(partition.shares[0]);
    CHECK(partition.shares[0]->cpus == range(0, 4));
    CHECK(partition.shares[0]->core_slots == 4);
    CHECK(partition.shares[0]->devices == std::vector<std::string>{"0", "1"});
    CHECK(partition.shares[0]->memory_bytes == 1000);
    CHECK(partition.warnings.empty());
    CHECK_FALSE(partition_nodes(reports, {true}).shares[0]);
}

TEST_CASE("a controller with others on its node only controls") {
    const std::vector<NodeReport> reports = {report("n1", range(0, 8), {"0", "1"}),
                                             report("n1", range(0, 8), {"0", "1"}),
                                             report("n1", range(0, 8), {"0", "1"})};
    const Partition partition = partition_nodes(reports);
    check_sound(reports, partition);
    CHECK_FALSE(partition.shares[0]);
    CHECK(partition.shares[1]->cpus == range(0, 4));
    CHECK(partition.shares[2]->cpus == range(4, 8));
    CHECK(partition.shares[1]->devices == std::vector<std::string>{"0"});
    CHECK(partition.shares[2]->devices == std::vector<std::string>{"1"});
    CHECK(partition.shares[1]->memory_bytes == 500);
}

TEST_CASE("a controller alone on its node is a worker too") {
    const std::vector<NodeReport> reports = {report("n1", range(0, 4)), report("n2", range(0, 4))};
    CHECK(partition_nodes(reports).shares[0]);
    CHECK(partition_nodes(reports).shares[1]->cpus == range(0, 4));
    CHECK_FALSE(partition_nodes(reports, {true}).shares[0]);
}

TEST_CASE("one rank a node and one a device both give each device once") {
    SUBCASE("one a node") {
        const std::vector<NodeReport> reports = {report("n1", range(0, 64), {"0", "1", "2", "3"}),
                                                 report("n2", range(0, 64), {"0", "1", "2", "3"})};
        const Partition partition = partition_nodes(reports);
        check_sound(reports, partition);
        CHECK(given(reports, partition).size() == 8);
        CHECK(partition.shares[1]->devices.size() == 4);
    }
    SUBCASE("one a device, all visible to all") {
        std::vector<NodeReport> reports;
        for (int rank = 0; rank < 8; ++rank)
            reports.push_back(report(rank < 4 ? "n1" : "n2", range(0, 64), {"0", "1", "2", "3"}));
        const Partition partition = partition_nodes(reports);
        check_sound(reports, partition);
        CHECK(given(reports, partition).size() == 8);
        CHECK_FALSE(partition.shares[0]);
        for (std::size_t rank = 4; rank < 8; ++rank)
            CHECK(partition.shares[rank]->devices.size() == 1);
    }
    SUBCASE("one a device, each sees its own as 0") {
        std::vector<NodeReport> reports;
        for (std::uint32_t rank = 0; rank < 4; ++rank) {
            reports.push_back(report("n1", range(16 * rank, 16 * rank + 16), {"0"}));
            reports.back().device_ids = {std::to_string(rank)};
        }
        const Partition partition = partition_nodes(reports);
        check_sound(reports, partition);
        CHECK(given(reports, partition).size() == 4);
        REQUIRE(partition.shares[0]); // nobody else reaches device 0
        CHECK(partition.shares[0]->devices == std::vector<std::string>{"0"});
        CHECK(partition.warnings.empty());

        const Partition without = partition_nodes(reports, {true});
        check_sound(reports, without);
        CHECK_FALSE(without.shares[0]);
        REQUIRE(without.warnings.size() == 1);
        CHECK(without.warnings[0].find("1 device(s) stay unused") == 0);
    }
}

TEST_CASE("equal identities are one device, whatever its entries are called") {
    std::vector<NodeReport> reports = {report("n1", range(0, 4)), report("n1", range(0, 4), {"0", "1"}),
                                       report("n1", range(0, 4), {"GPU-b", "GPU-a"})};
    reports[1].device_ids = {"GPU-a", "GPU-b"};
    const Partition partition = partition_nodes(reports);
    check_sound(reports, partition);
    CHECK(given(reports, partition).size() == 2);
    CHECK(partition.shares[1]->devices == std::vector<std::string>{"0"});
    CHECK(partition.shares[2]->devices == std::vector<std::string>{"GPU-b"});
}

TEST_CASE("the same entry on two nodes is two devices") {
    const std::vector<NodeReport> reports = {report("n1", range(0, 2), {"0"}),
                                             report("n2", range(0, 2), {"0"})};
    const Partition partition = partition_nodes(reports);
    CHECK(partition.shares[0]->devices.size() == 1);
    CHECK(partition.shares[1]->devices.size() == 1);
}

TEST_CASE("an entry that is there twice is one device") {
    const std::vector<NodeReport> reports = {report("n1", range(0, 2), {"0", "0"})};
    CHECK(partition_nodes(reports).shares[0]->devices == std::vector<std::string>{"0"});
}

TEST_CASE("devices stay with their neighbours") {
    std::vector<NodeReport> reports = {report("n0", range(0, 2))};
    for (int rank = 0; rank < 2; ++rank) {
        reports.push_back(report("n1", range(0, 32), {"0", "1", "2", "3"}));
        reports.back().device_locality = {1, 0, 1, 0};
    }
    const Partition partition = partition_nodes(reports);
    check_sound(reports, partition);
    CHECK(partition.shares[1]->devices == std::vector<std::string>{"1", "3"});
    CHECK(partition.shares[2]->devices == std::vector<std::string>{"0", "2"});
}

TEST_CASE("even numbers of devices") {
    for (std::size_t workers = 1; workers <= 6; ++workers) {
        for (int devices = 0; devices <= 9; ++devices) {
            CAPTURE(workers);
            CAPTURE(devices);
            std::vector<std::string> entries;
            for (int i = 0; i < devices; ++i)
                entries.push_back(std::to_string(i));
            std::vector<NodeReport> reports = {report("n0", range(0, 2))};
            for (std::size_t i = 0; i < workers; ++i)
                reports.push_back(report("n1", range(0, 12), entries));
            const Partition partition = partition_nodes(reports);
            check_sound(reports, partition);
            CHECK(given(reports, partition).size() == static_cast<std::size_t>(devices));
            std::size_t least = 100;
            std::size_t most = 0;
            std::set<std::uint32_t> cpus;
            for (std::size_t i = 1; i <= workers; ++i) {
                least = std::min(least, partition.shares[i]->devices.size());
                most = std::max(most, partition.shares[i]->devices.size());
                cpus.insert(partition.shares[i]->cpus.begin(), partition.shares[i]->cpus.end());
            }
            CHECK(most - least <= 1);
            CHECK(cpus.size() == 12);
        }
    }
}

TEST_CASE("masks that are apart stay as they are") {
    const std::vector<NodeReport> reports = {report("n0", {0}), report("n1", {0, 1}), report("n1", {2, 3})};
    const Partition partition = partition_nodes(reports);
    CHECK(partition.shares[1]->cpus == range(0, 2));
    CHECK(partition.shares[2]->cpus == range(2, 4));
}

TEST_CASE("masks that overlap in part are divided") {
    const std::vector<NodeReport> reports = {report("n0", {0}), report("n1", {0, 1, 2, 3}),
                                             report("n1", {2, 3})};
    const Partition partition = partition_nodes(reports);
    check_sound(reports, partition);
    CHECK(partition.shares[1]->cpus == range(0, 2));
    CHECK(partition.shares[2]->cpus == range(2, 4));
    CHECK(partition.warnings.empty());
}

TEST_CASE("more workers than cores share, with one warning") {
    std::vector<NodeReport> reports = {report("n0", {0})};
    for (const char* node : {"n1", "n2"})
        for (int i = 0; i < 5; ++i)
            reports.push_back(report(node, range(0, 2)));
    const Partition partition = partition_nodes(reports);
    check_sound(reports, partition);
    for (std::size_t rank = 1; rank < reports.size(); ++rank) {
        CHECK(partition.shares[rank]->cpus.size() == 1);
        CHECK(partition.shares[rank]->core_slots == 1);
        CHECK(partition.shares[rank]->memory_bytes == 200);
    }
    REQUIRE(partition.warnings.size() == 1);
    CHECK(partition.warnings[0].find("2 node(s)") != std::string::npos);
}

TEST_CASE("workers bound to one and the same core share it") {
    const std::vector<NodeReport> reports = {report("n0", {0}), report("n1", {3}), report("n1", {3}),
                                             report("n1", {3, 4})};
    const Partition partition = partition_nodes(reports);
    check_sound(reports, partition);
    for (std::size_t rank = 1; rank < reports.size(); ++rank)
        CHECK(partition.shares[rank]->cpus.size() == 1);
    CHECK(partition.shares[3]->cpus == range(4, 5));
    CHECK(partition.warnings.size() == 1);
}

TEST_CASE("no reports, and reports without CPUs") {
    CHECK(partition_nodes({}).shares.empty());
    const std::vector<NodeReport> reports = {report("n1", {})};
    const Partition partition = partition_nodes(reports);
    REQUIRE(partition.shares[0]);
    CHECK(partition.shares[0]->core_slots == 1);
    CHECK(partition.shares[0]->cpus.empty());
}
