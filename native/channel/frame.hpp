// SPDX-License-Identifier: Apache-2.0
// What crosses the line between a host and a guest: frames, and the one rule for taking them apart.
//
// A frame is a header of 16 bytes, little-endian, and its payload:
//   u16 magic, u8 type, u8 zero, u32 stream, u32 length of the payload, u32 CRC-32 of all that is not itself
// Anything else ends the channel with an error: a serial line has no other way to say that a byte was lost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tare::channel {

/// Payloads in brackets. "Words" are length-prefixed strings, see `encode_words`.
/// A guest says `hello` again every second until a frame of the host came: a serial line loses what nobody
/// reads yet. What is told a stream that has ended is ignored: it was under way.
enum class Type : std::uint8_t {
    hello = 1,    // guest: it serves [words: protocol version, kernel release, pace]; first frame; see below
    execute = 2,  // host: begin stream [words: directory, number of arguments, arguments..., variables...]
    input = 3,    // host: standard input [bytes]
    end_of_input = 4,  // host: no more of it []
    output = 5,        // guest: standard output [bytes]
    error_output = 6,  // guest: standard error [bytes]
    credit = 7,        // both: so many bytes were passed on [u8 Flow, u32 count]
    signal = 8,        // host: for the command's process group [u32 number]
    hang_up = 9,       // host: nobody waits any more; the command and all it started are to go []
    exit = 10,         // guest: its last frame of the stream [words: how, number, text]; see `Exit`
    set_clock = 11,    // host: CLOCK_REALTIME, in nanoseconds, for stream 0 [u64]
    power_off = 12,    // host: for stream 0 []
};

/// The three flows of a stream. Each has a window: so much may be under way that was not credited yet.
enum class Flow : std::uint8_t { input = 0, output = 1, error_output = 2 };

constexpr std::size_t header_size = 16;
constexpr std::size_t largest_payload = std::size_t{256} << 10U;
constexpr std::size_t chunk_size = std::size_t{16} << 10U;  // of data, at most
constexpr std::size_t window_size = std::size_t{256} << 10U;
constexpr std::size_t most_streams = 256;
constexpr std::string_view protocol_version = "1";
constexpr std::string_view quick_pace = "quick";
constexpr std::string_view slow_pace = "slow";  // such as that of a serial line; see `Line::slow_down`

struct Frame {
    Type type{};
    std::uint32_t stream = 0;
    std::string payload;
};

/// The other end broke the rules, or bytes were lost; the channel cannot go on.
class ProtocolError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// The frame as bytes. Throws std::length_error when its payload is longer than `largest_payload`.
[[nodiscard]] std::string encode(const Frame& frame);

/// Takes bytes as they come and gives frames. Who takes out all frames after each push lets it hold no more
/// than one frame beyond what was pushed last.
class Decoder {
  public:
    /// Where the first frame begins: here, or behind bytes of a frame that was under way before. Then
    /// everything ahead of the first `hello` is skipped.
    enum class Begin : std::uint8_t { here, at_hello };

    explicit Decoder(Begin begin = Begin::here) : synchronised_{begin == Begin::here} {}

    void push(std::span<const char> bytes);

    /// The next whole frame, if there is one. Throws ProtocolError at the first byte that cannot be part of
    /// one.
    [[nodiscard]] std::optional<Frame> next();

    /// Whether the bytes so far end within a frame.
    [[nodiscard]] bool torn() const { return position_ != pending_.size(); }

    /// What it holds, in bytes.
    [[nodiscard]] std::size_t held_byte() const { return pending_.size(); }

  private:
    bool skip_to_hello();

    std::string pending_;
    std::size_t position_ = 0;
    bool synchronised_;
};

/// Strings one after the other, each behind its length (u32).
[[nodiscard]] std::string encode_words(std::span<const std::string> words);
/// Throws ProtocolError when the payload is something else.
[[nodiscard]] std::vector<std::string> decode_words(std::string_view payload);

[[nodiscard]] std::string encode_number(std::uint32_t number);
[[nodiscard]] std::uint32_t decode_number(std::string_view payload);
[[nodiscard]] std::string encode_time(std::uint64_t time_ns);
[[nodiscard]] std::uint64_t decode_time(std::string_view payload);

/// What to run. Its variables are all that it gets.
struct Execute {
    std::string directory;
    std::vector<std::string> arguments;
    std::vector<std::string> variables;
};
[[nodiscard]] std::string encode_execute(const Execute& command);
/// Throws ProtocolError for what cannot be run either: no arguments, no absolute directory, variables without
/// names, null bytes.
[[nodiscard]] Execute decode_execute(std::string_view payload);

/// How a command ended: `code` with its number, `signal` with its number, or `failed`: it was never started.
/// Then the number is the errno(3) value of executing it (ENOENT: there is no such program) or 0 when
/// something else failed, and the text is for people.
struct Exit {
    enum class How : std::uint8_t { code, signal, failed };
    How how{};
    int number = 0;
    std::string text;
};
[[nodiscard]] std::string encode_exit(const Exit& exit);
[[nodiscard]] Exit decode_exit(std::string_view payload);

struct Credit {
    Flow flow{};
    std::uint32_t count = 0;
};
[[nodiscard]] std::string encode_credit(const Credit& credit);
[[nodiscard]] Credit decode_credit(std::string_view payload);

}  // namespace tare::channel
