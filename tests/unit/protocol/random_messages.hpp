#pragma once

#include <tessera/protocol/messages.hpp>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace tessera::test {

/// Draws values of all kinds, odd ones included, from one seed.
class RandomMessages {
public:
    explicit RandomMessages(std::uint64_t seed)
        : random_(seed) {}

    std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

    bool coin() { return below(2) == 0; }

    std::uint64_t number() { return random_() >> below(64); }

    std::uint32_t number32() { return static_cast<std::uint32_t>(number()); }

    double real() { return static_cast<double>(static_cast<std::int64_t>(random_())) / 1024; }

    std::string text() {
        std::string out(below(20), '\0');
        for (char& c : out)
            c = static_cast<char>(random_());
        return out;
    }

    Id128 id() {
        Id128 out;
        for (auto& byte : out.bytes)
            byte = static_cast<std::uint8_t>(random_());
        return out;
    }

    template <class Draw>
    auto some(Draw draw) {
        std::vector<decltype(draw())> out;
        for (std::uint64_t i = below(5); i > 0; --i)
            out.push_back(draw());
        return out;
    }

    std::vector<std::string> texts() {
        return some([&] { return text(); });
    }

    std::vector<std::uint64_t> tickets() {
        return some([&] { return number(); });
    }

    std::vector<std::uint32_t> numbers32() {
        return some([&] { return number32(); });
    }

    StepSpec step_spec() {
        StepSpec spec;
        spec.name = coin() ? "workload" : text();
        spec.executor = text();
        spec.accelerator = text();
        spec.argv = texts();
        spec.env = some([&] { return EnvEntry{text(), text()}; });
        if (coin()) spec.stdin_text = text();
        spec.resources = {number32(), number(), number32()};
        if (coin()) spec.timeout_s = real();
        spec.grace_s = real();
        spec.keep = texts();
        spec.keep_attempts = static_cast<KeepAttempts>(below(3));
        spec.log_limit_bytes = number();
        spec.metrics_limit_bytes = number();
        spec.axes_json = text();
        spec.cell = text();
        if (coin()) spec.repeat = number32();
        if (coin()) spec.seed = number();
        spec.campaign_folder = text();
        return spec;
    }

    WorkItem work_item() {
        return {.ticket = number(),
                .step = id(),
                .number = number32(),
                .generation = number32(),
                .claim = {coin() ? "a100-3f" : text(), number32()},
                .spec = step_spec()};
    }

    MetricPoint metric() {
        MetricPoint point;
        point.name = text();
        if (coin()) point.series_index = static_cast<std::int64_t>(number());
        if (coin()) point.member = number32();
        point.value = real();
        if (coin()) point.text = text();
        point.unit = text();
        point.direction = static_cast<Direction>(below(3));
        return point;
    }

    OutcomeRecord outcome() {
        OutcomeRecord record;
        record.attempt = {text(), id(), number32()};
        record.kind = static_cast<OutcomeKind>(below(5));
        record.message = text();
        if (coin()) record.exit_code = static_cast<std::int32_t>(number32());
        record.devices = texts();
        record.cpus = numbers32();
        record.started_ns = static_cast<WallTime>(number());
        record.duration_s = real();
        record.metrics = some([&] { return metric(); });
        return record;
    }

    NodeReport node() {
        return {.node = text(),
                .host = text(),
                .boot_id = text(),
                .cpus = numbers32(),
                .memory_bytes = number(),
                .devices = texts(),
                .device_ids = texts(),
                .device_locality = numbers32()};
    }

    Report report() {
        Report out;
        out.number = number();
        out.started = some([&] { return StartedEvent{number(), static_cast<WallTime>(number()), texts()}; });
        out.metrics = some([&] { return MetricsEvent{number(), some([&] { return metric(); })}; });
        out.ended = some([&] { return EndedEvent{number(), outcome()}; });
        return out;
    }

    Message message() {
        switch (below(11)) {
        case 0:
            return Hello{number32(),
                         text(),
                         id(),
                         static_cast<std::int64_t>(number()),
                         static_cast<std::int64_t>(number()),
                         static_cast<WallTime>(number()),
                         node()};
        case 1:
            return Welcome{number32(), text(),     text(),   numbers32(), texts(),
                           text(),     number32(), number(), real(),      real()};
        case 2:
            return Refuse{text()};
        case 3:
            return Revoke{tickets()};
        case 4:
            return Revoked{tickets()};
        case 5:
            return report();
        case 6:
            return Acknowledge{number()};
        case 7:
            return Stop{static_cast<StopMode>(below(4))};
        case 8:
            return Goodbye{};
        case 9:
            return Heartbeat{};
        default:
            return Assign{some([&] { return work_item(); })};
        }
    }

private:
    std::mt19937_64 random_;
};

} // namespace tessera::test
