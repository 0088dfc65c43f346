// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>

#include "guest/commands.hpp"
#include "guest/group.hpp"

namespace tare::guest {

/// The commands of a real guest.
class SystemCommands final : public Commands {
  public:
    /// `groups`: the folder of control groups to make each command's in; nothing: supervisors are used.
    /// `owns_clock`: whether the host may set this guest's clock.
    SystemCommands(std::optional<std::filesystem::path> groups, bool owns_clock)
        : groups_{std::move(groups)}, owns_clock_{owns_clock} {}

    [[nodiscard]] Process start(const channel::Execute& command) override;
    void signal(const Process& process, int number) override;
    void kill_all(Process& process) override;
    [[nodiscard]] std::vector<Ended> reap() override;
    void forget(Process process) override;
    void set_clock(std::uint64_t real_time_ns) override;

  private:
    Groups groups_;
    bool owns_clock_;
};

/// Prepares this process to start commands: no signal ends it, its standard files are open, and so many files
/// may be as all streams need. Returns a signalfd(2) of SIGCHLD. Throws std::system_error.
[[nodiscard]] FileDescriptor prepare_to_serve();

}  // namespace tare::guest
