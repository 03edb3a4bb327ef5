#pragma once

#include <tessera/base/clock.hpp>
#include <tessera/base/error.hpp>
#include <tessera/protocol/messages.hpp>
#include <tessera/protocol/transport.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tessera {

/// What controller and workers must have in common.
struct HandshakeTerms {
    std::uint32_t version = protocol_version;
    std::string build;
    Id128 campaign_id;
    std::string host; ///< the controller's, for messages
};

/// Peers that must not or cannot work together. `problems` has one line for each, naming the hosts.
class HandshakeError : public Error {
public:
    explicit HandshakeError(std::vector<std::string> problems);

    std::vector<std::string> problems;
};

/// The controller said why it sends this worker away; it tells the user itself.
class RefusedError : public HandshakeError {
public:
    using HandshakeError::HandshakeError;
};

/// The controller's side without its I/O: takes Hellos until all expected peers have spoken.
class HelloCollector {
public:
    HelloCollector(HandshakeTerms terms, const std::vector<PeerId>& expected);

    /// Takes a peer's first message; anything but a Hello on the same terms is a problem.
    void take(PeerId from, const Message& message);

    /// Takes bytes that could not be read: a peer of quite another version, most likely.
    void take_unreadable(PeerId from, const std::string& error);

    bool is_complete() const { return waiting_.empty(); }

    /// Peers that have not spoken.
    std::vector<PeerId> waiting() const { return waiting_; }

    /// One line for each peer that may not take part.
    const std::vector<std::string>& problems() const { return problems_; }

    /// Of the peers without a problem.
    const std::map<PeerId, Hello>& hellos() const { return hellos_; }

private:
    std::string objection(PeerId from, const Hello& hello) const;

    HandshakeTerms terms_;
    std::vector<PeerId> waiting_;
    std::vector<std::string> problems_;
    std::map<PeerId, Hello> hellos_;
};

/// The controller's side: the Hellos of all peers of the transport, which then wait for their Welcome. If any
/// of them is on other terms or silent for `timeout`, all are sent a Refuse. Throws HandshakeError.
std::map<PeerId, Hello> collect_hellos(Transport& transport, const Clock& clock, const HandshakeTerms& terms,
                                       Duration timeout);

/// A worker's side: sends `hello` and waits for the answer. Throws RefusedError if it is refused,
/// HandshakeError if the controller is lost, or silent for `timeout`.
Welcome introduce(Transport& transport, const Clock& clock, const Hello& hello, Duration timeout);

} // namespace tessera
