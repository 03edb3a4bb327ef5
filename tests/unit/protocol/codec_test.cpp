#include "random_messages.hpp"

#include <tessera/protocol/codec.hpp>

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

using namespace tessera;
using test::RandomMessages;

namespace {

WorkItem typical_item(std::uint64_t ticket) {
    WorkItem item;
    item.ticket = ticket;
    item.claim = {"all-0", 1};
    item.spec.name = "workload";
    item.spec.executor = "cpu";
    item.spec.argv = {"python3",    "evaluate.py", "--model",
                      "llama-2-7b", "--precision", std::to_string(ticket)};
    item.spec.env = {{"OMP_NUM_THREADS", "4"}, {"TOKENIZERS_PARALLELISM", "false"}};
    item.spec.axes_json = R"({"model":"llama-2-7b","precision":)" + std::to_string(ticket) + "}";
    item.spec.cell = std::to_string(ticket);
    item.spec.repeat = 0;
    item.spec.campaign_folder = "/home/somebody/campaigns";
    return item;
}

/// Fails the test if reading does anything but succeed or throw FormatError.
template <class Decode>
void survives(const Decode& decode) {
    try {
        decode();
    } catch (const FormatError&) {
    }
}

} // namespace

TEST_CASE("every message reads back as it was, alone and in a stream") {
    RandomMessages random(1);
    MessageEncoder encoder;
    MessageDecoder decoder;
    for (int i = 0; i < 5000; ++i) {
        const Message message = random.message();
        REQUIRE(decode_message(encode_message(message), "peer") == message);
        REQUIRE(decoder.decode(encoder.encode(message), "peer") == message);
    }
}

TEST_CASE("a step's text goes out once, then only what differs") {
    MessageEncoder encoder;
    MessageDecoder decoder;
    const Message first = Assign{{typical_item(1)}};
    const std::string first_bytes = encoder.encode(first);
    CHECK(decoder.decode(first_bytes, "controller") == first);
    CHECK(first_bytes.find("evaluate.py") != std::string::npos);

    const Message second = Assign{{typical_item(2), typical_item(3)}};
    const std::string second_bytes = encoder.encode(second);
    CHECK(decoder.decode(second_bytes, "controller") == second);
    CHECK(second_bytes.find("evaluate.py") == std::string::npos);
    CHECK(second_bytes.size() < 2 * 100);
}

TEST_CASE("items of more shapes than there are templates read back as they were") {
    MessageEncoder encoder;
    MessageDecoder decoder;
    RandomMessages random(2);
    for (int round = 0; round < 3; ++round) {
        for (std::size_t arguments = 0; arguments < max_step_templates + 20; ++arguments) {
            WorkItem item = typical_item(arguments);
            item.spec.argv.assign(arguments, random.text());
            const Message message = Assign{{item, item}};
            REQUIRE(decoder.decode(encoder.encode(message), "controller") == message);
        }
    }
}

TEST_CASE("messages cut short or with changed bytes raise FormatError or read as another message") {
    RandomMessages random(3);
    for (int i = 0; i < 2000; ++i) {
        std::string bytes = encode_message(random.message());
        survives(
            [&] { decode_message(std::string_view(bytes).substr(0, random.below(bytes.size())), "peer"); });
        for (int flips = 0; flips < 3; ++flips)
            bytes[random.below(bytes.size())] = static_cast<char>(random.number());
        survives([&] { decode_message(bytes, "peer"); });
    }
}

TEST_CASE("random bytes raise FormatError") {
    RandomMessages random(4);
    for (int i = 0; i < 20000; ++i) {
        const std::string bytes = random.text();
        survives([&] { decode_message(bytes, "peer"); });
    }
    CHECK_THROWS_AS(decode_message("", "peer"), FormatError);
    CHECK_THROWS_AS(decode_message("hello", "peer"), FormatError);
}

TEST_CASE("an item of an unknown template, or before any item, is an error that names the sender") {
    MessageEncoder encoder;
    encoder.encode(Assign{{typical_item(1)}});
    const std::string later = encoder.encode(Assign{{typical_item(2)}});
    try {
        decode_message(later, "controller on n1");
        FAIL("the template is unknown");
    } catch (const FormatError& error) {
        CHECK(error.source == "controller on n1");
    }
}

TEST_CASE("a short message cannot ask for unlimited memory") {
    WorkItem item = typical_item(1);
    item.spec.stdin_text = std::string(max_assign_bytes / 8, 'x');
    MessageEncoder encoder;
    MessageDecoder decoder;
    decoder.decode(encoder.encode(Assign{{item}}), "peer");
    const std::string type = encoder.encode(Assign{});
    const std::string one = encoder.encode(Assign{{item}});
    std::string nine = type;
    for (int i = 0; i < 9; ++i)
        nine += one.substr(type.size());
    CHECK(nine.size() < 1000);
    CHECK_THROWS_AS(decoder.decode(nine, "peer"), FormatError);
}

TEST_CASE("fields of a later version are skipped") {
    WireWriter extra;
    extra.bytes_field(30, "something new");
    const Message message = Acknowledge{7};
    CHECK(decode_message(encode_message(message) + extra.take(), "peer") == message);
}
