#include "sample.hpp"

namespace sample {

using namespace tessera;

std::uint32_t number(Random& random, std::uint32_t below) {
    return static_cast<std::uint32_t>(random() % below);
}

Id128 id(Random& random) {
    Id128 result;
    for (auto& byte : result.bytes)
        byte = static_cast<std::uint8_t>(random());
    return result;
}

std::string text(Random& random) {
    std::string result;
    const std::uint32_t size = number(random, 20);
    for (std::uint32_t i = 0; i < size; ++i)
        result += static_cast<char>(random());
    return result;
}

namespace {

std::vector<std::string> texts(Random& random) {
    std::vector<std::string> result;
    for (std::uint32_t i = number(random, 4); i > 0; --i)
        result.push_back(text(random));
    return result;
}

std::vector<std::uint32_t> numbers(Random& random, std::size_t count) {
    std::vector<std::uint32_t> result;
    while (result.size() < count)
        result.push_back(number(random, 1U << 20U));
    return result;
}

std::vector<Id128> ids(Random& random, std::size_t count) {
    std::vector<Id128> result;
    while (result.size() < count)
        result.push_back(id(random));
    return result;
}

double real(Random& random) {
    return std::normal_distribution<double>(0, 1e6)(random);
}

bool coin(Random& random) {
    return random() % 2 == 0;
}

ClaimRef claim(Random& random) {
    return {text(random), number(random, 9)};
}

} // namespace

MetricPoint metric(Random& random) {
    MetricPoint point;
    point.name = text(random);
    point.t_s = real(random);
    point.value = real(random);
    point.unit = text(random);
    point.role = coin(random) ? MetricRole::value : MetricRole::baseline;
    point.direction = static_cast<Direction>(number(random, 3));
    if (coin(random)) point.series_index = static_cast<std::int64_t>(random());
    if (coin(random)) point.member = number(random, 64);
    if (coin(random)) point.text = text(random);
    return point;
}

OutcomeRecord outcome(Random& random) {
    OutcomeRecord record;
    record.attempt = {text(random), id(random), number(random, 100)};
    record.generation = number(random, 5);
    record.claim = claim(random);
    record.kind = static_cast<OutcomeKind>(number(random, 5));
    record.failure = static_cast<FailureClass>(number(random, 9));
    record.message = text(random);
    if (coin(random)) record.exit_code = static_cast<std::int32_t>(random());
    if (coin(random)) record.signal = static_cast<std::int32_t>(number(random, 64));
    record.worker = number(random, 1000);
    record.host = text(random);
    record.devices = texts(random);
    record.cpus = numbers(random, number(random, 5));
    record.started_ns = static_cast<std::int64_t>(random());
    record.ended_ns = static_cast<std::int64_t>(random());
    record.duration_s = real(random);
    record.user_s = real(random);
    record.system_s = real(random);
    record.max_rss_bytes = random();
    record.leaked_processes = number(random, 3);
    record.folder = text(random);
    record.log_pack = text(random);
    record.log_pack_offset = random();
    record.stdout_bytes = random();
    record.stderr_bytes = random();
    record.stdout_truncated = coin(random);
    record.stderr_truncated = coin(random);
    record.metrics_truncated = coin(random);
    record.metric_problems = texts(random);
    for (std::uint32_t i = number(random, 4); i > 0; --i)
        record.metrics.push_back(metric(random));
    return record;
}

StepSpec step_spec(Random& random) {
    StepSpec spec;
    spec.name = text(random);
    spec.executor = text(random);
    spec.accelerator = text(random);
    spec.argv = texts(random);
    for (std::uint32_t i = number(random, 3); i > 0; --i)
        spec.env.push_back({text(random), text(random)});
    if (coin(random)) spec.stdin_text = text(random);
    spec.resources = {number(random, 8), random(), number(random, 4)};
    if (coin(random)) spec.timeout_s = real(random);
    spec.grace_s = coin(random) ? 0 : real(random);
    spec.keep = texts(random);
    spec.keep_attempts = static_cast<KeepAttempts>(number(random, 3));
    spec.log_limit_bytes = coin(random) ? 0 : random();
    spec.metrics_limit_bytes = random();
    spec.axes_json = text(random);
    spec.cell = text(random);
    if (coin(random)) spec.repeat = number(random, 10);
    if (coin(random)) spec.seed = random();
    spec.campaign_folder = text(random);
    return spec;
}

namespace {

CampaignDefinition campaign(Random& random) {
    CampaignDefinition record;
    record.digest = id(random);
    record.name = text(random);
    record.cell_count = random();
    for (std::uint32_t i = number(random, 4); i > 0; --i) {
        AxisDefinition axis;
        axis.name = text(random);
        axis.type = text(random);
        axis.values = texts(random);
        for (std::size_t field = 0; field < axis.values.size(); ++field)
            axis.fields.push_back(text(random));
        record.axes.push_back(axis);
    }
    record.metrics.push_back({text(random), text(random), Direction::higher});
    record.snapshot = text(random);
    return record;
}

CellBatch cells(Random& random) {
    const std::size_t count = number(random, 6);
    CellBatch record;
    record.definition = id(random);
    record.ids = ids(random, count);
    record.repeats = numbers(random, count);
    for (int axis = 0; axis < 3; ++axis)
        record.codes.push_back(numbers(random, count));
    record.last_steps = ids(random, count);
    if (coin(random))
        for (std::size_t i = 0; i < count; ++i)
            record.other_steps.push_back(ids(random, number(random, 3)));
    return record;
}

DispatchedRecord dispatched(Random& random) {
    DispatchedRecord record{.worker = number(random, 9), .claim = claim(random), .at_ns = 12, .items = {}};
    for (std::uint32_t i = number(random, 4); i > 0; --i)
        record.items.push_back({id(random), number(random, 9), number(random, 9), texts(random)});
    return record;
}

InvalidatedRecord invalidated(Random& random) {
    InvalidatedRecord record{.items = {}, .reason = text(random), .user = text(random), .at_ns = -5};
    for (std::uint32_t i = number(random, 4); i > 0; --i)
        record.items.push_back({id(random), number(random, 9)});
    return record;
}

} // namespace

std::vector<Record> records(Random& random) {
    PartOpenRecord open{.campaign_id = id(random),
                        .campaign_name = text(random),
                        .version = text(random),
                        .host = text(random),
                        .boot_id = text(random),
                        .pid = 4711,
                        .job = text(random),
                        .user = text(random),
                        .command_line = texts(random),
                        .opened_ns = static_cast<std::int64_t>(random())};
    StartedRecord started{.step = id(random),
                          .number = 3,
                          .worker = number(random, 9),
                          .host = text(random),
                          .devices = texts(random),
                          .at_ns = 7};
    MetricsRecord metrics{.step = id(random), .number = 2, .points = {metric(random), metric(random)}};
    return {open,
            DefinitionRecord(campaign(random)),
            DefinitionRecord(cells(random)),
            StepRecord{.key = id(random), .needs = ids(random, 2), .spec = step_spec(random)},
            ClaimRecord{.claim = claim(random), .predecessor = text(random), .last_honoured = random()},
            dispatched(random),
            started,
            metrics,
            outcome(random),
            invalidated(random),
            PartCloseRecord{.exit_code = -3, .reason = text(random), .at_ns = 9}};
}

} // namespace sample
