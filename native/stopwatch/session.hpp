// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/file_descriptor.hpp"
#include "stopwatch/command.hpp"

namespace tare::stopwatch {

/// The line protocol on standard input and output around one command.
///
///     ← READY {json}       at the start: what the node looks like from inside
///     → PING               ← PONG nanoseconds       at any time
///     → CLOCKS             ← CLOCKS {json}          at any time: what the node's clocks say
///     → STEAL              ← STEAL {json}           at any time: what a hypervisor took from the node
///     → GO [nanoseconds]   ← DONE {json}            when the command has ended; it starts at once, or when
///                                                   the clock of PONG says so
///     → TURN text          ← TOOK {json}            when the command has answered with a line, or DONE
///     → END                closes the command's input; it is expected to end by itself
///     → NEXT n             when no command is at work: ends the session; this process becomes the program
///                          and arguments in the n byte after the line, each ended by a zero
///     → QUIT, or the end of the input               ends the session, and the command before
///     → anything else      ← ERROR {json}           ends it too
class Session {
  public:
    /// Blocks the signals that end a session, and adopts the command's orphans; throws `std::system_error`.
    explicit Session(Command& command);

    /// Serves until the end; returns the exit code.
    [[nodiscard]] int run();

    /// What this process is to become after `run`; empty when it is to end.
    [[nodiscard]] std::vector<std::string> next() const;

  private:
    bool take_input();
    void expect_next(std::string_view size);
    void wait_for_event();
    void handle_signals(std::int64_t now_ns);
    void handle_input();
    void handle_line(std::string_view line);
    void start_at(std::optional<std::int64_t> moment_ns);
    void start_if_due();
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
    std::optional<std::int64_t> start_at_ns_;  ///< It is to start then, and has not.
    bool reported_ = false;
    std::optional<int> exit_code_;
    std::size_t next_byte_ = 0;  ///< How long what NEXT announced is; 0: it announced nothing.
    std::string next_;
};

}  // namespace tare::stopwatch
