#include <tessera/journal/codec.hpp>
#include <tessera/journal/fields.hpp>
#include <tessera/protocol/assign_codec.hpp>

#include <functional>
#include <utility>

namespace tessera {

namespace {

// Fields of the message in order: definitions (number, text), and items. A `uses` begins an item; the fields
// after it belong to that item. An item has the claim of the one before it unless it says another.
namespace tag {
enum : std::uint32_t {
    define_number = 2,
    define_text,
    uses,
    ticket,
    step,
    number,
    generation,
    batch,
    epoch,
    cores,
    memory,
    devices,
    timeout,
    grace,
    keep_attempts,
    log_limit,
    metrics_limit,
    repeat,
    seed,
    first_string = 32,
};
}

constexpr std::size_t fixed_strings = 6;

std::size_t string_count(const StepSpec& spec) {
    return fixed_strings + spec.argv.size() + 2 * spec.env.size() + spec.keep.size();
}

/// The strings of a step by number; null for an absent stdin and for a number that is too large.
template <class Spec>
auto string_at(Spec& spec, std::size_t slot) -> decltype(&spec.cell) {
    switch (slot) {
    case 0:
        return &spec.executor;
    case 1:
        return &spec.accelerator;
    case 2:
        return &spec.axes_json;
    case 3:
        return &spec.cell;
    case 4:
        return &spec.campaign_folder;
    case 5:
        return spec.stdin_text ? &*spec.stdin_text : nullptr;
    default:
        break;
    }
    slot -= fixed_strings;
    if (slot < spec.argv.size()) return &spec.argv[slot];
    slot -= spec.argv.size();
    if (slot < 2 * spec.env.size()) {
        auto& entry = spec.env[slot / 2];
        return slot % 2 == 0 ? &entry.name : &entry.value;
    }
    slot -= 2 * spec.env.size();
    return slot < spec.keep.size() ? &spec.keep[slot] : nullptr;
}

std::size_t shape_of(const StepSpec& spec) {
    std::size_t hash = std::hash<std::string>{}(spec.name);
    const auto mix = [&](std::size_t value) { hash = (hash ^ value) * 0x9E3779B97F4A7C15ULL; };
    mix(spec.argv.size());
    mix(spec.env.size());
    mix(spec.keep.size());
    mix((spec.stdin_text ? 1U : 0U) | (spec.timeout_s ? 2U : 0U) | (spec.repeat ? 4U : 0U) |
        (spec.seed ? 8U : 0U));
    return hash;
}

bool same_shape(const StepSpec& a, const StepSpec& b) {
    return a.name == b.name && a.argv.size() == b.argv.size() && a.env.size() == b.env.size() &&
           a.keep.size() == b.keep.size() && a.stdin_text.has_value() == b.stdin_text.has_value() &&
           a.timeout_s.has_value() == b.timeout_s.has_value() &&
           a.repeat.has_value() == b.repeat.has_value() && a.seed.has_value() == b.seed.has_value();
}

void encode_numbers(const StepSpec& known, const StepSpec& spec, WireWriter& out) {
    if (spec.resources.cores != known.resources.cores) out.uint_field(tag::cores, spec.resources.cores);
    if (spec.resources.memory_bytes != known.resources.memory_bytes)
        out.uint_field(tag::memory, spec.resources.memory_bytes);
    if (spec.resources.devices != known.resources.devices)
        out.uint_field(tag::devices, spec.resources.devices);
    if (spec.timeout_s != known.timeout_s) out.double_field(tag::timeout, *spec.timeout_s);
    if (spec.grace_s != known.grace_s) out.double_field(tag::grace, spec.grace_s);
    if (spec.keep_attempts != known.keep_attempts)
        out.uint_field(tag::keep_attempts, static_cast<std::uint64_t>(spec.keep_attempts));
    if (spec.log_limit_bytes != known.log_limit_bytes) out.uint_field(tag::log_limit, spec.log_limit_bytes);
    if (spec.metrics_limit_bytes != known.metrics_limit_bytes)
        out.uint_field(tag::metrics_limit, spec.metrics_limit_bytes);
    if (spec.repeat != known.repeat) out.uint_field(tag::repeat, *spec.repeat);
    if (spec.seed != known.seed) out.uint_field(tag::seed, *spec.seed);
}

void encode_difference(const StepSpec& known, const StepSpec& spec, WireWriter& out) {
    encode_numbers(known, spec, out);
    const std::size_t count = string_count(spec);
    for (std::size_t slot = 0; slot < count; ++slot) {
        const std::string* text = string_at(spec, slot);
        if (text != nullptr && *text != *string_at(known, slot))
            out.bytes_field(tag::first_string + static_cast<std::uint32_t>(slot), *text);
    }
}

void decode_string(StepSpec& spec, const WireReader& in) {
    std::string* text =
        in.tag() < tag::first_string ? nullptr : string_at(spec, in.tag() - tag::first_string);
    if (text == nullptr) in.fail("a step has a string that its template has not");
    *text = in.as_bytes();
}

void decode_spec_field(StepSpec& spec, const WireReader& in) {
    switch (in.tag()) {
    case tag::cores:
        spec.resources.cores = in.as_uint32();
        break;
    case tag::memory:
        spec.resources.memory_bytes = in.as_uint();
        break;
    case tag::devices:
        spec.resources.devices = in.as_uint32();
        break;
    case tag::timeout:
        spec.timeout_s = in.as_double();
        break;
    case tag::grace:
        spec.grace_s = in.as_double();
        break;
    case tag::keep_attempts:
        spec.keep_attempts = fields::read_enum(in, KeepAttempts::none);
        break;
    case tag::log_limit:
        spec.log_limit_bytes = in.as_uint();
        break;
    case tag::metrics_limit:
        spec.metrics_limit_bytes = in.as_uint();
        break;
    case tag::repeat:
        spec.repeat = in.as_uint32();
        break;
    case tag::seed:
        spec.seed = in.as_uint();
        break;
    default:
        decode_string(spec, in);
    }
}

void decode_item_field(WorkItem& item, const WireReader& in) {
    switch (in.tag()) {
    case tag::ticket:
        item.ticket = in.as_uint();
        break;
    case tag::step:
        item.step = in.as_id();
        break;
    case tag::number:
        item.number = in.as_uint32();
        break;
    case tag::generation:
        item.generation = in.as_uint32();
        break;
    case tag::batch:
        item.claim.batch = in.as_bytes();
        break;
    case tag::epoch:
        item.claim.epoch = in.as_uint32();
        break;
    default:
        decode_spec_field(item.spec, in);
    }
}

std::size_t size_of(const StepSpec& spec) {
    std::size_t size = sizeof(WorkItem) + spec.name.size();
    const std::size_t count = string_count(spec);
    for (std::size_t slot = 0; slot < count; ++slot)
        if (const std::string* text = string_at(spec, slot)) size += sizeof *text + text->size();
    return size;
}

} // namespace

void AssignEncoder::encode(const Assign& message, WireWriter& out) {
    static const ClaimRef none;
    const ClaimRef* claim = &none;
    for (const WorkItem& item : message.items) {
        const std::size_t number = find_or_define(item.spec, out);
        out.uint_field(tag::uses, number);
        out.uint_field(tag::ticket, item.ticket);
        out.id_field(tag::step, item.step);
        if (item.number != 1) out.uint_field(tag::number, item.number);
        if (item.generation != 1) out.uint_field(tag::generation, item.generation);
        if (item.claim.batch != claim->batch) out.bytes_field(tag::batch, item.claim.batch);
        if (item.claim.epoch != claim->epoch) out.uint_field(tag::epoch, item.claim.epoch);
        claim = &item.claim;
        encode_difference(templates_[number].spec, item.spec, out);
    }
}

std::size_t AssignEncoder::find_or_define(const StepSpec& spec, WireWriter& out) {
    if (last_ < templates_.size() && same_shape(templates_[last_].spec, spec)) return last_;
    const std::size_t shape = shape_of(spec);
    for (last_ = 0; last_ < templates_.size(); ++last_)
        if (templates_[last_].shape == shape && same_shape(templates_[last_].spec, spec)) return last_;

    last_ = next_;
    next_ = (next_ + 1) % max_step_templates;
    if (last_ == templates_.size()) templates_.emplace_back();
    templates_[last_] = {shape, spec};
    out.uint_field(tag::define_number, last_);
    codec::put_record(out, tag::define_text, spec);
    return last_;
}

Assign AssignDecoder::decode(WireReader& in) {
    Assign message;
    ClaimRef claim;
    std::uint64_t defined = 0;
    std::size_t decoded_bytes = 0;
    while (in.next()) {
        if (in.tag() == tag::define_number) {
            defined = in.as_uint();
        } else if (in.tag() == tag::define_text) {
            define(defined, in);
        } else if (in.tag() == tag::uses) {
            if (!message.items.empty()) claim = message.items.back().claim;
            const StepSpec& spec = known(in);
            decoded_bytes += size_of(spec);
            if (decoded_bytes > max_assign_bytes) in.fail("an assignment is too large");
            WorkItem& item = message.items.emplace_back();
            item.claim = claim;
            item.spec = spec;
        } else {
            if (message.items.empty()) in.fail("a field comes before the item it belongs to");
            decode_item_field(message.items.back(), in);
        }
    }
    return message;
}

void AssignDecoder::define(std::uint64_t number, const WireReader& in) {
    if (number >= max_step_templates || number > templates_.size())
        in.fail("a step template has a number out of range");
    if (number == templates_.size()) templates_.emplace_back();
    templates_[number] = {};
    codec::read(in.as_record(), templates_[number]);
}

const StepSpec& AssignDecoder::known(const WireReader& in) const {
    if (in.as_uint() >= templates_.size()) in.fail("an item uses an unknown step template");
    return templates_[in.as_uint()];
}

} // namespace tessera
