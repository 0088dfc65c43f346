// SPDX-License-Identifier: Apache-2.0
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <stdexcept>

#include "common/system.hpp"
#include "slices/os/operations.hpp"

namespace tare::slices {

namespace {

constexpr int used_signal = SIGUSR1;

/// A handler has no other way to say that it ran.
volatile std::sig_atomic_t handled = 0;  // NOLINT(*-avoid-non-const-global-variables)

void count_it(int /*signal*/) { handled = handled + 1; }
void other_handler(int /*signal*/) {}

struct sigaction action_of(void (*handler)(int)) {
    struct sigaction action {};
    action.sa_handler = handler;  // NOLINT(*-union-access): so sigaction(2) has it
    return action;
}

void install(const struct sigaction& action) {
    if (::sigaction(used_signal, &action, nullptr) != 0) {
        throw_errno("cannot handle a signal");
    }
}

auto* installed() {
    struct sigaction now {};
    if (::sigaction(used_signal, nullptr, &now) != 0) {
        throw_errno("cannot tell a signal's handler");
    }
    return now.sa_handler;  // NOLINT(*-union-access): so sigaction(2) has it
}

class Install final : public Piece {
  public:
    void prepare(std::uint64_t /*count*/) override { install(actions_.front()); }
    void finish() override { install(action_of(SIG_DFL)); }

    void work(std::uint64_t count) override {
        std::uint64_t replaced = 0;
        for (std::uint64_t unit = 0; unit < count; ++unit) {
            install(actions_.at((unit + 1) % 2));
            ++replaced;
        }
        replaced_ = replaced;
    }

    /// The handlers take turns, so that the last shows whether it was installed; to ask for the one before at
    /// each call would be more work than what is timed.
    [[nodiscard]] std::uint64_t checksum() const override {
        // NOLINTNEXTLINE(*-union-access): so sigaction(2) has it
        if (installed() != actions_.at(replaced_ % 2).sa_handler) {
            throw std::runtime_error("a signal's handler was not the one that was installed");
        }
        return replaced_;
    }

  private:
    std::array<struct sigaction, 2> actions_{action_of(count_it), action_of(other_handler)};
    std::uint64_t replaced_ = 0;
};

class Deliver final : public Piece {
  public:
    void prepare(std::uint64_t /*count*/) override { install(action_of(count_it)); }
    void finish() override { install(action_of(SIG_DFL)); }

    void work(std::uint64_t count) override {
        const pid_t process = ::getpid();
        const auto thread = static_cast<pid_t>(::syscall(SYS_gettid));
        std::uint64_t delivered = 0;
        for (std::uint64_t unit = 0; unit < count; ++unit) {
            handled = 0;
            ::syscall(SYS_tgkill, process, thread, used_signal);
            delivered += static_cast<std::uint64_t>(handled);  // before the call returns (signal(7))
        }
        delivered_ = delivered;
        if (delivered != count) {
            throw std::runtime_error("a signal did not reach its handler");
        }
    }

    [[nodiscard]] std::uint64_t checksum() const override { return delivered_; }

  private:
    std::uint64_t delivered_ = 0;
};

}  // namespace

std::unique_ptr<Piece> make_signal_install() { return std::make_unique<Install>(); }
std::unique_ptr<Piece> make_signal_deliver() { return std::make_unique<Deliver>(); }

}  // namespace tare::slices
