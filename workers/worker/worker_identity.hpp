#pragma once

#include <tessera/protocol/messages.hpp>

#include <cstdint>
#include <string>

namespace tessera {

/// Who runs an attempt, as its outcome says it.
struct WorkerIdentity {
    std::string part;
    std::uint32_t worker = 0;
    std::string host;
};

/// An end of `item` with everything filled in that does not depend on how it went; it says succeeded, just
/// now.
EndedEvent ended_event(const WorkerIdentity& worker, const WorkItem& item);

} // namespace tessera
