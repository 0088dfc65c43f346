// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "channel/flow.hpp"
#include "pipes.hpp"

namespace {

using tare::FileDescriptor;
using tare::channel::Flow;
using tare::channel::Frame;
using tare::channel::Line;
using tare::channel::ProtocolError;
using tare::channel::Sink;
using tare::channel::Source;
using tare::channel::Type;
using tare::channel::window_size;

/// A line, and the other end's look at it.
struct Wire {
    Wire() : Wire{tare::test::make_sockets()} {}
    explicit Wire(std::pair<FileDescriptor, FileDescriptor> ends)
        : line{std::move(ends.first)}, far{std::move(ends.second)} {}

    std::vector<Frame> sent() {
        std::vector<Frame> all;
        do {
            line.write_some();
            for (Frame& frame : far.read_some().frames) {
                all.push_back(std::move(frame));
            }
        } while (line.wants_to_write());
        for (Frame& frame : far.read_some().frames) {
            all.push_back(std::move(frame));
        }
        return all;
    }

    std::uint32_t credited() {
        std::uint32_t sum = 0;
        for (const Frame& frame : sent()) {
            sum += frame.type == Type::credit ? tare::channel::decode_credit(frame.payload).count : 0;
        }
        return sum;
    }

    Line line;
    Line far;
};

std::string payloads(const std::vector<Frame>& frames) {
    return std::accumulate(
        frames.begin(), frames.end(), std::string{},
        [](std::string sum, const Frame& frame) { return std::move(sum) + frame.payload; });
}

constexpr tare::channel::FlowName output{.stream = 9, .flow = Flow::output};
constexpr tare::channel::FlowName input{.stream = 9, .flow = Flow::input};

TEST_CASE("a source sends what comes, and the end of it") {
    for (const auto& [name, last] : {std::pair{output, Type::output}, std::pair{input, Type::end_of_input}}) {
        Wire wire;
        auto [reader, writer] = tare::test::make_pipe();
        Source source{std::move(reader), name};
        REQUIRE(::write(writer.number(), "bytes", 5) == 5);
        source.read_some(wire.line);
        { const FileDescriptor closed = std::move(writer); }
        CHECK_FALSE(source.ended());
        source.read_some(wire.line);
        CHECK(source.ended());
        const auto sent = wire.sent();
        REQUIRE(sent.size() == 2);
        CHECK(sent[0].payload == "bytes");
        CHECK(sent[0].stream == 9);
        CHECK(sent[1].type == last);
        CHECK(sent[1].payload.empty());
    }
}

TEST_CASE("a source sends no more than its window until it is credited, and then that much") {
    Wire wire;
    const FileDescriptor zero{::open("/dev/zero", O_RDONLY | O_CLOEXEC)};
    Source source{FileDescriptor{::dup(zero.number())}, output};
    std::size_t sent = 0;
    const auto send_all = [&] {
        while (source.wants_to_read(wire.line)) {
            source.read_some(wire.line);
            sent += payloads(wire.sent()).size();
        }
    };
    send_all();
    CHECK(sent == window_size);
    source.add_credit(100);
    send_all();
    CHECK(sent == window_size + 100);
    source.read_some(wire.line);
    CHECK(wire.sent().empty());
    CHECK_THROWS_AS(source.add_credit(window_size + 1), ProtocolError);
}

TEST_CASE("a source sends small pieces on a slow line") {
    Wire wire;
    wire.line.slow_down();
    Source source{FileDescriptor{::open("/dev/zero", O_RDONLY | O_CLOEXEC)}, output};
    source.read_some(wire.line);
    CHECK(payloads(wire.sent()).size() == tare::channel::slow_chunk_size);
}

TEST_CASE("a source sends what is there without a round of poll, and waits for nothing") {
    Wire wire;
    auto [reader, writer] = tare::test::make_pipe();
    Source source{std::move(reader), input};
    source.read_what_is_there(wire.line);
    CHECK(wire.sent().empty());
    REQUIRE(::write(writer.number(), "bytes", 5) == 5);
    source.read_what_is_there(wire.line);
    CHECK(payloads(wire.sent()) == "bytes");
}

/// A FIFO with one writer that wrote and went.
FileDescriptor left_fifo(const std::string& text) {
    std::string folder = std::filesystem::temp_directory_path() / "tare-test-XXXXXX";
    REQUIRE(::mkdtemp(folder.data()) != nullptr);
    const std::string path = folder + "/fifo";
    REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
    FileDescriptor reader{::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
    const FileDescriptor writer{::open(path.c_str(), O_WRONLY | O_CLOEXEC)};
    std::filesystem::remove_all(folder);
    REQUIRE(::write(writer.number(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    return reader;
}

TEST_CASE("a source tells the end of a FIFO whose writers went before") {
    for (const std::string text : {"", "bytes"}) {
        Wire wire;
        Source source = Source::of_shared(left_fifo(text), input);
        for (int round = 0; round < 2; ++round) {
            pollfd asked{.fd = source.number(), .events = POLLIN, .revents = 0};
            if (::poll(&asked, 1, 0) == 1) {
                source.read_some(wire.line);
            }
        }
        CHECK(source.ended());
        CHECK(payloads(wire.sent()) == text);
    }
}

TEST_CASE("a source waits while the line has no room") {
    Wire wire;
    Source source{FileDescriptor{::open("/dev/zero", O_RDONLY | O_CLOEXEC)}, output};
    while (wire.line.has_room()) {
        wire.line.send({.type = Type::output, .stream = 1, .payload = std::string(1000, 'x')});
    }
    CHECK_FALSE(source.wants_to_read(wire.line));
    static_cast<void>(wire.sent());
    CHECK(source.wants_to_read(wire.line));
}

TEST_CASE("a source ends behind what is there, though somebody still holds the other end") {
    const tare::test::IgnoredSigpipe ignored;
    for (const std::string text : {"", "left behind"}) {
        Wire wire;
        auto [reader, writer] = tare::test::make_pipe(O_CLOEXEC | O_NONBLOCK);
        Source source{std::move(reader), output};
        REQUIRE(::write(writer.number(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
        source.end_behind_what_is_there(wire.line);
        CHECK(source.ended() == text.empty());
        std::ignore = ::write(writer.number(), "too late", 8);
        source.read_some(wire.line);
        CHECK(source.ended());
        const auto sent = wire.sent();
        CHECK(payloads(sent) == text);
        CHECK(sent.back().payload.empty());
        source.end_behind_what_is_there(wire.line);
        CHECK(wire.sent().empty());
    }
}

TEST_CASE("a sink passes bytes on and credits them") {
    Wire wire;
    auto [reader, writer] = tare::test::make_pipe(O_CLOEXEC | O_NONBLOCK);
    Sink sink{std::move(writer), input};
    std::string passed;
    std::string given;
    std::size_t credited = 0;
    for (char letter = 'a'; letter <= 'z'; ++letter) {
        given += std::string(30000, letter);
        sink.take(std::string(30000, letter), wire.line);
        while (sink.wants_to_write()) {
            passed += tare::test::read_now(reader);
            sink.write_some(wire.line);
        }
        credited += wire.credited();
    }
    sink.end();
    passed += tare::test::read_now(reader);
    CHECK(passed == given);
    CHECK(credited <= given.size());
    CHECK(credited >= given.size() - window_size / 8);
    CHECK(sink.ended());
    CHECK(tare::test::at_end(reader));
}

TEST_CASE("the end of a sink comes behind all its bytes") {
    Wire wire;
    auto [reader, writer] = tare::test::make_pipe(O_CLOEXEC | O_NONBLOCK);
    Sink sink{std::move(writer), input};
    sink.take(std::string(200000, 'x'), wire.line);
    sink.end();
    CHECK_FALSE(sink.ended());
    std::size_t passed = 0;
    while (!sink.ended()) {
        passed += tare::test::read_now(reader).size();
        sink.write_some(wire.line);
    }
    passed += tare::test::read_now(reader).size();
    CHECK(passed == 200000);
    CHECK(tare::test::at_end(reader));
    CHECK_THROWS_AS(sink.take("more", wire.line), ProtocolError);
}

TEST_CASE("a sink whose reader is slow holds a window, and not a byte more") {
    Wire wire;
    auto [reader, writer] = tare::test::make_pipe();  // it blocks, and the sink must not
    Sink sink{std::move(writer), output};
    std::size_t given = 0;
    std::size_t credited = 0;
    while (given - credited < window_size) {
        const std::string bytes(std::min<std::size_t>(window_size - (given - credited), 10000), 'x');
        sink.take(bytes, wire.line);
        given += bytes.size();
        credited += wire.credited();
    }
    CHECK(sink.pending_byte() <= window_size);
    CHECK_THROWS_AS(sink.take("x", wire.line), ProtocolError);
}

TEST_CASE("a sink whose reader left swallows, and still credits") {
    const tare::test::IgnoredSigpipe ignored;
    Wire wire;
    auto [reader, writer] = tare::test::make_pipe();
    Sink sink{std::move(writer), output};
    { const FileDescriptor closed = std::move(reader); }
    std::size_t credited = 0;
    for (int round = 0; round < 100; ++round) {
        sink.take(std::string(window_size / 8, 'x'), wire.line);
        credited += wire.credited();
        CHECK(sink.pending_byte() == 0);
    }
    CHECK(sink.reader_left());
    CHECK(credited == 100 * (window_size / 8));
}

TEST_CASE("a closed sink drops what waits and swallows what comes") {
    Wire wire;
    auto [reader, writer] = tare::test::make_pipe(O_CLOEXEC | O_NONBLOCK);
    Sink sink{std::move(writer), output};
    sink.take(std::string(window_size, 'x'), wire.line);
    sink.close();
    CHECK(sink.pending_byte() == 0);
    CHECK_FALSE(sink.wants_to_write());
    CHECK(tare::test::read_now(reader).size() == 65536);
    CHECK(tare::test::at_end(reader));
    static_cast<void>(wire.sent());
    sink.take("more", wire.line);
    CHECK(sink.pending_byte() == 0);
}

TEST_CASE("a descriptor made nonblocking leaves the one it came from as it was") {
    auto [reader, writer] = tare::test::make_pipe();
    const FileDescriptor own = tare::channel::without_blocking(FileDescriptor{::dup(writer.number())});
    CHECK((::fcntl(own.number(), F_GETFL) & O_NONBLOCK) != 0);
    CHECK((::fcntl(writer.number(), F_GETFL) & O_NONBLOCK) == 0);
    REQUIRE(::write(own.number(), "same", 4) == 4);
    std::string text(4, ' ');
    REQUIRE(::read(reader.number(), text.data(), 4) == 4);
    CHECK(text == "same");
}

TEST_CASE("a file keeps its place when it is made nonblocking") {
    const FileDescriptor file{::open("/proc/self/exe", O_RDONLY | O_CLOEXEC)};
    REQUIRE(::lseek(file.number(), 100, SEEK_SET) == 100);
    const FileDescriptor own = tare::channel::without_blocking(FileDescriptor{::dup(file.number())});
    CHECK(::lseek(own.number(), 0, SEEK_CUR) == 100);
}

}  // namespace
