// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "npb/common/buffer.hpp"
#include "npb/common/progress.hpp"
#include "npb/lu/part.hpp"
#include "npb/lu/sweep.hpp"

namespace tare::npb::lu {

/// The threads of a rank in one sweep: each has a strip of diagonals in all planes, and follows the thread
/// whose strip the sweep comes to before, plane by plane. A plane's turn is its number in the sweep's order.
class Chain {
  public:
    Chain(int threads, Way way);

    /// Before each sweep, while one thread runs.
    void restart();

    /// Whether a thread has what it needs of its neighbours: the wave of the strip before, and room for the
    /// next strip's.
    [[nodiscard]] bool is_free(int thread, int turn) const;
    [[nodiscard]] const sweep::Wave* received(int thread, int turn) const;
    [[nodiscard]] sweep::Wave* to_hand_on(int thread, int turn);
    void has_done(int thread, int turn) { done_[position(thread)].set(turn + 1); }

    /// Planes that all threads have done.
    [[nodiscard]] int complete() const { return done_.back().planes(); }

  private:
    /// In the order in which the sweep comes to the strips.
    [[nodiscard]] std::size_t position(int thread) const {
        const auto index = static_cast<std::size_t>(thread);
        return way_ == Way::growing ? index : done_.size() - 1 - index;
    }
    /// Of the wave between a position and the next.
    [[nodiscard]] static std::size_t slot(std::size_t position, int turn) {
        return position * depth + static_cast<std::size_t>(turn) % depth;
    }

    /// A thread may be so many planes ahead of the one that follows it.
    static constexpr std::size_t depth = 4;

    Way way_;
    std::vector<Progress> done_;
    Buffer<sweep::Wave> waves_;
};

}  // namespace tare::npb::lu
