#pragma once

#include <tessera/base/wire.hpp>
#include <tessera/journal/records.hpp>

/// Payloads of the single records, by tagged fields; docs/on-disk.md lists the tags, which are never reused.
/// Readers skip tags they do not know and throw FormatError for values that cannot be.
namespace tessera::codec {

void write(WireWriter& out, const PartOpenRecord& record);
void write(WireWriter& out, const CampaignDefinition& record);
void write(WireWriter& out, const CellBatch& record);
void write(WireWriter& out, const DefinitionRecord& record);
void write(WireWriter& out, const StepSpec& record);
void write(WireWriter& out, const StepRecord& record);
void write(WireWriter& out, const ClaimRef& record);
void write(WireWriter& out, const ClaimRecord& record);
void write(WireWriter& out, const DispatchedRecord& record);
void write(WireWriter& out, const StartedRecord& record);
void write(WireWriter& out, const AttemptId& record);
void write(WireWriter& out, const MetricPoint& record);
void write(WireWriter& out, const MetricsRecord& record);
void write(WireWriter& out, const OutcomeRecord& record);
void write(WireWriter& out, const InvalidatedRecord& record);
void write(WireWriter& out, const PartCloseRecord& record);

void read(WireReader in, PartOpenRecord& record);
void read(WireReader in, CampaignDefinition& record);
void read(WireReader in, CellBatch& record);
void read(WireReader in, StepSpec& record);
void read(WireReader in, StepRecord& record);
void read(WireReader in, ClaimRef& record);
void read(WireReader in, ClaimRecord& record);
void read(WireReader in, DispatchedRecord& record);
void read(WireReader in, StartedRecord& record);
void read(WireReader in, AttemptId& record);
void read(WireReader in, MetricPoint& record);
void read(WireReader in, MetricsRecord& record);
void read(WireReader in, OutcomeRecord& record);
void read(WireReader in, InvalidatedRecord& record);
void read(WireReader in, PartCloseRecord& record);

/// Empty for a kind of definition that this version does not know.
std::optional<DefinitionRecord> read_definition(WireReader in);

template <typename T>
void put_record(WireWriter& out, std::uint32_t tag, const T& record) {
    out.record_field(tag, [&](WireWriter& nested) { write(nested, record); });
}

template <typename T>
void put_records(WireWriter& out, std::uint32_t tag, const std::vector<T>& records) {
    for (const T& record : records)
        put_record(out, tag, record);
}

} // namespace tessera::codec
