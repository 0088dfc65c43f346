// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "common/file_descriptor.hpp"
#include "common/processors.hpp"
#include "common/restrictions.hpp"
#include "stopwatch/options.hpp"
#include "stopwatch/turns.hpp"

namespace tare::stopwatch {

/// Everything that starting the command needs, made ready so that the start itself allocates and looks up
/// nothing.
class Launch {
  public:
    /// Changes to the options' directory and opens the output files; throws `std::system_error`.
    explicit Launch(const Options& options);

    /// Starts the command in a process group of its own and returns its process id once it executes.
    /// Throws `std::runtime_error` that says what stood in the way.
    [[nodiscard]] pid_t start();

    /// The exchange with a command that works in turns; null: it reads nothing.
    [[nodiscard]] Turns* turns() { return turns_ ? &*turns_ : nullptr; }

    /// What the command takes on before it runs.
    [[nodiscard]] const Restrictions& restrictions() const { return restrictions_; }

  private:
    /// How far the new process got; it shares this memory until it executes.
    struct Progress {
        const char* step = nullptr;
        int error_number = 0;
    };

    static int run_child(void* launch);
    void redirect_to_turns();
    void give_files() const;
    void close_redirected();
    void prepare_child();
    [[nodiscard]] int take_input() const;
    void execute();
    [[nodiscard]] std::string failure() const;

    std::string name_;
    std::string stdin_file_;
    std::vector<std::string> paths_;
    std::vector<std::string> arguments_;
    std::vector<std::string> variables_;
    std::vector<char*> argument_pointers_;
    std::vector<char*> variable_pointers_;
    FileDescriptor stdin_;
    FileDescriptor stdout_;
    FileDescriptor stderr_;
    std::optional<Turns> turns_;
    std::optional<ProcessorSet> processors_;
    std::optional<std::uint64_t> file_limit_byte_;
    Restrictions restrictions_;
    std::vector<char> stack_;
    Progress progress_;
};

/// The files to try for a command, as execvp(3) does with the command's own PATH.
[[nodiscard]] std::vector<std::string> candidate_paths(const std::string& command,
                                                       const std::vector<std::string>& variables);

}  // namespace tare::stopwatch
