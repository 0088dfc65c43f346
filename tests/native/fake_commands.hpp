// SPDX-License-Identifier: Apache-2.0
// Commands that never run: their pipes are real, and the test plays the rest.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "guest/commands.hpp"
#include "pipes.hpp"

namespace tare::test {

/// The command's side of a started process.
struct FakeCommand {
    channel::Execute asked;
    FileDescriptor input;
    FileDescriptor output;
    FileDescriptor error_output;
    FileDescriptor failure;
};

class FakeCommands final : public guest::Commands {
  public:
    [[nodiscard]] guest::Process start(const channel::Execute& command) override {
        if (full) {
            throw std::system_error(EAGAIN, std::generic_category(), "cannot start a process");
        }
        constexpr int flags = O_CLOEXEC | O_NONBLOCK;
        Ends input = make_pipe(flags);
        Ends output = make_pipe(flags);
        Ends error_output = make_pipe(flags);
        Ends failure = make_pipe(flags);
        running.emplace(++last_id, FakeCommand{.asked = command,
                                               .input = std::move(input.reader),
                                               .output = std::move(output.writer),
                                               .error_output = std::move(error_output.writer),
                                               .failure = std::move(failure.writer)});
        return {.id = last_id,
                .input = std::move(input.writer),
                .output = std::move(output.reader),
                .error_output = std::move(error_output.reader),
                .failure = std::move(failure.reader),
                .group = {}};
    }

    void signal(const guest::Process& process, int number) override {
        signals.emplace_back(process.id, number);
    }

    /// As a real one, it ends at once.
    void kill_all(guest::Process& process) override { end(process.id, SIGKILL); }

    [[nodiscard]] std::vector<guest::Ended> reap() override { return std::exchange(ended_, {}); }

    void forget(guest::Process process) override {
        when_forgetting();
        forgotten.push_back(process.id);
    }

    void set_clock(std::uint64_t real_time_ns) override { clock_ns = real_time_ns; }

    /// A command ends, with a status of waitpid(2).
    void end(pid_t process, int status) {
        if (running.erase(process) != 0) {
            ended_.push_back({.id = process, .status = status});
            static_cast<void>(::eventfd_write(deaths.number(), 1));
        }
    }

    std::map<pid_t, FakeCommand> running;
    std::vector<std::pair<pid_t, int>> signals;
    std::vector<pid_t> forgotten;
    std::function<void()> when_forgetting = [] {};
    std::uint64_t clock_ns = 0;
    pid_t last_id = 0;
    bool full = false;
    FileDescriptor deaths{::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};

  private:
    std::vector<guest::Ended> ended_;
};

}  // namespace tare::test
