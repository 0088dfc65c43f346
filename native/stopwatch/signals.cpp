// SPDX-License-Identifier: Apache-2.0
#include "stopwatch/signals.hpp"

#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>

#include "common/system.hpp"

namespace tare::stopwatch {

namespace {

constexpr int last_signal = 64;

/// As the kernel reads it, rt_sigaction(2); all zero is SIG_DFL.
struct KernelDisposition {
    void* handler = nullptr;
    unsigned long flags = 0;
    void* restorer = nullptr;
    std::uint64_t mask = 0;
};

/// Past signal(2): that refuses the two numbers which the C library keeps, and those can be inherited ignored
/// too.
void make_default(int number) {
    const KernelDisposition disposition;
    static_cast<void>(::syscall(SYS_rt_sigaction, number, &disposition, nullptr, sizeof disposition.mask));
}

}  // namespace

FileDescriptor take_signals() {
    for (int number = 1; number <= last_signal; ++number) {
        make_default(number);
    }
    sigset_t taken;
    ::sigemptyset(&taken);
    for (const int number : {SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT}) {
        ::sigaddset(&taken, number);
    }
    FileDescriptor signals{::signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK)};
    ::sigaddset(&taken, SIGPIPE);
    if (!signals || ::sigprocmask(SIG_SETMASK, &taken, nullptr) != 0) {
        throw_errno("cannot take over the signals");
    }
    return signals;
}

}  // namespace tare::stopwatch
