#include <tessera/journal/codec.hpp>
#include <tessera/journal/records.hpp>

#include <fmt/core.h>

namespace tessera {

namespace {

template <typename T>
T read_whole(std::string_view payload, std::string_view source) {
    T record;
    codec::read(WireReader(payload, source), record);
    return record;
}

template <typename T>
std::string encode_one(const T& record) {
    WireWriter out;
    codec::write(out, record);
    return out.take();
}

struct TypeOf {
    FrameType operator()(const PartOpenRecord&) const { return FrameType::part_open; }

    FrameType operator()(const DefinitionRecord&) const { return FrameType::definition; }

    FrameType operator()(const StepRecord&) const { return FrameType::step; }

    FrameType operator()(const ClaimRecord&) const { return FrameType::claim; }

    FrameType operator()(const DispatchedRecord&) const { return FrameType::dispatched; }

    FrameType operator()(const StartedRecord&) const { return FrameType::started; }

    FrameType operator()(const MetricsRecord&) const { return FrameType::metrics; }

    FrameType operator()(const OutcomeRecord&) const { return FrameType::outcome; }

    FrameType operator()(const InvalidatedRecord&) const { return FrameType::invalidated; }

    FrameType operator()(const PartCloseRecord&) const { return FrameType::part_close; }
};

} // namespace

std::string AttemptId::text() const {
    return fmt::format("{}/{}-{}", part, step.short_hex(16), number);
}

FrameType frame_type(const Record& record) {
    return std::visit(TypeOf(), record);
}

std::string encode(const Record& record) {
    return std::visit([](const auto& one) { return encode_one(one); }, record);
}

std::optional<Record> decode(FrameType type, std::string_view payload, std::string_view source) {
    switch (type) {
    case FrameType::part_open:
        return read_whole<PartOpenRecord>(payload, source);
    case FrameType::definition:
        if (auto definition = codec::read_definition(WireReader(payload, source)))
            return Record(std::move(*definition));
        return std::nullopt;
    case FrameType::step:
        return read_whole<StepRecord>(payload, source);
    case FrameType::claim:
        return read_whole<ClaimRecord>(payload, source);
    case FrameType::dispatched:
        return read_whole<DispatchedRecord>(payload, source);
    case FrameType::started:
        return read_whole<StartedRecord>(payload, source);
    case FrameType::metrics:
        return read_whole<MetricsRecord>(payload, source);
    case FrameType::outcome:
        return read_whole<OutcomeRecord>(payload, source);
    case FrameType::invalidated:
        return read_whole<InvalidatedRecord>(payload, source);
    case FrameType::part_close:
        return read_whole<PartCloseRecord>(payload, source);
    }
    return std::nullopt;
}

std::string encode_outcome(const OutcomeRecord& record) {
    return encode_one(record);
}

OutcomeRecord decode_outcome(std::string_view payload, std::string_view source) {
    return read_whole<OutcomeRecord>(payload, source);
}

std::string encode_step_spec(const StepSpec& spec) {
    return encode_one(spec);
}

StepSpec decode_step_spec(std::string_view payload, std::string_view source) {
    return read_whole<StepSpec>(payload, source);
}

std::string encode_metrics(const MetricsRecord& record) {
    return encode_one(record);
}

MetricsRecord decode_metrics(std::string_view payload, std::string_view source) {
    return read_whole<MetricsRecord>(payload, source);
}

std::string_view name(OutcomeKind kind) {
    switch (kind) {
    case OutcomeKind::succeeded:
        return "succeeded";
    case OutcomeKind::failed:
        return "failed";
    case OutcomeKind::timed_out:
        return "timed_out";
    case OutcomeKind::preempted:
        return "preempted";
    case OutcomeKind::lost:
        return "lost";
    }
    return "unknown";
}

std::string_view name(FailureClass failure) {
    switch (failure) {
    case FailureClass::none:
        return "none";
    case FailureClass::out_of_memory:
        return "out_of_memory";
    case FailureClass::timeout:
        return "timeout";
    case FailureClass::crash:
        return "crash";
    case FailureClass::exit:
        return "exit";
    case FailureClass::spawn:
        return "spawn";
    case FailureClass::lost:
        return "lost";
    case FailureClass::preempted:
        return "preempted";
    case FailureClass::verdict:
        return "verdict";
    }
    return "unknown";
}

std::string_view name(Direction direction) {
    switch (direction) {
    case Direction::unknown:
        return "unknown";
    case Direction::lower:
        return "lower";
    case Direction::higher:
        return "higher";
    }
    return "unknown";
}

} // namespace tessera
