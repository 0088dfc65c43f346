// SPDX-License-Identifier: Apache-2.0
// Runs a command again as long as it ends with one exit code, such as a client's whose server does not
// listen yet: again EXIT_CODE LIMIT_S COMMAND ARGUMENT...
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <exception>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include "common/exec.hpp"
#include "common/number.hpp"
#include "common/system.hpp"

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view program = "again";
constexpr std::chrono::milliseconds pause_between{10};
constexpr int exit_signalled = 128;  // as of the shell (POSIX XCU 2.8.2)

unsigned parse_count(std::string_view text) {
    const auto count = tare::parse_number<unsigned>(text);
    if (!count) {
        throw std::invalid_argument("'" + std::string{text} + "' is not a whole number");
    }
    return *count;
}

/// In the child: becomes the command, which must not outlive this program.
[[noreturn]] void become_child(std::span<char* const> command, pid_t parent) {
    static_cast<void>(::prctl(PR_SET_PDEATHSIG, SIGKILL));
    if (::getppid() != parent) {
        ::_exit(tare::exit_cannot_prepare);
    }
    ::_exit(tare::become(program, command));
}

int run(std::span<char* const> command) {
    const pid_t parent = ::getpid();
    const pid_t child = ::fork();
    if (child < 0) {
        tare::throw_errno("cannot start a process");
    }
    if (child == 0) {
        become_child(command, parent);
    }
    int status = 0;
    while (::waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) {
            tare::throw_errno("cannot wait for the command");
        }
    }
    return WIFSIGNALED(status) ? exit_signalled + WTERMSIG(status) : WEXITSTATUS(status);
}

int run_until_otherwise(int again_code, std::chrono::seconds limit, std::span<char* const> command) {
    const auto end = Clock::now() + limit;
    int code = run(command);
    while (code == again_code && Clock::now() < end) {
        std::this_thread::sleep_for(pause_between);
        code = run(command);
    }
    return code;
}

}  // namespace

int main(int argc, char** argv) {
    constexpr std::size_t command_at = 3;
    const std::span<char* const> arguments{argv, static_cast<std::size_t>(argc)};
    if (arguments.size() <= command_at) {
        tare::complain(program, "write: again EXIT_CODE LIMIT_S COMMAND ARGUMENT...");
        return tare::exit_wrong_use;
    }
    try {
        const auto code = static_cast<int>(parse_count(arguments[1]));
        const std::chrono::seconds limit{parse_count(arguments[2])};
        return run_until_otherwise(code, limit, arguments.subspan(command_at));
    } catch (const std::invalid_argument& error) {
        tare::complain(program, error.what());
        return tare::exit_wrong_use;
    } catch (const std::exception& error) {
        tare::complain(program, error.what());
        return tare::exit_cannot_prepare;
    }
}
