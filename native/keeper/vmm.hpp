// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <span>
#include <string>

#include "common/file_descriptor.hpp"

namespace tare::keeper {

/// A virtual machine monitor, such as QEMU, as a child that dies with this process.
class Vmm {
  public:
    /// Starts `command`, which finds `end` of the channel as its descriptor `number`. It gets a process group
    /// of its own, no input, and standard error for both outputs. Throws `std::system_error`.
    Vmm(std::span<char* const> command, const FileDescriptor& end, int number);
    Vmm(const Vmm&) = delete;
    Vmm(Vmm&&) = delete;
    Vmm& operator=(const Vmm&) = delete;
    Vmm& operator=(Vmm&&) = delete;
    /// Kills it if it still runs.
    ~Vmm();

    [[nodiscard]] pid_t process() const { return process_; }

    /// To poll: readable once it has ended.
    [[nodiscard]] int number() const { return life_.number(); }

    /// How it ended, such as "qemu-system-x86_64 ended by signal 9", if it does within the limit.
    [[nodiscard]] std::optional<std::string> ended(std::chrono::milliseconds limit);

    /// Kills it and its process group, and waits for its end a few seconds.
    void kill();

  private:
    std::string name_;
    pid_t process_;
    FileDescriptor life_;
    std::optional<std::string> ended_;
};

/// Writes a process id and a line's end; throws `std::system_error`.
void write_pid_file(const std::string& path, pid_t process);

}  // namespace tare::keeper
