// SPDX-License-Identifier: Apache-2.0
// One program that has a command run in the guest, on a stream of its own.
//
// It sends a message with the payload of `execute` and its three standard files, then signals' numbers as
// decimal text. The answer is the payload of `exit`, once all output was passed on. When it goes, its command
// goes too, and the stream stays until the guest has said its last word about it.
#pragma once

#include <poll.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "channel/flow.hpp"
#include "channel/frame.hpp"
#include "channel/line.hpp"
#include "common/file_descriptor.hpp"
#include "keeper/unix_socket.hpp"

namespace tare::keeper {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds request_limit{10};

class Client {
  public:
    /// One that is not `welcome` is refused when it asks.
    Client(FileDescriptor connection, std::uint32_t stream, bool welcome)
        : connection_{std::move(connection)}, stream_{stream}, welcome_{welcome} {}

    /// What it polls: the connection, and the three files.
    static constexpr std::size_t polled_files = 1 + standard_files;
    void fill(std::span<pollfd, polled_files> polled, const channel::Line& line) const;

    /// Does what can be done now, by the results of poll.
    void serve(std::span<const pollfd, polled_files> polled, channel::Line& line);

    /// A frame of the guest for this stream; throws ProtocolError for what the guest must not say now.
    void take(const channel::Frame& frame, channel::Line& line);

    /// Tells it, unless it has its answer, and has done with it.
    void refuse(int number, const std::string& text);

    /// When it must have asked; nothing once it has.
    [[nodiscard]] std::optional<Clock::time_point> request_deadline() const;

    /// Nobody waits for anything any more: neither the program, nor the guest.
    [[nodiscard]] bool finished() const { return !connection_ && (!asked_ || exit_); }

  private:
    struct Flows {
        channel::Source input;
        std::array<channel::Sink, 2> outputs;
    };

    void serve_connection(short events, channel::Line& line);
    void take_message(Message message, channel::Line& line);
    void begin(Message message, channel::Line& line);
    void pass_signal(const Message& message, channel::Line& line) const;
    void take_credit(const channel::Frame& frame);
    void take_exit(const channel::Frame& frame);
    void leave(channel::Line& line);
    void answer_when_drained();
    void answer(const channel::Exit& exit);

    FileDescriptor connection_;
    std::uint32_t stream_;
    bool welcome_;
    bool asked_ = false;
    Clock::time_point since_ = Clock::now();
    std::optional<Flows> flows_;
    std::optional<channel::Exit> exit_;
};

}  // namespace tare::keeper
