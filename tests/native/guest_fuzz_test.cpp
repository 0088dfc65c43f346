// SPDX-License-Identifier: Apache-2.0
// Hostile frames at the guest's end of the channel. TARE_FUZZ_FRAMES says how many; a slice by default.
#include <doctest/doctest.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "channel/frame.hpp"
#include "common/number.hpp"
#include "fake_commands.hpp"
#include "guest/server.hpp"

namespace {

using tare::FileDescriptor;
using tare::channel::Decoder;
using tare::channel::Frame;
using tare::channel::Line;
using tare::channel::ProtocolError;
using tare::channel::Type;

constexpr std::uint64_t slice = 50'000;
constexpr std::size_t pushed_at_once = std::size_t{64} << 10U;

std::uint64_t frames_to_send() {
    const char* const asked = std::getenv("TARE_FUZZ_FRAMES");
    return asked == nullptr ? slice : tare::parse_number<std::uint64_t>(asked).value_or(slice);
}

/// Frames of every kind, most of them nearly right.
class Hostile {
  public:
    /// Some hosts damage most of what they send, others hardly any: those get far.
    void change_mood() {
        constexpr std::array<std::size_t, 3> moods{4, 200, 20'000};
        calm_ = moods.at(below(moods.size()));
        next_stream_ = 0;
    }

    std::size_t below(std::size_t limit) { return random_() % limit; }
    bool once_in(std::size_t count) { return below(count) == 0; }

    /// The bytes of one frame, perhaps damaged, torn or blown up.
    std::string bytes() {
        std::string whole = encode(frame());
        if (once_in(calm_)) {
            damage(whole);
        }
        return whole;
    }

  private:
    void damage(std::string& whole) {
        switch (below(4)) {
            case 0:
                whole[below(whole.size())] = static_cast<char>(below(256));
                break;
            case 1:
                whole.resize(below(whole.size()));
                break;
            case 2:
                whole[8 + below(4)] = '\xff';
                break;
            default:
                whole.insert(below(whole.size()), noise(below(64)));
                break;
        }
    }

    Frame frame() {
        const auto type = once_in(3) ? Type::execute : static_cast<Type>(1 + below(12));
        const bool rare = type == Type::hello || type == Type::power_off || type == Type::exit ||
                          type == Type::output || type == Type::error_output;
        return {.type = rare && !once_in(calm_) ? Type::input : type,
                .stream = type == Type::execute && !once_in(calm_) ? ++next_stream_ : some_stream(),
                .payload = payload(type)};
    }

    std::uint32_t some_stream() {
        return static_cast<std::uint32_t>(once_in(50) ? random_() : below(next_stream_ + 5));
    }

    std::string payload(Type type) {
        if (once_in(calm_)) {
            return noise(below(once_in(20) ? tare::channel::largest_payload : 300));
        }
        switch (type) {
            case Type::execute:
                return tare::channel::encode_execute({.directory = once_in(calm_) ? "." : "/",
                                                      .arguments = {"true", std::string(below(8), 'a')},
                                                      .variables = {"A=" + std::string(below(40), 'a')}});
            case Type::credit:
                return tare::channel::encode_credit(
                    {.flow = static_cast<tare::channel::Flow>(1 + below(2)),
                     .count = static_cast<std::uint32_t>(once_in(calm_) ? random_() : below(3))});
            case Type::signal:
                return tare::channel::encode_number(static_cast<std::uint32_t>(1 + below(64)));
            case Type::set_clock:
                return tare::channel::encode_time(random_());
            default:
                return std::string(once_in(10) ? below(tare::channel::chunk_size) : below(200), 'x');
        }
    }

    std::string noise(std::size_t size) {
        std::string text(size, ' ');
        std::generate(text.begin(), text.end(), [this] { return static_cast<char>(random_()); });
        return text;
    }

    std::mt19937_64 random_{20'261'121};
    std::size_t calm_ = 4;  // one frame in so many is damaged, and as many are wrong in each other way
    std::uint32_t next_stream_ = 0;
};

/// A guest between this and fake commands. Its host is hostile, and reads now and then.
class Victim {
  public:
    explicit Victim(Hostile& hostile) : Victim{hostile, tare::test::make_sockets()} {}

    /// Gives it bytes; false when the channel ended.
    bool survives(std::string_view bytes) {
        while (!bytes.empty()) {
            const ssize_t count = ::write(host_.number(), bytes.data(), bytes.size());
            bytes.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
            play_commands();
            if (!round()) {
                return false;
            }
        }
        return true;
    }

    [[nodiscard]] std::size_t most_held() const { return most_held_; }
    [[nodiscard]] std::size_t most_streams() const { return most_streams_; }

  private:
    Victim(Hostile& hostile, std::pair<FileDescriptor, FileDescriptor> ends)
        : hostile_{hostile}, host_{std::move(ends.first)}, server_{Line{std::move(ends.second)}, commands_} {}

    bool round() {
        bool goes_on = false;
        try {
            goes_on = server_.serve_once(commands_.deaths.number(), std::chrono::milliseconds{0});
        } catch (const ProtocolError&) {
        }
        most_held_ = std::max(most_held_, server_.held_byte());
        most_streams_ = std::max(most_streams_, server_.streams());
        return goes_on;
    }

    /// Now and then something is read, said, or ends.
    void play_commands() {
        if (hostile_.once_in(3)) {
            static_cast<void>(tare::test::read_now(host_));
        }
        if (commands_.running.empty()) {
            return;
        }
        auto command = std::next(commands_.running.begin(),
                                 static_cast<std::ptrdiff_t>(hostile_.below(commands_.running.size())));
        const std::string said(hostile_.below(20'000), 'o');
        std::ignore = ::write(command->second.output.number(), said.data(), said.size());
        if (hostile_.once_in(4)) {
            static_cast<void>(tare::test::read_now(command->second.input));
        }
        if (hostile_.once_in(8)) {
            commands_.end(command->first, 0);
        }
    }

    Hostile& hostile_;
    FileDescriptor host_;
    tare::test::FakeCommands commands_;
    tare::guest::Server server_;
    std::size_t most_held_ = 0;
    std::size_t most_streams_ = 0;
};

TEST_CASE("a decoder survives hostile bytes, and holds no more than a frame beyond what was pushed") {
    Hostile hostile;
    Decoder decoder;
    std::uint64_t taken = 0;
    std::uint64_t refused = 0;
    for (std::uint64_t count = frames_to_send(); count != 0; --count) {
        const std::string bytes = hostile.bytes();
        try {
            for (std::string_view rest = bytes; !rest.empty();) {
                const auto piece = rest.substr(0, 1 + hostile.below(pushed_at_once));
                decoder.push(piece);
                while (decoder.next()) {
                    ++taken;
                }
                rest.remove_prefix(piece.size());
            }
        } catch (const ProtocolError&) {
            ++refused;
            hostile.change_mood();
            decoder = Decoder{hostile.once_in(2) ? Decoder::Begin::here : Decoder::Begin::at_hello};
        }
        REQUIRE(decoder.held_byte() <=
                tare::channel::header_size + tare::channel::largest_payload + pushed_at_once);
    }
    CHECK(taken > 0);
    CHECK(refused > 0);
}

TEST_CASE("a guest survives hostile frames: no crash, no hang, bounded memory") {
    const tare::test::IgnoredSigpipe ignored;
    Hostile hostile;
    std::uint64_t ends = 0;
    std::size_t most_held = 0;
    std::size_t most_streams = 0;
    std::optional<Victim> victim;
    for (std::uint64_t count = frames_to_send(); count != 0; --count) {
        if (!victim) {
            hostile.change_mood();
            victim.emplace(hostile);
        }
        const bool survived = victim->survives(hostile.bytes());
        most_held = std::max(most_held, victim->most_held());
        most_streams = std::max(most_streams, victim->most_streams());
        if (!survived) {
            ++ends;
            victim.reset();
        }
    }
    CHECK(ends > 0);
    CHECK(most_streams > 30);
    CHECK(most_streams <= tare::channel::most_streams);
    CHECK(most_held <= tare::channel::most_queued + tare::channel::most_streams * tare::channel::window_size);
    MESSAGE(ends << " channels ended, at most " << most_streams << " streams and " << most_held
                 << " bytes were held");
}

}  // namespace
