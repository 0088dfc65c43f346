// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <poll.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "channel/flow.hpp"
#include "channel/frame.hpp"
#include "channel/line.hpp"
#include "guest/commands.hpp"

namespace tare::guest {

/// One stream: a command that runs, and its three flows.
///
/// Its end is told as soon as the command has ended and what is in its pipes by then was sent, even if
/// something it left behind holds them open: a daemon must not keep its caller waiting.
class Job {
  public:
    static constexpr std::size_t descriptors = 3;

    Job(std::uint32_t stream, Process process);

    [[nodiscard]] Process& process() { return process_; }
    [[nodiscard]] const Process& process() const { return process_; }
    [[nodiscard]] bool running() const { return !status_.has_value(); }

    /// What to poll for now; a descriptor that wants nothing is -1.
    [[nodiscard]] std::array<pollfd, descriptors> wishes(const channel::Line& line) const;

    /// Moves bytes where poll said so; whether any output went to the line.
    bool move(std::span<const pollfd, descriptors> polled, channel::Line& line);

    void take_input(std::string_view bytes, channel::Line& line);
    void end_input();
    void add_credit(const channel::Credit& credit);

    /// Nobody waits for it any more, and it is being killed: nothing flows. Its pipes stay open until it has
    /// ended, so that it ends by that and not by a pipe that closed.
    void abandon();

    /// The command ended, with this status of waitpid(2).
    void ended(int status, channel::Line& line);

    /// Nothing more will come of it but its end.
    [[nodiscard]] bool over() const { return !running() && output_.ended() && error_output_.ended(); }
    [[nodiscard]] channel::Exit exit() const;

    [[nodiscard]] std::size_t held_byte() const { return input_.pending_byte(); }

    /// Gives the process away. The job is to be dropped then.
    [[nodiscard]] Process release() { return std::move(process_); }

  private:
    void close_outputs();

    Process process_;
    channel::Sink input_;
    channel::Source output_;
    channel::Source error_output_;
    std::optional<int> status_;
    bool abandoned_ = false;
};

}  // namespace tare::guest
