// How many small items per second one thread takes through the codec: an Assign of 500 items encoded and
// decoded, and the Report of their outcomes. Prints a table, or with --json one object.

#include <tessera/protocol/codec.hpp>

#include <fmt/core.h>

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace tessera;

namespace {

constexpr std::size_t batch = 500;
constexpr int rounds = 1000;

WorkItem small_item(std::uint64_t ticket) {
    WorkItem item;
    item.ticket = ticket;
    item.step.bytes[0] = static_cast<std::uint8_t>(ticket);
    item.claim = {"all-0", 1};
    item.spec.name = "workload";
    item.spec.executor = "null";
    item.spec.argv = {"python3", "evaluate.py", "--point", std::to_string(ticket)};
    item.spec.env = {{"OMP_NUM_THREADS", "4"}};
    item.spec.axes_json = R"({"model":"llama-2-7b","point":)" + std::to_string(ticket) + "}";
    item.spec.cell = item.step.hex();
    item.spec.repeat = 0;
    item.spec.seed = ticket;
    return item;
}

EndedEvent small_outcome(std::uint64_t ticket) {
    EndedEvent event{ticket, {}};
    event.outcome.attempt = {"20260101T000000Z-01234567", {}, 1};
    event.outcome.claim = {"all-0", 1};
    event.outcome.exit_code = 0;
    event.outcome.worker = 1;
    event.outcome.host = "node-0001";
    event.outcome.cpus = {1};
    event.outcome.started_ns = 1'700'000'000'000'000'000;
    event.outcome.ended_ns = 1'700'000'000'001'000'000;
    event.outcome.duration_s = 0.001;
    return event;
}

struct Result {
    std::string name;
    double items_per_s;
    double bytes_per_item;
};

Result measure(std::string name, const Message& message) {
    MessageEncoder encoder;
    MessageDecoder decoder;
    std::size_t bytes = 0;
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < rounds; ++i) {
        const std::string encoded = encoder.encode(message);
        bytes += encoded.size();
        if (decoder.decode(encoded, "bench").index() != message.index())
            throw std::logic_error("wrong message");
    }
    const double duration_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const double items = static_cast<double>(rounds) * static_cast<double>(batch);
    return {std::move(name), items / duration_s, static_cast<double>(bytes) / items};
}

} // namespace

int main(int argc, char** argv) {
    Assign assign;
    Report report;
    for (std::uint64_t ticket = 1; ticket <= batch; ++ticket) {
        assign.items.push_back(small_item(ticket));
        report.ended.push_back(small_outcome(ticket));
    }
    const Result results[] = {measure("assign", assign), measure("report", report)};

    if (argc > 1 && std::string_view(argv[1]) == "--json") {
        fmt::print("{{\"{}_items_per_s\": {:.0f}, \"{}_items_per_s\": {:.0f}}}\n", results[0].name,
                   results[0].items_per_s, results[1].name, results[1].items_per_s);
        return 0;
    }
    fmt::print("{:<10} {:>14} {:>10}\n", "message", "items/s", "bytes/item");
    for (const Result& result : results)
        fmt::print("{:<10} {:>14.0f} {:>10.1f}\n", result.name, result.items_per_s, result.bytes_per_item);
}
