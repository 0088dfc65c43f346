// SPDX-License-Identifier: Apache-2.0
// The idle first process of a node: says READY, reaps every child, ends when told to.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>

#include "common/system.hpp"

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

}  // namespace

int main() {
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
