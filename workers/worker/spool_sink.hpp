#pragma once

#include <tessera/journal/spool.hpp>
#include <tessera/worker/outcome_sink.hpp>

namespace tessera {

/// The worker's spool in the part's folder.
class SpoolSink final : public OutcomeSink {
public:
    /// `spool` must outlive this.
    explicit SpoolSink(Spool& spool)
        : spool_(spool) {}

    void append(const OutcomeRecord& record) override { spool_.append(record); }

    void sync() override { spool_.sync(); }

private:
    Spool& spool_;
};

} // namespace tessera
