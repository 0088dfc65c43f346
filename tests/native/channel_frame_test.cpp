// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <array>
#include <climits>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "channel/frame.hpp"

namespace {

using namespace tare::channel;  // NOLINT(google-build-using-namespace): this file is about it

std::vector<Frame> decode_all(Decoder& decoder) {
    std::vector<Frame> frames;
    while (auto frame = decoder.next()) {
        frames.push_back(*std::move(frame));
    }
    return frames;
}

/// Whether the next frame is refused; there must be none.
bool refuses(Decoder& decoder) {
    try {
        const bool found = decoder.next().has_value();
        REQUIRE_FALSE(found);
        return false;
    } catch (const ProtocolError&) {
        return true;
    }
}

Frame output(std::string payload) {
    return {.type = Type::output, .stream = 7, .payload = std::move(payload)};
}

TEST_CASE("a frame is the bytes that another implementation of CRC-32 says") {
    // Python: header = struct.pack("<HBBII", 0x7A5E, 5, 0, 7, 3); zlib.crc32(header + b"abc")
    constexpr std::string_view bytes{
        "\x5e\x7a\x05\x00\x07\x00\x00\x00\x03\x00\x00\x00\xa3\xb2\xf8\x43"
        "abc",
        19};
    CHECK(encode(output("abc")) == bytes);
}

TEST_CASE("frames come out whole, however their bytes are cut") {
    const std::string bytes = encode(output("first")) + encode(output("")) + encode(output("third"));
    for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
        Decoder decoder;
        decoder.push(std::span{bytes}.first(cut));
        auto frames = decode_all(decoder);
        decoder.push(std::span{bytes}.subspan(cut));
        for (auto& frame : decode_all(decoder)) {
            frames.push_back(std::move(frame));
        }
        REQUIRE(frames.size() == 3);
        CHECK(frames[0].payload == "first");
        CHECK(frames[2].payload == "third");
        CHECK(frames[2].stream == 7);
        CHECK_FALSE(decoder.torn());
    }
}

TEST_CASE("a damaged bit is never taken for a frame") {
    const std::string whole = encode(output("payload"));
    for (std::size_t bit = 0; bit < whole.size() * CHAR_BIT; ++bit) {
        std::string damaged = whole;
        damaged[bit / CHAR_BIT] = static_cast<char>(damaged[bit / CHAR_BIT] ^ (1 << (bit % CHAR_BIT)));
        Decoder decoder;
        decoder.push(damaged);
        // A larger length waits for more; everything else is an error at once.
        CHECK((refuses(decoder) || decoder.torn()));
    }
}

TEST_CASE("an oversized frame is refused by its header, before its bytes come") {
    std::string header = encode(output(""));
    header[10] = '\x7f';
    Decoder decoder;
    decoder.push(header);
    CHECK_THROWS_AS(decoder.next(), ProtocolError);
    CHECK_THROWS_AS(encode(output(std::string(largest_payload + 1, 'x'))), std::length_error);
    CHECK(encode(output(std::string(largest_payload, 'x'))).size() == header_size + largest_payload);
}

TEST_CASE("a decoder that came late skips to the first hello, wherever the bytes are cut") {
    const Frame hello{
        .type = Type::hello, .stream = 0, .payload = encode_words(std::array<std::string, 1>{"1"})};
    const std::string bytes = "rest of a fra\x5e\x7a\x01" + encode(hello) + encode(output("next"));
    for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
        Decoder decoder{Decoder::Begin::at_hello};
        decoder.push(std::span{bytes}.first(cut));
        auto frames = decode_all(decoder);
        decoder.push(std::span{bytes}.subspan(cut));
        for (auto& frame : decode_all(decoder)) {
            frames.push_back(std::move(frame));
        }
        REQUIRE(frames.size() == 2);
        CHECK(frames[0].type == Type::hello);
        CHECK(frames[1].payload == "next");
    }
}

TEST_CASE("a decoder that waits for a hello does not keep what it skips") {
    Decoder decoder{Decoder::Begin::at_hello};
    const std::string noise(1000, '\x5e');
    for (int round = 0; round < 100; ++round) {
        decoder.push(noise);
        CHECK_FALSE(decoder.next().has_value());
        CHECK(decoder.held_byte() <= noise.size() + header_size);
    }
}

TEST_CASE("words come back as they were, empty and with any byte") {
    const std::vector<std::string> words{"", std::string{"a\0\n\xff", 4}, "last"};
    CHECK(decode_words(encode_words(words)) == words);
    CHECK(decode_words("").empty());
    CHECK_THROWS_AS(decode_words(std::string_view{"\x05\x00\x00\x00oops", 8}), ProtocolError);
    CHECK_THROWS_AS(decode_words("ab"), ProtocolError);
}

TEST_CASE("a command comes back as it was") {
    const auto command =
        decode_execute(encode_execute({.directory = "/", .arguments = {"sh", "-c"}, .variables = {"A=1"}}));
    CHECK(command.directory == "/");
    CHECK(command.arguments == std::vector<std::string>{"sh", "-c"});
    CHECK(command.variables == std::vector<std::string>{"A=1"});
}

TEST_CASE("a command without arguments, or with fewer than it says, is refused") {
    using Words = std::vector<std::string>;
    CHECK_THROWS_AS(decode_execute(encode_words(Words{"/", encode_number(0)})), ProtocolError);
    CHECK_THROWS_AS(decode_execute(encode_words(Words{"/", encode_number(3), "sh"})), ProtocolError);
    CHECK_THROWS_AS(decode_execute(encode_words(Words{"/", encode_number(UINT_MAX), "sh"})), ProtocolError);
    CHECK_THROWS_AS(decode_execute(encode_words(Words{"/", "1", "sh"})), ProtocolError);
    CHECK_THROWS_AS(decode_execute(encode_words(Words{"/"})), ProtocolError);
    CHECK_THROWS_AS(decode_execute(""), ProtocolError);
}

TEST_CASE("a command that cannot be run is refused") {
    const auto refused = [](const tare::channel::Execute& command) {
        CHECK_THROWS_AS(decode_execute(encode_execute(command)), ProtocolError);
    };
    refused({.directory = "tmp", .arguments = {"true"}, .variables = {}});
    refused({.directory = "", .arguments = {"true"}, .variables = {}});
    refused({.directory = std::string{"/\0", 2}, .arguments = {"true"}, .variables = {}});
    refused({.directory = "/", .arguments = {std::string{"a\0b", 3}}, .variables = {}});
    refused({.directory = "/", .arguments = {"true"}, .variables = {"A"}});
    refused({.directory = "/", .arguments = {"true"}, .variables = {"=A"}});
    refused({.directory = "/", .arguments = {"true"}, .variables = {std::string{"A=\0", 3}}});
}

TEST_CASE("an end of a command comes back as it was") {
    for (const auto how : {Exit::How::code, Exit::How::signal, Exit::How::failed}) {
        const Exit exit = decode_exit(encode_exit({.how = how, .number = -3, .text = "why"}));
        CHECK(exit.how == how);
        CHECK(exit.number == -3);
        CHECK(exit.text == "why");
    }
    CHECK_THROWS_AS(decode_exit(encode_exit({.how = static_cast<Exit::How>(3), .number = 0, .text = ""})),
                    ProtocolError);
    CHECK_THROWS_AS(decode_exit(""), ProtocolError);
}

TEST_CASE("credit is for one of the three flows") {
    const Credit credit = decode_credit(encode_credit({.flow = Flow::error_output, .count = 5}));
    CHECK(credit.flow == Flow::error_output);
    CHECK(credit.count == 5);
    CHECK_THROWS_AS(decode_credit(encode_credit({.flow = static_cast<Flow>(3), .count = 5})), ProtocolError);
    CHECK_THROWS_AS(decode_credit(""), ProtocolError);
    CHECK_THROWS_AS(decode_credit(std::string_view{"\x00\x01", 2}), ProtocolError);
}

TEST_CASE("numbers and times have one length") {
    CHECK(decode_number(encode_number(0xFEDCBA98)) == 0xFEDCBA98);
    CHECK(decode_time(encode_time(0x0123456789ABCDEF)) == 0x0123456789ABCDEF);
    CHECK_THROWS_AS(decode_number(encode_time(1)), ProtocolError);
    CHECK_THROWS_AS(decode_time(encode_number(1)), ProtocolError);
}

}  // namespace
