// SPDX-License-Identifier: Apache-2.0
// The first process of a node.
//
//   init              idle, in a container: says READY, reaps every child, ends when told to
//   init guest        in a virtual machine that Tare started: boots it, and serves its channel
//   init serve ...    in a machine that is there already, as an ordinary program: serves its channel
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <exception>
#include <span>
#include <stdexcept>
#include <string_view>

#include "common/exec.hpp"
#include "common/system.hpp"
#include "guest/guest.hpp"
#include "guest/serve.hpp"

namespace {

constexpr int power_off_offset =
    3;  // SIGRTMIN+3 halts a container (systemd-nspawn(1), lxc.container.conf(5))
constexpr std::chrono::seconds ready_limit{10};

sigset_t awaited_signals() {
    sigset_t awaited;
    ::sigemptyset(&awaited);
    for (const int number : {SIGCHLD, SIGTERM, SIGINT, SIGPWR, SIGRTMIN + power_off_offset}) {
        ::sigaddset(&awaited, number);
    }
    return awaited;
}

void reap_children() {
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
}

int idle() {
    sigset_t every;
    ::sigfillset(&every);
    ::sigprocmask(SIG_SETMASK, &every, nullptr);
    const sigset_t awaited = awaited_signals();
    // Nobody may be reading; a node works without.
    static_cast<void>(tare::write_all(STDOUT_FILENO, "READY\n", ready_limit));
    int received = SIGCHLD;
    while (received == SIGCHLD) {
        reap_children();
        if (::sigwait(&awaited, &received) != 0) {
            received = SIGCHLD;
        }
    }
    return 0;
}

/// The kernel puts words of its command line that it does not know before those meant for the first process.
bool is_guest(std::span<char* const> arguments) {
    return ::getpid() == 1 && std::any_of(arguments.begin(), arguments.end(),
                                          [](std::string_view word) { return word == "guest"; });
}

/// Words that say no role change nothing: some containers start their first process with words of their own.
int run(std::span<char* const> arguments) {
    if (is_guest(arguments)) {
        tare::guest::be_guest();
    }
    const std::string_view role = arguments.empty() ? "" : arguments.front();
    if (role == "serve") {
        return tare::guest::serve(arguments.subspan(1));
    }
    if (role == "guest") {
        throw std::invalid_argument("only the first process of a machine can be its guest's");
    }
    return idle();
}

}  // namespace

int main(int count, char** words) {
    const std::span<char* const> arguments{words, static_cast<std::size_t>(count)};
    try {
        return run(arguments.subspan(1));
    } catch (const std::exception& failure) {
        tare::complain("init", failure.what());
        return tare::exit_wrong_use;
    }
}
