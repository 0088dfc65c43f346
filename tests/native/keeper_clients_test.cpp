// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "common/number.hpp"
#include "keeper/clients.hpp"
#include "keeper/unix_socket.hpp"

namespace {

using namespace tare;
using channel::Frame;
using channel::ProtocolError;
using channel::Type;
using keeper::Clients;

using Pair = std::pair<FileDescriptor, FileDescriptor>;

Pair socket_pair(int type) {
    std::array<int, 2> ends{};
    REQUIRE(::socketpair(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) == 0);
    return {FileDescriptor{ends[0]}, FileDescriptor{ends[1]}};
}

std::array<FileDescriptor, 2> unread_pipe() {
    std::array<int, 2> ends{};
    REQUIRE(::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) == 0);
    return {FileDescriptor{ends[0]}, FileDescriptor{ends[1]}};
}

/// Clients around a line whose other end a test holds, as a guest would.
class Play {
  public:
    explicit Play(std::size_t asked) {
        for (std::size_t count = 0; count < asked; ++count) {
            add_program(count % 2 != 0);
        }
        serve();
        serve();  // now the ends of their inputs
    }

    /// Their outputs go nowhere, or where nobody ever reads.
    void add_program(bool stuck, int input = -1) {
        auto [ours, theirs] = socket_pair(SOCK_SEQPACKET);
        const FileDescriptor nothing{::open("/dev/null", O_RDWR | O_CLOEXEC)};
        const int output = stuck ? stuck_[1].number() : nothing.number();
        const auto request = channel::encode_execute({.directory = "/", .arguments = {"x"}, .variables = {}});
        REQUIRE(keeper::send_message(ours.number(), request,
                                     std::array{input < 0 ? nothing.number() : input, output, output}));
        clients.add(std::move(theirs));
        programs.push_back(std::move(ours));
    }

    /// And nothing is written.
    void ask_clients() {
        std::vector<pollfd> polled;
        clients.fill(polled);
        REQUIRE(::poll(polled.data(), polled.size(), 0) >= 0);
        clients.serve(polled);
    }

    /// And the guest reads nothing.
    void serve_without_reading() {
        ask_clients();
        clients.remove_finished();
        line.write_some();
    }

    void serve() {
        serve_without_reading();
        drain();
    }

    /// What the guest says; throws ProtocolError as the keeper would.
    void say(std::string_view bytes) {
        while (!bytes.empty()) {
            const auto part = bytes.substr(0, channel::chunk_size);  // no more than the line reads at once
            REQUIRE(::send(guest_.first.number(), part.data(), part.size(), 0) == std::ssize(part));
            bytes.remove_prefix(part.size());
            for (const Frame& frame : line.read_some().frames) {
                clients.take(frame);
            }
        }
    }
    void say(const Frame& frame) { say(channel::encode(frame)); }

    /// What the guest was told since the last time.
    std::vector<Frame> heard() { return std::exchange(heard_, {}); }
    /// The same once the guest has read so many bytes, or all.
    std::vector<Frame> hear(std::size_t most) {
        drain(most);
        return heard();
    }

  private:
    void drain(std::size_t most = SIZE_MAX) {
        std::array<char, 65536> buffer;  // NOLINT(*-member-init): recv fills what is used
        ssize_t count = 0;
        while ((count = ::recv(guest_.first.number(), buffer.data(), std::min(most, buffer.size()), 0)) > 0) {
            most -= static_cast<std::size_t>(count);
            decoder_.push(std::span{buffer}.first(static_cast<std::size_t>(count)));
            while (auto frame = decoder_.next()) {
                heard_.push_back(*std::move(frame));
            }
        }
    }

    Pair guest_ = socket_pair(SOCK_STREAM);
    std::array<FileDescriptor, 2> stuck_ = unread_pipe();
    channel::Decoder decoder_;
    std::vector<Frame> heard_;

  public:
    channel::Line line{std::move(guest_.second)};
    Clients clients{line};
    std::vector<FileDescriptor> programs;
};

channel::Exit answer_of(const FileDescriptor& program) {
    const auto message = keeper::receive_message(program.number());
    REQUIRE(message);
    return channel::decode_exit(message->bytes);
}

Frame exit_of(std::uint32_t stream) {
    return {.type = Type::exit,
            .stream = stream,
            .payload = channel::encode_exit({.how = channel::Exit::How::code, .number = 7, .text = {}})};
}

TEST_CASE("each client has a stream of its own, and its answer") {
    Play play{2};
    const auto told = play.heard();
    REQUIRE(told.size() == 4);
    CHECK(told[0].type == Type::execute);
    CHECK(told[1].type == Type::end_of_input);
    CHECK(told[2].type == Type::execute);
    CHECK(told[0].stream != told[2].stream);
    play.say(exit_of(told[2].stream));
    CHECK(answer_of(play.programs[1]).number == 7);
    CHECK_FALSE(keeper::receive_message(play.programs[0].number()));
}

TEST_CASE("a stream whose client has gone stays taken until the guest has ended it") {
    Play play{1};
    const auto stream = play.heard().front().stream;
    play.programs.clear();
    play.serve();
    CHECK(play.heard().back().type == Type::hang_up);
    CHECK(play.clients.count() == 1);
    play.say({.type = Type::output, .stream = stream, .payload = "late"});
    play.say(exit_of(stream));
    play.serve();
    CHECK(play.clients.count() == 0);
    CHECK_THROWS_AS(play.say(exit_of(stream)), ProtocolError);
}

TEST_CASE("an answer waits for all output to be read") {
    Play play{2};
    const auto stuck = play.heard()[2].stream;
    for (int count = 0; count < 16; ++count) {
        play.say({.type = Type::output, .stream = stuck, .payload = std::string(channel::chunk_size, 'x')});
    }
    play.say(exit_of(stuck));
    play.serve();
    CHECK_FALSE(keeper::receive_message(play.programs[1].number()));
    CHECK(play.clients.count() == 2);
}

TEST_CASE("a text of any length in an answer is cut to what a line needs") {
    Play play{1};
    const auto stream = play.heard().front().stream;
    const channel::Exit failed{
        .how = channel::Exit::How::failed, .number = 1, .text = std::string(200'000, 'x')};
    play.say({.type = Type::exit, .stream = stream, .payload = channel::encode_exit(failed)});
    CHECK(answer_of(play.programs[0]).text == std::string(4096, 'x'));
}

TEST_CASE("all that wait are told that the guest is gone") {
    Play play{3};
    play.clients.dismiss("gone for a test");
    for (const auto& program : play.programs) {
        CHECK(answer_of(program).text == "gone for a test");
    }
    CHECK(play.clients.count() == 0);
}

TEST_CASE("who has not asked yet has a deadline") {
    Play play{0};
    CHECK_FALSE(play.clients.next_deadline());
    auto [ours, theirs] = socket_pair(SOCK_SEQPACKET);
    play.clients.add(std::move(theirs));
    REQUIRE(play.clients.next_deadline());
    CHECK(*play.clients.next_deadline() <= keeper::Clock::now() + keeper::request_limit);
}

TEST_CASE("who floods a slow line leaves others their turn") {
    Play play{0};
    play.line.slow_down();
    const FileDescriptor zero{::open("/dev/zero", O_RDONLY | O_CLOEXEC)};
    play.add_program(false, zero.number());
    const auto rounds = [&play] {
        std::vector<Frame> all;
        for (int round = 0; round < 20; ++round) {
            play.serve_without_reading();
            for (Frame& frame : play.hear(channel::slow_chunk_size)) {
                all.push_back(std::move(frame));
            }
        }
        return all;
    };
    CHECK(rounds().back().stream == 1);
    play.add_program(false, zero.number());
    const auto told = rounds();
    CHECK(std::count_if(told.begin(), told.end(), [](const Frame& one) { return one.stream == 1; }) > 7);
    CHECK(std::count_if(told.begin(), told.end(), [](const Frame& one) { return one.stream == 2; }) > 7);
}

TEST_CASE("a stuck guest is asked no more than its line takes") {
    Play play{2};
    const auto told = play.heard();
    for (int count = 0; count < 20'000; ++count) {
        static_cast<void>(keeper::send_message(play.programs[0].number(), "15"));
        play.ask_clients();
    }
    CHECK(play.line.queued() <= channel::most_queued_data + channel::header_size + sizeof(std::uint32_t));
}

/// Frames as a broken or hostile guest may send them: of every kind, right ones and wrong ones.
class Hostility {
  public:
    explicit Hostility(std::uint32_t seed) : chance_{seed} {}

    std::string bytes() {
        auto content =
            channel::encode({.type = type(),
                             .stream = below(20) == 0 ? static_cast<std::uint32_t>(chance_()) : 1 + below(4),
                             .payload = payload()});
        if (below(20) == 0) {
            content[below(content.size())] ^= static_cast<char>(1U << below(8));
        }
        if (below(40) == 0) {
            content.resize(below(content.size()));
        }
        return content;
    }

  private:
    std::uint32_t below(std::size_t limit) { return static_cast<std::uint32_t>(chance_() % limit); }

    Type type() {
        constexpr std::array usual{Type::output, Type::error_output, Type::credit, Type::exit};
        return below(8) == 0 ? static_cast<Type>(below(14)) : usual.at(below(usual.size()));
    }

    std::string payload() {
        switch (below(6)) {
            case 0:
                return channel::encode_credit(
                    {.flow = static_cast<channel::Flow>(below(4)), .count = below(2000)});
            case 1:
                return channel::encode_exit({.how = static_cast<channel::Exit::How>(below(4)),
                                             .number = static_cast<int>(chance_()),
                                             .text = std::string(below(100), 'x')});
            case 2:
                return std::string(below(channel::chunk_size), 'x');
            case 3:
                return std::string(below(100) == 0 ? channel::largest_payload : 0, 'x');
            default:
                return noise();
        }
    }

    std::string noise() {
        std::string text(below(40), ' ');
        for (char& byte : text) {
            byte = static_cast<char>(below(256));
        }
        return text;
    }

    std::mt19937 chance_;
};

long peak_kib() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

std::size_t frames_to_try() {
    const char* const asked = std::getenv("TARE_FUZZ_FRAMES");
    return asked == nullptr ? 10'000 : parse_number<std::size_t>(asked).value_or(0);
}

TEST_CASE("no frames of a guest do more than end the channel") {
    Hostility hostility{1};
    auto play = std::make_unique<Play>(4);
    std::size_t refused = 0;
    const long before_kib = peak_kib();
    const std::size_t count = frames_to_try();
    for (std::size_t tried = 0; tried < count; ++tried) {
        try {
            play->say(hostility.bytes());
            play->serve();
        } catch (const ProtocolError&) {
            ++refused;
            play = std::make_unique<Play>(4);
        }
    }
    CHECK(refused > count / 10);
    CHECK(refused < count);
    CHECK(peak_kib() - before_kib < 32 * 1024);
}

}  // namespace
