// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>
#include <system_error>
#include <utility>

#include "channel/line.hpp"
#include "pipes.hpp"

namespace {

using tare::FileDescriptor;
using tare::channel::Frame;
using tare::channel::Line;
using tare::channel::ProtocolError;
using tare::channel::Type;

Frame chunk() {
    return {.type = Type::output, .stream = 1, .payload = std::string(tare::channel::chunk_size, 'x')};
}

void write_to(const FileDescriptor& descriptor, const std::string& bytes) {
    REQUIRE(::write(descriptor.number(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
}

TEST_CASE("frames cross a line both ways") {
    auto [here, there] = tare::test::make_sockets();
    Line first{std::move(here)};
    Line second{std::move(there)};
    CHECK(second.read_some().frames.empty());
    first.send({.type = Type::input, .stream = 3, .payload = "one"});
    first.send({.type = Type::end_of_input, .stream = 3, .payload = {}});
    CHECK(first.wants_to_write());
    first.write_some();
    CHECK_FALSE(first.wants_to_write());
    const auto received = second.read_some();
    REQUIRE(received.frames.size() == 2);
    CHECK(received.frames[0].payload == "one");
    CHECK_FALSE(received.ended);
    second.send({.type = Type::output, .stream = 3, .payload = "two"});
    second.write_some();
    CHECK(first.read_some().frames.at(0).payload == "two");
}

TEST_CASE("a torn frame ends the channel with an error, a whole one does not") {
    for (const std::size_t missing : {0U, 1U}) {
        auto [here, there] = tare::test::make_sockets();
        Line line{std::move(here)};
        const std::string bytes = tare::channel::encode({.type = Type::input, .stream = 1, .payload = "abc"});
        write_to(there, bytes.substr(0, bytes.size() - missing));
        { const FileDescriptor closed = std::move(there); }
        CHECK(line.read_some().frames.size() == 1 - missing);
        if (missing == 0) {
            CHECK(line.read_some().ended);
        } else {
            CHECK_THROWS_AS(line.read_some(), ProtocolError);
        }
    }
}

TEST_CASE("there is no room for data while much waits to be written, and again when it was read") {
    auto [here, there] = tare::test::make_sockets();
    Line line{std::move(here)};
    while (line.has_room()) {
        line.send(chunk());
        line.write_some();
    }
    CHECK(line.queued() < tare::channel::most_queued_data + 2 * tare::channel::chunk_size);
    while (line.wants_to_write()) {
        CHECK_FALSE(tare::test::read_now(there).empty());
        line.write_some();
    }
    CHECK(line.has_room());
}

TEST_CASE("on a slow line little waits, in its socket too") {
    auto [here, there] = tare::test::make_sockets();
    Line line{std::move(here)};
    line.slow_down();
    std::size_t sent = 0;
    while (line.has_room()) {
        line.send({.type = Type::output, .stream = 1, .payload = std::string(line.chunk(), 'x')});
        line.write_some();
        sent += line.chunk();
    }
    CHECK(line.queued() < tare::channel::slow_most_queued_data + 2 * tare::channel::slow_chunk_size);
    CHECK(sent < 32'000);  // a third of a second at 100 kB/s
}

TEST_CASE("an end that never reads is an error before it fills the memory") {
    auto [here, there] = tare::test::make_sockets();
    Line line{std::move(here)};
    const auto send_for_ever = [&line] {
        for (;;) {
            line.send({.type = Type::credit, .stream = 1, .payload = "12345"});
            line.write_some();
        }
    };
    CHECK_THROWS_AS(send_for_ever(), ProtocolError);
    CHECK(line.queued() <= tare::channel::most_queued);
}

TEST_CASE("writing to an end that left loses what waits, and reading says so") {
    const tare::test::IgnoredSigpipe ignored;
    auto [here, there] = tare::test::make_sockets();
    Line line{std::move(here)};
    { const FileDescriptor closed = std::move(there); }
    line.send(chunk());
    line.write_some();
    CHECK_FALSE(line.wants_to_write());
    line.send(chunk());
    CHECK_FALSE(line.wants_to_write());
    CHECK(line.read_some().ended);
}

TEST_CASE("a closed descriptor is no line") { CHECK_THROWS_AS(Line{FileDescriptor{}}, std::system_error); }

}  // namespace
