#include <tessera/campaign/step_spec.hpp>

namespace tessera {

std::optional<std::uint32_t> RetryPolicy::limit(FailureClass failure) const {
    switch (failure) {
    case FailureClass::out_of_memory:
        return out_of_memory;
    case FailureClass::timeout:
        return timeout;
    case FailureClass::crash:
        return crash;
    case FailureClass::exit:
        return exit;
    case FailureClass::spawn:
        return spawn;
    case FailureClass::lost:
        return lost;
    case FailureClass::preempted:
        return std::nullopt;
    case FailureClass::none:
    case FailureClass::verdict:
        return 0;
    }
    return 0;
}

} // namespace tessera
