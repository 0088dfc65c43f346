// SPDX-License-Identifier: Apache-2.0
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <optional>
#include <stdexcept>
#include <thread>

#include "slices/os/operations.hpp"
#include "slices/os/partner.hpp"

namespace tare::slices {

namespace {

/// Whose move it is; who waits sleeps in futex(2), and never spins as the library's own waiting may.
class Move {
  public:
    enum Of : std::uint32_t { ours, theirs, nobodys };

    void give(Of whom) {
        value_.store(whom, std::memory_order_release);
        ::syscall(SYS_futex, &value_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
    }

    /// Until it is no longer `whom`'s; says whose it is then.
    [[nodiscard]] std::uint32_t await_end(Of whom) const {
        std::uint32_t now = whom;
        while ((now = value_.load(std::memory_order_acquire)) == whom) {
            ::syscall(SYS_futex, &value_, FUTEX_WAIT_PRIVATE, static_cast<std::uint32_t>(whom), nullptr,
                      nullptr, 0);
        }
        return now;
    }

  private:
    std::atomic<std::uint32_t> value_{ours};
};

class HandOver final : public Piece {
  public:
    HandOver() = default;
    HandOver(const HandOver&) = delete;
    HandOver& operator=(const HandOver&) = delete;
    HandOver(HandOver&&) = delete;
    HandOver& operator=(HandOver&&) = delete;
    ~HandOver() override { end_thread(); }

    /// The thread lives no longer than a slice: other pieces fork, and a fork costs more where there are two.
    void prepare(std::uint64_t /*count*/) override {
        same_.emplace();
        moves_ = 0;
        move_.emplace();
        thread_ = std::thread{[this] {
            while (move_->await_end(Move::ours) == Move::theirs) {
                ++moves_;
                move_->give(Move::ours);
            }
        }};
    }

    void finish() override {
        end_thread();
        same_.reset();
    }

    void work(std::uint64_t count) override {
        for (std::uint64_t unit = 0; unit < count; ++unit) {
            move_->give(Move::theirs);
            static_cast<void>(move_->await_end(Move::theirs));
        }
        if (moves_ != count) {
            throw std::runtime_error("the other thread did not make every move");
        }
    }

    [[nodiscard]] std::uint64_t checksum() const override { return moves_; }

  private:
    void end_thread() {
        if (thread_.joinable()) {
            move_->give(Move::nobodys);
            thread_.join();
        }
    }

    std::optional<Move> move_;
    std::uint64_t moves_ = 0;  ///< Each thread's own in its move.
    std::thread thread_;
    std::optional<OnOneProcessor> same_;
};

class ThreadStart final : public Piece {
  public:
    void work(std::uint64_t count) override {
        std::uint64_t ended = 0;
        for (std::uint64_t unit = 0; unit < count; ++unit) {
            std::thread{[&ended] { ++ended; }}.join();
        }
        ended_ = ended;
        if (ended != count) {
            throw std::runtime_error("a thread did not do its work");
        }
    }

    [[nodiscard]] std::uint64_t checksum() const override { return ended_; }

  private:
    std::uint64_t ended_ = 0;
};

}  // namespace

std::unique_ptr<Piece> make_futex_round_trip() { return std::make_unique<HandOver>(); }
std::unique_ptr<Piece> make_thread_start() { return std::make_unique<ThreadStart>(); }

}  // namespace tare::slices
