#include <tessera/base/fd.hpp>
#include <tessera/base/id.hpp>
#include <tessera/supervisor/cgroup.hpp>
#include <tessera/worker/device_locality.hpp>
#include <tessera/worker/inventory.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include <fcntl.h>

using namespace tessera;
namespace fs = std::filesystem;

namespace {

using Words = std::vector<std::string>;

/// A folder that stands for "/".
class FakeRoot {
public:
    FakeRoot()
        : path_((fs::temp_directory_path() / ("tessera-" + Id128::random().hex())).string()) {}

    ~FakeRoot() { fs::remove_all(path_); }

    FakeRoot(const FakeRoot&) = delete;
    FakeRoot& operator=(const FakeRoot&) = delete;

    void add(const std::string& file, const std::string& text) {
        fs::create_directories(fs::path(path_ + file).parent_path());
        write_all(open_file(path_ + file, O_WRONLY | O_CREAT | O_TRUNC).get(), text, file);
    }

    const std::string& path() const { return path_; }

private:
    std::string path_;
};

} // namespace

TEST_CASE("visibility lists") {
    CHECK(visible_entries("0,1,2") == Words{"0", "1", "2"});
    CHECK(visible_entries("").empty());
    CHECK(visible_entries("GPU-8932f937-d72c-4106-c12f-20bd9faed9f6, MIG-x") ==
          Words{"GPU-8932f937-d72c-4106-c12f-20bd9faed9f6", "MIG-x"});
    CHECK(visible_entries("0,0,1") == Words{"0", "1"});
    CHECK(visible_entries("1,-1,2") == Words{"1"});
    CHECK(visible_entries("1,,2") == Words{"1"});
    CHECK(visible_entries("NoDevFiles").empty());
    CHECK(visible_entries("all").empty());
}

TEST_CASE("index lists") {
    CHECK(parse_index_list("0-2,7") == std::vector<std::uint32_t>{0, 1, 2, 7});
    CHECK(parse_index_list("5") == std::vector<std::uint32_t>{5});
    for (const char* bad : {"", "a", "1-", "3-1", "1,,2", "1-2-3", "0-4294967295"}) {
        CAPTURE(bad);
        CHECK(parse_index_list(bad).empty());
    }
}

TEST_CASE("identities of devices") {
    CHECK(device_identities({"0", "1"}, "") == Words{"0", "1"});
    CHECK(device_identities({"0"}, "3") == Words{"3"});
    CHECK(device_identities({"0", "1"}, "2-3") == Words{"2", "3"});
    CHECK(device_identities({"0"}, "0,1,2,3") == Words{"0"});
    CHECK(device_identities({"GPU-a"}, "3") == Words{"GPU-a"});
}

TEST_CASE("this machine") {
    const Inventory inventory = take_inventory({"CUDA_VISIBLE_DEVICES=GPU-a,GPU-b"});
    CHECK_FALSE(inventory.report.cpus.empty());
    CHECK(inventory.report.memory_bytes > 1U << 20U);
    CHECK(inventory.report.boot_id.size() == 36);
    CHECK(inventory.report.node == inventory.report.host + "/" + inventory.report.boot_id);
    CHECK(inventory.report.devices == Words{"GPU-a", "GPU-b"});
    CHECK(inventory.report.device_ids == Words{"GPU-a", "GPU-b"});
    CHECK(inventory.visibility_variable == "CUDA_VISIBLE_DEVICES");
}

TEST_CASE("names of nodes") {
    CHECK(take_inventory({"SLURMD_NODENAME=n7", "POD_UID=u"}).report.node == "n7");
    CHECK(take_inventory({"POD_UID=u"}).report.node == "u");
    CHECK(take_inventory({"SLURMD_NODENAME=n7", "TESSERA_NODE=mine"}).report.node == "mine");
}

TEST_CASE("the variable of the profile is read") {
    InventoryOptions options;
    options.visibility_variable = "FAKE_DEVICES";
    const Inventory inventory = take_inventory({"FAKE_DEVICES=x,y", "CUDA_VISIBLE_DEVICES=0"}, options);
    CHECK(inventory.report.devices == Words{"x", "y"});
    CHECK(inventory.visibility_variable == "FAKE_DEVICES");
    CHECK(take_inventory({"CUDA_VISIBLE_DEVICES=", "HABANA_VISIBLE_MODULES=0"}).report.devices.empty());
    CHECK(take_inventory({"HABANA_VISIBLE_MODULES=4,5"}).visibility_variable == "HABANA_VISIBLE_MODULES");
}

TEST_CASE("cgroups of version 2") {
    FakeRoot root;
    root.add("/proc/self/cgroup", "0::/job/step\n");
    root.add("/sys/fs/cgroup/job/memory.max", "1000\n");
    root.add("/sys/fs/cgroup/job/step/memory.max", "max\n");
    root.add("/sys/fs/cgroup/job/step/memory.events", "low 0\noom 3\noom_kill 2\n");
    root.add("/sys/fs/cgroup/job/cpu.max", "250000 100000\n");
    root.add("/sys/fs/cgroup/job/step/cpu.max", "max 100000\n");
    root.add("/proc/vmstat", "pgfault 1\noom_kill 9\n");
    const Cgroup cgroup = Cgroup::of_this_process(root.path());
    CHECK(cgroup.memory_limit_bytes() == 1000);
    CHECK(cgroup.cpu_quota() == 2.5);
    CHECK(cgroup.oom_kills() == 2);
    CHECK(cgroup.machine_oom_kills() == 9);
}

TEST_CASE("cgroups of version 1, seen from a container") {
    FakeRoot root;
    root.add("/proc/self/cgroup", "5:memory:/docker/abc\n4:cpu,cpuacct:/\n0::/\n");
    root.add("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    root.add("/sys/fs/cgroup/memory/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 4\n");
    root.add("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
    root.add("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    const Cgroup cgroup = Cgroup::of_this_process(root.path());
    CHECK_FALSE(cgroup.memory_limit_bytes().has_value());
    CHECK_FALSE(cgroup.cpu_quota().has_value());
    CHECK(cgroup.oom_kills() == 4);
    root.add("/sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes", "4096\n");
    CHECK(Cgroup::of_this_process(root.path()).memory_limit_bytes() == 4096);
}

TEST_CASE("no cgroups at all") {
    const FakeRoot root;
    const Cgroup cgroup = Cgroup::of_this_process(root.path());
    CHECK_FALSE(cgroup.memory_limit_bytes().has_value());
    CHECK_FALSE(cgroup.cpu_quota().has_value());
    CHECK_FALSE(cgroup.oom_kills().has_value());
    CHECK_FALSE(cgroup.machine_oom_kills().has_value());
}

TEST_CASE("limits of the cgroup reach the report") {
    FakeRoot root;
    root.add("/proc/self/cgroup", "0::/\n");
    root.add("/sys/fs/cgroup/memory.max", "5000\n");
    root.add("/sys/fs/cgroup/cpu.max", "50000 100000\n");
    root.add("/proc/meminfo", "MemTotal: 16 kB\nMemAvailable:   8 kB\n");
    InventoryOptions options;
    options.root = root.path();
    const NodeReport limited = take_inventory({}, options).report;
    CHECK(limited.memory_bytes == 5000);
    CHECK(limited.cpus.size() == 1);
    root.add("/sys/fs/cgroup/memory.max", "max\n");
    CHECK(take_inventory({}, options).report.memory_bytes == 8192);
}

TEST_CASE("NVIDIA's driver lists devices in the order of the bus") {
    FakeRoot root;
    CHECK(nvidia_devices(root.path()).empty());
    root.add("/proc/driver/nvidia/gpus/0000:9a:00.0/information",
             "Model: \t\t NVIDIA H200\nGPU UUID: \t GPU-b\n");
    root.add("/proc/driver/nvidia/gpus/0000:18:00.0/information",
             "Model: \t\t NVIDIA H200\nGPU UUID: \t GPU-a\n");
    const std::vector<NvidiaDevice> devices = nvidia_devices(root.path());
    REQUIRE(devices.size() == 2);
    CHECK(devices[0].uuid == "GPU-a");
    CHECK(devices[0].bus_id == "0000:18:00.0");
    CHECK(devices[1].uuid == "GPU-b");
}
