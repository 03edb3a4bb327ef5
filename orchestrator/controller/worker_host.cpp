#include <tessera/controller/worker_host.hpp>
#include <tessera/journal/spool.hpp>
#include <tessera/protocol/handshake.hpp>
#include <tessera/version.hpp>
#include <tessera/worker/cpu_locality.hpp>
#include <tessera/worker/executor_set.hpp>
#include <tessera/worker/null_executor.hpp>
#include <tessera/worker/process_executor.hpp>
#include <tessera/worker/spool_sink.hpp>

#include <algorithm>
#include <filesystem>
#include <memory>

#include <unistd.h>

namespace tessera {

std::string own_programs_folder() {
    return std::filesystem::read_symlink("/proc/self/exe").parent_path().string();
}

WorkerHost::WorkerHost(SupervisorClient& supervisor, const Clock& clock)
    : supervisor_(supervisor)
    , clock_(clock)
    , environment_(own_environment())
    , inventory_(take_inventory(environment_)) {}

WorkerResult WorkerHost::run(Transport& transport, const Id128& campaign_id, Duration handshake_timeout) {
    Hello hello;
    hello.build = version;
    hello.campaign_id = campaign_id;
    hello.pid = ::getpid();
    hello.monotonic_ns = clock_.now().time_since_epoch().count();
    hello.wall_ns = clock_.wall_ns();
    hello.node = inventory_.report;
    return work(transport, introduce(transport, clock_, hello, handshake_timeout));
}

WorkerResult WorkerHost::work(Transport& transport, const Welcome& welcome) {
    const WorkerIdentity identity{welcome.part, welcome.worker, inventory_.report.host};
    ProcessExecutorConfig config;
    config.worker = identity;
    config.campaign_dir = welcome.campaign_dir;
    config.programs_folder = own_programs_folder();
    config.visibility_variable = inventory_.visibility_variable;
    config.base_environment = environment_;

    ExecutorSet executors(identity);
    executors.add("cpu", std::make_unique<ProcessExecutor>(std::move(config), supervisor_));
    executors.add("null", std::make_unique<NullExecutor>(identity));

    Spool spool(welcome.campaign_dir + "/parts/" + welcome.part, welcome.part, welcome.worker);
    SpoolSink sink(spool);
    WorkerSettings settings;
    settings.welcome = welcome;
    settings.host = inventory_.report.host;
    settings.locality = locality(welcome);
    return WorkerLoop(transport, executors, sink, clock_, std::move(settings)).run();
}

Locality WorkerHost::locality(const Welcome& welcome) const {
    Locality locality;
    locality.cpu_nodes = cpu_nodes(welcome.cpus);
    const NodeReport& node = inventory_.report;
    if (node.device_locality.size() != node.devices.size()) return locality;
    for (const std::string& device : welcome.devices) {
        const auto found = std::find(node.devices.begin(), node.devices.end(), device);
        if (found == node.devices.end()) return {locality.cpu_nodes, {}};
        locality.device_nodes.push_back(
            node.device_locality[static_cast<std::size_t>(found - node.devices.begin())]);
    }
    return locality;
}

} // namespace tessera
