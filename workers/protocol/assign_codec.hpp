#pragma once

#include <tessera/base/wire.hpp>
#include <tessera/protocol/messages.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tessera {

/// Step texts that both ends of one direction know, by number. The sender alone decides what is in it;
/// messages keep their order, so the receiver's copy is always the same.
inline constexpr std::size_t max_step_templates = 256;

/// What the items of one Assign may take in memory. An item of three bytes may stand for a long text: without
/// a limit, a damaged message of a megabyte could ask for terabytes.
inline constexpr std::size_t max_assign_bytes = std::size_t{256} << 20U;

/// The fields of an Assign for one receiver. A step whose text has the shape of one that was sent before (the
/// same name and the same numbers of arguments, variables and so on) goes out as that one's number and the
/// strings that differ.
class AssignEncoder {
public:
    void encode(const Assign& message, WireWriter& out);

private:
    struct Template {
        std::size_t shape = 0; ///< hash
        StepSpec spec;
    };

    std::size_t find_or_define(const StepSpec& spec, WireWriter& out);

    std::vector<Template> templates_;
    std::size_t next_ = 0; ///< the number that the next new template takes
    std::size_t last_ = 0; ///< the template used last, which most often fits again
};

/// The other end. Throws FormatError on bytes that no AssignEncoder wrote; its templates are then undefined.
class AssignDecoder {
public:
    /// Reads all that is left of `in`.
    Assign decode(WireReader& in);

private:
    void define(std::uint64_t number, const WireReader& in);
    const StepSpec& known(const WireReader& in) const;

    std::vector<StepSpec> templates_;
};

} // namespace tessera
