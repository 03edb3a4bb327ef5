#include <tessera/worker/cpu_locality.hpp>

#include <charconv>
#include <filesystem>
#include <optional>
#include <system_error>

namespace tessera {

namespace {

std::optional<std::uint32_t> node_of(std::uint32_t cpu, const std::string& root) {
    std::error_code error;
    const std::filesystem::path folder = root + "/sys/devices/system/cpu/cpu" + std::to_string(cpu);
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
        const std::string name = entry.path().filename().string();
        std::uint32_t node = 0;
        const char* end = name.data() + name.size();
        if (name.rfind("node", 0) == 0 && std::from_chars(name.data() + 4, end, node).ptr == end) return node;
    }
    return std::nullopt;
}

} // namespace

std::vector<std::uint32_t> cpu_nodes(const std::vector<std::uint32_t>& cpus, const std::string& root) {
    std::vector<std::uint32_t> nodes;
    for (const std::uint32_t cpu : cpus) {
        const auto node = node_of(cpu, root);
        if (!node) return {};
        nodes.push_back(*node);
    }
    return nodes;
}

} // namespace tessera
