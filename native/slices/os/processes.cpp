// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <stdexcept>
#include <utility>
#include <vector>

#include "common/exec.hpp"
#include "common/system.hpp"
#include "slices/os/operations.hpp"

namespace tare::slices {

namespace {

/// Nothing remains when this process is killed meanwhile: a child does nothing but end.
class Forks final : public Piece {
  public:
    /// What a child executes; nothing: it ends at once.
    explicit Forks(std::vector<std::string> command)
        : command_{std::move(command)}, words_{pointers_to(command_)} {}

    void work(std::uint64_t count) override {
        std::uint64_t ended = 0;
        for (std::uint64_t unit = 0; unit < count; ++unit) {
            await(start());
            ++ended;
        }
        ended_ = ended;
    }

    [[nodiscard]] std::uint64_t checksum() const override { return ended_; }

  private:
    pid_t start() {
        const pid_t child = ::fork();
        if (child < 0) {
            throw_errno("cannot fork");
        }
        if (child == 0) {
            live();
        }
        return child;
    }

    [[noreturn]] void live() {
        if (command_.empty()) {
            ::_exit(0);
        }
        std::array<char*, 1> no_variables{nullptr};
        ::execve(words_.front(), words_.data(), no_variables.data());
        ::_exit(exit_cannot_execute);
    }

    void await(pid_t child) const {
        int status = 0;
        while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
        }
        if (status != 0) {
            throw std::runtime_error(command_.empty() ? "a child did not end well"
                                                      : "'" + command_.front() + "' did not end well");
        }
    }

    std::vector<std::string> command_;
    std::vector<char*> words_;
    std::uint64_t ended_ = 0;
};

}  // namespace

std::unique_ptr<Piece> make_fork_exit() { return std::make_unique<Forks>(std::vector<std::string>{}); }

std::unique_ptr<Piece> make_fork_exec(std::string program) {
    return std::make_unique<Forks>(std::vector<std::string>{std::move(program), "--exit"});
}

std::unique_ptr<Piece> make_fork_shell(std::string program) {
    return std::make_unique<Forks>(
        std::vector<std::string>{"/bin/sh", "-c", "\"$0\" --exit", std::move(program)});
}

}  // namespace tare::slices
