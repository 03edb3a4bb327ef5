#pragma once

#include <tessera/base/wire.hpp>
#include <tessera/protocol/messages.hpp>

namespace tessera {

/// The fields of a Report. Events are not nested records but runs of fields, each begun by its ticket: there
/// may be some 100,000 in a second.
void encode_report(const Report& report, WireWriter& out);

/// Reads all that is left of `in`. Throws FormatError.
Report decode_report(WireReader& in);

} // namespace tessera
