// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <poll.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "channel/frame.hpp"
#include "channel/line.hpp"
#include "guest/commands.hpp"
#include "guest/job.hpp"

namespace tare::guest {

/// Serves one channel: runs the commands that the host asks for, all in one poll loop.
class Server {
  public:
    enum class End : std::uint8_t { power_off, host_left };

    Server(channel::Line line, Commands& commands) : line_{std::move(line)}, commands_{commands} {}

    /// Says hello and serves until the channel ends. `deaths` is a signalfd(2) of SIGCHLD. Throws
    /// ProtocolError when the host breaks the rules.
    [[nodiscard]] End serve(int deaths);

    /// Kills all commands, and waits until they are gone, at most `limit`.
    void end_all(int deaths, std::chrono::milliseconds limit);

    /// Says that it serves, until the host is heard of.
    void say_hello();

    /// Does what one frame says; false: the guest is to go. Throws ProtocolError for a frame that breaks the
    /// rules.
    [[nodiscard]] bool obey(const channel::Frame& frame);

    /// One round of the loop: waits for something, at most `limit`, and deals with it; false: the guest is to
    /// go, or the host left (`host_left`).
    [[nodiscard]] bool serve_once(int deaths, std::chrono::milliseconds limit);
    [[nodiscard]] bool host_left() const { return host_left_; }

    [[nodiscard]] std::size_t streams() const { return jobs_.size(); }

    /// Bytes that wait here, to either side.
    [[nodiscard]] std::size_t held_byte() const;

  private:
    using Jobs = std::map<std::uint32_t, Job>;

    using Turn = std::vector<Jobs::value_type*>;

    [[nodiscard]] Turn in_turn();
    [[nodiscard]] std::vector<pollfd> wishes(const Turn& jobs, int deaths) const;
    void move(const Turn& jobs, std::span<const pollfd> polled);
    [[nodiscard]] bool read_line();
    bool obey_system(const channel::Frame& frame);
    void execute(const channel::Frame& frame);
    void tell(Job& job, const channel::Frame& frame);
    void signal(const Job& job, std::uint32_t number);
    void hang_up(Job& job);
    void reap();
    void end_jobs();
    void forget_ended();
    void send_exit(std::uint32_t stream, const channel::Exit& exit);

    channel::Line line_;
    Commands& commands_;
    Jobs jobs_;
    std::uint32_t turn_ = 0;  // the stream that is asked first: the line's room must not go to the same ones
    bool heard_ = false;
    bool host_left_ = false;
};

}  // namespace tare::guest
