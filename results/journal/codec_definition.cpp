#include <tessera/journal/codec.hpp>
#include <tessera/journal/fields.hpp>

#include <algorithm>

namespace tessera::codec {

using fields::put;
using fields::put_enum;

namespace {

void write(WireWriter& out, const AxisDefinition& record) {
    put(out, 1, record.name);
    put(out, 2, record.type);
    put(out, 3, record.values);
    put(out, 4, record.fields);
}

void read(WireReader in, AxisDefinition& record) {
    while (in.next()) {
        switch (in.tag()) {
        case 1:
            record.name = in.as_string();
            break;
        case 2:
            record.type = in.as_string();
            break;
        case 3:
            record.values.push_back(in.as_string());
            break;
        case 4:
            record.fields.push_back(in.as_string());
            break;
        default:
            break;
        }
    }
    if (record.fields.size() > record.values.size()) in.fail("an axis has more fields than values");
}

void write(WireWriter& out, const MetricDefinition& record) {
    put(out, 1, record.name);
    put(out, 2, record.unit);
    put_enum(out, 3, record.direction);
}

void read(WireReader in, MetricDefinition& record) {
    while (in.next()) {
        switch (in.tag()) {
        case 1:
            record.name = in.as_string();
            break;
        case 2:
            record.unit = in.as_string();
            break;
        case 3:
            record.direction = fields::read_enum(in, Direction::higher);
            break;
        default:
            break;
        }
    }
}

/// Every column of a batch must be as long as its ids, so that no user of the record has to check.
void check(const WireReader& in, const CellBatch& record) {
    const std::size_t cells = record.ids.size();
    const bool codes_fit = std::all_of(record.codes.begin(), record.codes.end(),
                                       [&](const auto& column) { return column.size() == cells; });
    const bool steps_fit = record.other_steps.empty() || record.other_steps.size() == cells;
    if (record.repeats.size() != cells || record.last_steps.size() != cells || !codes_fit || !steps_fit)
        in.fail("the columns of a batch of cells differ in length");
}

} // namespace

void write(WireWriter& out, const CampaignDefinition& record) {
    put(out, 1, record.digest);
    put(out, 2, record.name);
    put(out, 3, record.cell_count);
    for (const AxisDefinition& axis : record.axes)
        out.record_field(4, [&](WireWriter& nested) { write(nested, axis); });
    for (const MetricDefinition& metric : record.metrics)
        out.record_field(5, [&](WireWriter& nested) { write(nested, metric); });
    put(out, 6, record.snapshot);
}

void read(WireReader in, CampaignDefinition& record) {
    while (in.next()) {
        switch (in.tag()) {
        case 1:
            record.digest = in.as_id();
            break;
        case 2:
            record.name = in.as_string();
            break;
        case 3:
            record.cell_count = in.as_uint();
            break;
        case 4:
            read(in.as_record(), record.axes.emplace_back());
            break;
        case 5:
            read(in.as_record(), record.metrics.emplace_back());
            break;
        case 6:
            record.snapshot = in.as_string();
            break;
        default:
            break;
        }
    }
}

void write(WireWriter& out, const CellBatch& record) {
    put(out, 1, record.definition);
    fields::put_ids(out, 2, record.ids);
    fields::put_numbers(out, 3, record.repeats);
    for (const auto& column : record.codes)
        fields::put_numbers(out, 4, column);
    fields::put_ids(out, 5, record.last_steps);
    for (const auto& steps : record.other_steps)
        out.record_field(6, [&](WireWriter& nested) { fields::put_ids(nested, 1, steps); });
}

namespace {

std::vector<StepKey> read_steps(WireReader in) {
    std::vector<StepKey> steps;
    while (in.next())
        if (in.tag() == 1) steps = fields::read_ids(in);
    return steps;
}

} // namespace

void read(WireReader in, CellBatch& record) {
    while (in.next()) {
        switch (in.tag()) {
        case 1:
            record.definition = in.as_id();
            break;
        case 2:
            record.ids = fields::read_ids(in);
            break;
        case 3:
            record.repeats = fields::read_numbers(in);
            break;
        case 4:
            record.codes.push_back(fields::read_numbers(in));
            break;
        case 5:
            record.last_steps = fields::read_ids(in);
            break;
        case 6:
            record.other_steps.push_back(read_steps(in.as_record()));
            break;
        default:
            break;
        }
    }
    check(in, record);
}

void write(WireWriter& out, const DefinitionRecord& record) {
    if (const auto* campaign = std::get_if<CampaignDefinition>(&record))
        put_record(out, 1, *campaign);
    else
        put_record(out, 2, std::get<CellBatch>(record));
}

std::optional<DefinitionRecord> read_definition(WireReader in) {
    std::optional<DefinitionRecord> record;
    while (in.next()) {
        if (in.tag() == 1)
            read(in.as_record(), record.emplace(CampaignDefinition()).emplace<CampaignDefinition>());
        else if (in.tag() == 2)
            read(in.as_record(), record.emplace(CellBatch()).emplace<CellBatch>());
    }
    return record;
}

} // namespace tessera::codec
