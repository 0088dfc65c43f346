// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <string>
#include <utility>
#include <vector>

#include "fake_commands.hpp"
#include "guest/server.hpp"

namespace {

using tare::FileDescriptor;
using tare::channel::Exit;
using tare::channel::Flow;
using tare::channel::Frame;
using tare::channel::Line;
using tare::channel::ProtocolError;
using tare::channel::Type;
using tare::guest::Server;
using tare::test::FakeCommand;
using tare::test::IgnoredSigpipe;

constexpr std::chrono::milliseconds at_once{0};

std::string execute_payload(const std::string& name = "true") {
    return tare::channel::encode_execute({.directory = "/", .arguments = {name}, .variables = {"A=1"}});
}

/// A server, the fake commands below it and the host's end of its line.
class Session {
  public:
    Session() : Session{tare::test::make_sockets()} {}
    explicit Session(std::pair<FileDescriptor, FileDescriptor> ends)
        : host{std::move(ends.first)}, server{Line{std::move(ends.second)}, commands} {}

    /// Sends a frame and lets the server deal with it; what it answered.
    std::vector<Frame> ask(Type type, std::uint32_t stream, std::string payload = {}) {
        host.send({.type = type, .stream = stream, .payload = std::move(payload)});
        host.write_some();
        return rounds();
    }

    /// Some rounds of the server's loop; what it sent.
    std::vector<Frame> rounds(int count = 5) {
        std::vector<Frame> all;
        for (int round = 0; round < count; ++round) {
            goes_on = server.serve_once(commands.deaths.number(), at_once);
            for (Frame& frame : host.read_some().frames) {
                all.push_back(std::move(frame));
            }
        }
        return all;
    }

    FakeCommand& command(pid_t process = 1) { return commands.running.at(process); }

    bool goes_on = true;
    tare::test::FakeCommands commands;
    Line host;
    Server server;

  private:
    IgnoredSigpipe ignored_;
};

std::vector<Frame> of_type(const std::vector<Frame>& frames, Type type) {
    std::vector<Frame> found;
    std::copy_if(frames.begin(), frames.end(), std::back_inserter(found),
                 [type](const Frame& frame) { return frame.type == type; });
    return found;
}

Exit only_exit(const std::vector<Frame>& frames) {
    const auto exits = of_type(frames, Type::exit);
    REQUIRE(exits.size() == 1);
    CHECK(&frames.back() - frames.data() == static_cast<std::ptrdiff_t>(frames.size()) - 1);
    CHECK(frames.back().type == Type::exit);
    return tare::channel::decode_exit(exits[0].payload);
}

void write_to(const FileDescriptor& descriptor, const std::string& text) {
    REQUIRE(::write(descriptor.number(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
}

TEST_CASE("a command is told what was asked, its output comes, and then its end") {
    Session session;
    CHECK(session.ask(Type::execute, 5, execute_payload("sh")).empty());
    CHECK(session.command().asked.arguments.at(0) == "sh");
    session.ask(Type::input, 5, "typed");
    CHECK(tare::test::read_now(session.command().input) == "typed");
    session.ask(Type::end_of_input, 5);
    CHECK(tare::test::at_end(session.command().input));
    write_to(session.command().output, "out");
    write_to(session.command().error_output, "error");
    session.commands.end(1, 3 << 8);
    const auto frames = session.rounds();
    const Exit exit = only_exit(frames);
    CHECK(exit.how == Exit::How::code);
    CHECK(exit.number == 3);
    CHECK(of_type(frames, Type::output).at(0).payload == "out");
    CHECK(of_type(frames, Type::error_output).at(0).payload == "error");
    CHECK(session.commands.forgotten == std::vector<pid_t>{1});
    CHECK(session.server.streams() == 0);
}

TEST_CASE("a command that could not be executed says why") {
    Session session;
    session.ask(Type::execute, 5, execute_payload());
    write_to(session.command().failure,
             tare::channel::encode_exit({.how = Exit::How::failed, .number = ENOENT, .text = "not there"}));
    session.commands.end(1, 127 << 8);
    const Exit exit = only_exit(session.rounds());
    CHECK(exit.how == Exit::How::failed);
    CHECK(exit.number == ENOENT);
    CHECK(exit.text == "not there");
}

TEST_CASE("a guest without room for a process says so, and goes on") {
    Session session;
    session.commands.full = true;
    const Exit exit = only_exit(session.ask(Type::execute, 5, execute_payload()));
    CHECK(exit.how == Exit::How::failed);
    CHECK(exit.number == 0);
    CHECK(exit.text.starts_with("cannot start a process: "));
    CHECK(session.server.streams() == 0);
    CHECK(session.goes_on);
}

TEST_CASE("a signal reaches a command that runs, and nobody afterwards") {
    Session session;
    session.ask(Type::execute, 5, execute_payload());
    session.ask(Type::signal, 5, tare::channel::encode_number(SIGUSR1));
    CHECK(session.commands.signals == std::vector<std::pair<pid_t, int>>{{1, SIGUSR1}});
    session.commands.end(1, SIGUSR1);
    const Exit exit = only_exit(session.ask(Type::signal, 5, tare::channel::encode_number(SIGTERM)));
    CHECK(exit.how == Exit::How::signal);
    CHECK(exit.number == SIGUSR1);
    session.ask(Type::signal, 5, tare::channel::encode_number(SIGTERM));
    CHECK(session.commands.signals.size() <= 2);
}

TEST_CASE("a hang-up kills the command and drops its output") {
    Session session;
    session.ask(Type::execute, 5, execute_payload());
    write_to(session.command().output, "nobody reads this");
    const auto frames = session.ask(Type::hang_up, 5);
    CHECK(session.commands.running.empty());
    CHECK(of_type(frames, Type::exit).size() == 1);
    CHECK(session.server.streams() == 0);
}

TEST_CASE("what is told a stream that ended is ignored") {
    Session session;
    for (const Type type : {Type::input, Type::end_of_input, Type::credit, Type::signal, Type::hang_up}) {
        CHECK(session.ask(type, 77, "anything").empty());
    }
    CHECK(session.goes_on);
}

TEST_CASE("whatever breaks the rules ends the channel") {
    const auto breaks = [](Type type, const std::string& payload) {
        Session session;
        session.ask(Type::execute, 5, execute_payload());
        CHECK_THROWS_AS(session.ask(type, 5, payload), ProtocolError);
    };
    breaks(Type::hello, {});
    breaks(Type::exit, {});
    breaks(Type::output, "x");
    breaks(Type::error_output, "x");
    breaks(Type::execute, execute_payload());
    breaks(Type::credit, tare::channel::encode_credit({.flow = Flow::output, .count = 1}));
    breaks(Type::credit, tare::channel::encode_credit({.flow = Flow::input, .count = 1}));
    breaks(Type::signal, tare::channel::encode_number(0));
    breaks(Type::signal, tare::channel::encode_number(65));
    breaks(Type::signal, "x");
    breaks(Type::set_clock, "x");
}

TEST_CASE("a command that cannot be run ends the channel, and is not started") {
    Session session;
    const auto command =
        tare::channel::encode_execute({.directory = "tmp", .arguments = {"true"}, .variables = {}});
    CHECK_THROWS_AS(session.ask(Type::execute, 5, command), ProtocolError);
    CHECK(session.commands.last_id == 0);
}

TEST_CASE("the end of a command is told before the tidying up behind it") {
    Session session;
    session.ask(Type::execute, 5, execute_payload());
    session.commands.when_forgetting = [&session] {
        CHECK(of_type(session.host.read_some().frames, Type::exit).size() == 1);
    };
    session.commands.end(1, 0);
    session.rounds();
    CHECK(session.commands.forgotten.size() == 1);
}

TEST_CASE("input after its end, and input beyond the window, end the channel") {
    Session late;
    late.ask(Type::execute, 5, execute_payload());
    late.ask(Type::end_of_input, 5);
    CHECK_THROWS_AS(late.ask(Type::input, 5, "late"), ProtocolError);
    Session much;
    much.ask(Type::execute, 5, execute_payload());
    const auto flood = [&much] {
        for (std::size_t sent = 0; sent <= tare::channel::window_size; sent += tare::channel::chunk_size) {
            much.ask(Type::input, 5, std::string(tare::channel::chunk_size, 'x'));
        }
    };
    CHECK_NOTHROW(flood());  // the pipe takes 64 KiB, which are credited
    CHECK_THROWS_AS(flood(), ProtocolError);
    CHECK(much.server.held_byte() <= tare::channel::window_size + tare::channel::most_queued_data);
}

TEST_CASE("there are no more streams than may be") {
    Session session;
    for (std::uint32_t stream = 1; stream <= tare::channel::most_streams; ++stream) {
        session.ask(Type::execute, stream, execute_payload());
    }
    CHECK(session.server.streams() == tare::channel::most_streams);
    CHECK_THROWS_AS(session.ask(Type::execute, 1000, execute_payload()), ProtocolError);
}

TEST_CASE("a line with little room serves every stream in turn") {
    Session session;
    for (std::uint32_t stream = 1; stream <= 20; ++stream) {
        session.ask(Type::execute, stream, execute_payload());
    }
    for (auto& [id, command] : session.commands.running) {
        write_to(command.output, std::string(65536, 'x'));
    }
    std::vector<std::uint32_t> first(21, 0);
    std::uint32_t place = 0;
    while (place < 80) {
        static_cast<void>(session.server.serve_once(session.commands.deaths.number(), at_once));
        for (const Frame& frame : session.host.read_some().frames) {
            first[frame.stream] = first[frame.stream] == 0 ? ++place : (++place, first[frame.stream]);
        }
    }
    CHECK(*std::max_element(first.begin() + 1, first.end()) <= 40);
}

TEST_CASE("the clock is set, and power-off ends the serving") {
    Session session;
    session.ask(Type::set_clock, 0, tare::channel::encode_time(1234567890123456789));
    CHECK(session.commands.clock_ns == 1234567890123456789);
    session.host.send({.type = Type::power_off, .stream = 0, .payload = {}});
    session.host.write_some();
    CHECK_FALSE(session.server.serve_once(session.commands.deaths.number(), at_once));
    CHECK_FALSE(session.server.host_left());
}

TEST_CASE("a host that leaves ends the serving, and all commands") {
    Session session;
    session.ask(Type::execute, 5, execute_payload());
    session.ask(Type::execute, 6, execute_payload());
    session.host = Line{std::move(tare::test::make_sockets().first)};
    CHECK(session.server.serve(session.commands.deaths.number()) == Server::End::host_left);
    session.server.end_all(session.commands.deaths.number(), std::chrono::seconds{5});
    CHECK(session.commands.running.empty());
    CHECK(session.server.streams() == 0);
}

TEST_CASE("hello comes first, and tells the version, the kernel and the pace") {
    Session session;
    session.server.say_hello();
    const auto frames = session.host.read_some().frames;
    REQUIRE(frames.size() == 1);
    CHECK(frames[0].type == Type::hello);
    const auto words = tare::channel::decode_words(frames[0].payload);
    REQUIRE(words.size() == 3);
    CHECK(words[0] == tare::channel::protocol_version);
    CHECK_FALSE(words[1].empty());
    CHECK(words[2] == tare::channel::quick_pace);
}

}  // namespace
