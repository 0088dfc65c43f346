// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/file_descriptor.hpp"
#include "stopwatch/command.hpp"

namespace tare::stopwatch {

/// The line protocol on standard input and output around one command.
///
///     ← READY {json}       at the start: what the node looks like from inside
///     → PING               ← PONG nanoseconds       at any time
///     → CLOCKS             ← CLOCKS {json}          at any time: what the node's clocks say
///     → STEAL              ← STEAL {json}           at any time: what a hypervisor took from the node
///     → GO                 ← DONE {json}            when the command has ended
///     → TURN text          ← TOOK {json}            when the command has answered with a line, or DONE if it
///     ended → END                closes the command's input; it is expected to end by itself → QUIT, or the
///     end of the input               ends the session, and the command before → anything else      ← ERROR
///     {json}           ends it too
class Session {
  public:
    /// Blocks the signals that end a session, and adopts the command's orphans; throws `std::system_error`.
    explicit Session(Command& command);

    /// Serves until the end; returns the exit code.
    [[nodiscard]] int run();

  private:
    void wait_for_event();
    void handle_signals(std::int64_t now_ns);
    void handle_input();
    void handle_line(std::string_view line);
    void start_command();
    void give_turn(std::string_view text);
    void receive_answer();
    void end_turns();
    void report_if_ended();
    void refuse(const std::string& message);
    void finish(int exit_code);
    void send(std::string_view word, const std::string& rest);

    Command& command_;
    FileDescriptor signals_;
    std::string input_;
    bool input_open_ = true;
    bool output_open_ = true;
    bool started_ = false;
    bool reported_ = false;
    std::optional<int> exit_code_;
};

}  // namespace tare::stopwatch
