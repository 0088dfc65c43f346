// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <stdexcept>

#include "common/system.hpp"
#include "slices/os/operations.hpp"

namespace tare::slices {

namespace {

/// Repeats a call whose answer says whether it was done.
template <typename Call>
class Calls final : public Piece {
  public:
    explicit Calls(Call call) : call_{call} {}

    void work(std::uint64_t count) override {
        std::uint64_t done = 0;
        for (std::uint64_t unit = 0; unit < count; ++unit) {
            done += call_() ? 1 : 0;
        }
        done_ = done;
        if (done != count) {
            throw std::runtime_error(std::to_string(count - done) + " of " + std::to_string(count) +
                                     " calls did not do what they should");
        }
    }

    [[nodiscard]] std::uint64_t checksum() const override { return done_; }

  private:
    Call call_;
    std::uint64_t done_ = 0;
};

struct AskPersonality {
    long answer;
    bool operator()() const { return ask() == answer; }

    static long ask() {
        constexpr unsigned long change_nothing = 0xFFFFFFFF;
        return ::syscall(SYS_personality, change_nothing);
    }
};

bool open_and_close() {
    const int file = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    return file >= 0 && ::close(file) == 0;
}

struct ReadClock {
    timespec last{};

    bool operator()() {
        const timespec before = last;
        return ::clock_gettime(CLOCK_MONOTONIC, &last) == 0 &&
               (last.tv_sec > before.tv_sec ||
                (last.tv_sec == before.tv_sec && last.tv_nsec >= before.tv_nsec));
    }
};

bool sleep_a_microsecond() {
    const timespec microsecond{.tv_sec = 0, .tv_nsec = 1'000};
    return ::nanosleep(&microsecond, nullptr) == 0;
}

class Sleep final : public Piece {
  public:
    /// 0 restores the usual slack (PR_SET_TIMERSLACK(2const)); a kernel without slack has none to shorten.
    void prepare(std::uint64_t /*count*/) override { ::prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0); }
    void finish() override { ::prctl(PR_SET_TIMERSLACK, 0, 0, 0, 0); }
    void work(std::uint64_t count) override { sleeps_.work(count); }
    [[nodiscard]] std::uint64_t checksum() const override { return sleeps_.checksum(); }

  private:
    Calls<bool (*)()> sleeps_{sleep_a_microsecond};
};

}  // namespace

std::unique_ptr<Piece> make_filtered_calls() {
    const long answer = AskPersonality::ask();
    if (answer < 0) {
        throw std::runtime_error("personality(2) is refused here: " + error_text(errno) +
                                 "; leave out the piece filtered-calls");
    }
    return std::make_unique<Calls<AskPersonality>>(AskPersonality{.answer = answer});
}

std::unique_ptr<Piece> make_open_close() { return std::make_unique<Calls<bool (*)()>>(open_and_close); }
std::unique_ptr<Piece> make_clock() { return std::make_unique<Calls<ReadClock>>(ReadClock{}); }
std::unique_ptr<Piece> make_sleep() { return std::make_unique<Sleep>(); }

}  // namespace tare::slices
