#include <tessera/protocol/codec.hpp>
#include <tessera/protocol/handshake.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tessera {

namespace {

constexpr PeerId controller = 0;

std::string host_of(const Hello& hello) {
    return hello.node.host.empty() ? hello.node.node : hello.node.host;
}

Message read_answer(const Incoming& incoming) {
    try {
        return decode_message(incoming.bytes, "the controller's answer");
    } catch (const FormatError& error) {
        throw HandshakeError({fmt::format("{}: it is probably of another version of Tessera", error.what())});
    }
}

/// Silent ones too: they may only be slow.
void refuse_all(Transport& transport, const std::vector<std::string>& problems) {
    const Refuse refusal{fmt::format("{}", fmt::join(problems, "; "))};
    for (const PeerId peer : transport.peers())
        transport.send(peer, encode_message(refusal));
}

} // namespace

HandshakeError::HandshakeError(std::vector<std::string> lines)
    : Error(fmt::format("{}", fmt::join(lines, "\n")))
    , problems(std::move(lines)) {}

HelloCollector::HelloCollector(HandshakeTerms terms, const std::vector<PeerId>& expected)
    : terms_(std::move(terms))
    , waiting_(expected) {}

void HelloCollector::take(PeerId from, const Message& message) {
    const auto* hello = std::get_if<Hello>(&message);
    if (hello == nullptr) {
        take_unreadable(from, "its first message is not a greeting");
        return;
    }
    std::string why = objection(from, *hello);
    if (why.empty())
        hellos_[from] = *hello;
    else
        problems_.push_back(std::move(why));
    std::erase(waiting_, from);
}

void HelloCollector::take_unreadable(PeerId from, const std::string& error) {
    problems_.push_back(fmt::format("rank {} cannot be understood by the controller on {} ({}): start every "
                                    "rank from the same installation",
                                    from, terms_.host, error));
    hellos_.erase(from);
    std::erase(waiting_, from);
}

std::string HelloCollector::objection(PeerId from, const Hello& hello) const {
    const std::string who = fmt::format("rank {} on {}", from, host_of(hello));
    if (hello.version != terms_.version)
        return fmt::format(
            "{} speaks protocol {}, the controller on {} speaks {}: start every rank from the same "
            "installation",
            who, hello.version, terms_.host, terms_.version);
    if (hello.build != terms_.build)
        return fmt::format("{} is build {}, the controller on {} is build {}: start every rank from the same "
                           "installation",
                           who, hello.build, terms_.host, terms_.build);
    if (hello.campaign_id != terms_.campaign_id)
        return fmt::format(
            "{} sees campaign {}, the controller on {} sees {}: the campaign directory must be on a "
            "filesystem that all nodes share",
            who, hello.campaign_id.short_hex(), terms_.host, terms_.campaign_id.short_hex());
    for (const auto& [other, known] : hellos_)
        if (known.node.node == hello.node.node && known.node.boot_id != hello.node.boot_id)
            return fmt::format(
                "{} and rank {} on {} both call their node {}, but these are two machines: give every "
                "node a name of its own",
                who, other, host_of(known), hello.node.node);
    return {};
}

std::map<PeerId, Hello> collect_hellos(Transport& transport, const Clock& clock, const HandshakeTerms& terms,
                                       Duration timeout) {
    HelloCollector collector(terms, transport.peers());
    const Moment deadline = clock.now() + timeout;
    while (!collector.is_complete() && clock.now() < deadline) {
        while (const auto incoming = transport.receive()) {
            try {
                collector.take(incoming->from, decode_message(incoming->bytes, "its greeting"));
            } catch (const FormatError& error) {
                collector.take_unreadable(incoming->from, error.what());
            }
        }
        if (!collector.is_complete()) transport.wait({}, deadline - clock.now());
    }
    std::vector<std::string> problems = collector.problems();
    for (const PeerId silent : collector.waiting())
        problems.push_back(
            fmt::format("rank {} did not report to the controller on {} within {} s: look at its "
                        "node and its error output",
                        silent, terms.host, seconds(timeout)));
    if (problems.empty()) return collector.hellos();
    refuse_all(transport, problems);
    throw HandshakeError(std::move(problems));
}

Welcome introduce(Transport& transport, const Clock& clock, const Hello& hello, Duration timeout) {
    const Moment deadline = clock.now() + timeout;
    transport.send(controller, encode_message(hello));
    while (clock.now() < deadline) {
        if (const auto incoming = transport.receive()) {
            const Message answer = read_answer(*incoming);
            if (const auto* welcome = std::get_if<Welcome>(&answer)) return *welcome;
            if (const auto* refusal = std::get_if<Refuse>(&answer)) throw RefusedError({refusal->reason});
            throw HandshakeError({"the controller answered the greeting with something else"});
        }
        const std::vector<PeerId> lost = transport.lost_peers();
        if (std::find(lost.begin(), lost.end(), controller) != lost.end())
            throw HandshakeError({"the controller ended before it answered"});
        transport.wait({}, deadline - clock.now());
    }
    throw HandshakeError(
        {fmt::format("the controller did not answer {} within {} s", host_of(hello), seconds(timeout))});
}

} // namespace tessera
