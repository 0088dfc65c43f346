// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <thread>

#include "npb/common/buffer.hpp"

namespace tare::npb {

/// How far a thread has come in a sweep, in planes, for others to see: what it wrote before it said so is
/// seen with it. Processors fetch lines of a cache in pairs, so that each has two of its own.
class alignas(2 * buffer_alignment_byte) Progress {
  public:
    void set(int planes) { planes_.store(planes, std::memory_order_release); }
    [[nodiscard]] int planes() const { return planes_.load(std::memory_order_acquire); }

  private:
    std::atomic<int> planes_ = 0;
};

/// Looks until `reached()`, and calls `meanwhile()` between the looks. Offers the processor now and then: the
/// thread that is waited for may not have one.
template <typename Reached, typename Meanwhile>
void wait_until(const Reached& reached, const Meanwhile& meanwhile) {
    constexpr int looks_between_offers = 256;
    for (int look = 1; !reached(); ++look) {
        meanwhile();
        if (look % looks_between_offers == 0) {
            std::this_thread::yield();
        }
    }
}

}  // namespace tare::npb
