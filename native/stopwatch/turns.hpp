// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "common/file_descriptor.hpp"

namespace tare::stopwatch {

/// The command cannot take turns; the text says why.
class WrongTurn : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// What a command answered to one turn, and how long that took.
struct Answer {
    std::int64_t begin_ns;  ///< CLOCK_MONOTONIC_RAW, right before the turn was given.
    std::int64_t end_ns;    ///< The same clock, right after the whole line was read.
    std::string line;

    /// As one JSON object.
    [[nodiscard]] std::string report() const;
};

/// The standard input and output of a command that works in turns: a line given, a line answered.
///
/// All that the command prints is passed on to its output file, answers too. Nothing here blocks: whoever
/// uses it polls `number`, and calls `receive` when that is readable.
class Turns {
  public:
    /// The longest answer, in byte; whoever prints more without the end of a line does not answer.
    static constexpr std::size_t longest_answer = 4096;

    /// Makes the pipes. `file` gets what the command prints, up to `file_limit_byte`. Throws
    /// `std::system_error`.
    Turns(FileDescriptor file, std::optional<std::uint64_t> file_limit_byte);

    /// The ends that become the command's own; whoever takes them closes them once the command has them.
    [[nodiscard]] FileDescriptor take_command_input() { return std::move(command_input_); }
    [[nodiscard]] FileDescriptor take_command_output() { return std::move(command_output_); }

    /// To be polled for reading; -1 once the command has closed its output.
    [[nodiscard]] int number() const { return output_.number(); }

    /// Gives a turn. What was printed before the first belongs to no turn. Throws `WrongTurn` when one is
    /// under way, when the input was closed, when the command leaves too many unread, and when it printed
    /// something since its last answer.
    void give(std::string_view text);

    /// Passes on what is there to be read; the answer once it is whole. Throws `WrongTurn` for an answer that
    /// is too long or more than a line, and for more output than the file may hold.
    [[nodiscard]] std::optional<Answer> receive();

    /// Closes the command's input: no more turns.
    void close() { input_ = FileDescriptor{}; }

  private:
    void read_some();
    void pass_on(std::string_view printed);
    [[nodiscard]] std::optional<Answer> whole_answer();

    FileDescriptor file_;
    std::optional<std::uint64_t> file_left_byte_;
    FileDescriptor input_;
    FileDescriptor output_;
    FileDescriptor command_input_;
    FileDescriptor command_output_;
    std::optional<std::int64_t> begin_ns_;  ///< Of the turn that is under way.
    bool answered_ = false;                 ///< A turn, at least once.
    std::int64_t read_ns_ = 0;
    std::string received_;
};

}  // namespace tare::stopwatch
