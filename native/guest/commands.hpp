// SPDX-License-Identifier: Apache-2.0
// What serving a channel needs of the system below: to start commands, and to end them. Tests put their own
// in its place.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "channel/frame.hpp"
#include "common/file_descriptor.hpp"
#include "guest/group.hpp"

namespace tare::guest {

/// A command that was started, and our ends of its pipes.
struct Process {
    pid_t id = -1;
    FileDescriptor input;
    FileDescriptor output;
    FileDescriptor error_output;
    FileDescriptor failure;      ///< Holds an encoded channel::Exit when it could not be executed.
    std::optional<Group> group;  ///< Without one, `id` is its supervisor.
};

/// A process that ended, with its status as of waitpid(2).
struct Ended {
    pid_t id = -1;
    int status = 0;
};

class Commands {
  public:
    Commands() = default;
    Commands(const Commands&) = delete;
    Commands& operator=(const Commands&) = delete;
    Commands(Commands&&) = delete;
    Commands& operator=(Commands&&) = delete;
    virtual ~Commands() = default;

    /// Throws std::system_error when there is no room for another process.
    [[nodiscard]] virtual Process start(const channel::Execute& command) = 0;

    /// Sends the command's process group a signal.
    virtual void signal(const Process& process, int number) = 0;

    /// Kills the command and all that it started, whatever sessions that made for itself.
    virtual void kill_all(Process& process) = 0;

    /// Reaps all that ended, orphans too.
    [[nodiscard]] virtual std::vector<Ended> reap() = 0;

    /// The command has ended and its stream too; what it left behind goes on.
    virtual void forget(Process process) = 0;

    virtual void set_clock(std::uint64_t real_time_ns) = 0;
};

}  // namespace tare::guest
