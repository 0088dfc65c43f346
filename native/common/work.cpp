// SPDX-License-Identifier: Apache-2.0
#include "common/work.hpp"

namespace tare {

Work do_work(std::uint64_t iterations) {
    constexpr std::uint64_t multiplier = 6364136223846793005U;  // Knuth's MMIX generator, TAOCP vol. 2, 3.3.4
    constexpr std::uint64_t increment = 1442695040888963407U;
    constexpr unsigned top_bits = 33;
    Work work{1, 0.0};
    for (std::uint64_t iteration = 0; iteration < iterations; ++iteration) {
        work.state = work.state * multiplier + increment;
        work.sum += static_cast<double>(static_cast<std::int64_t>(work.state >> top_bits));
    }
    return work;
}

}  // namespace tare
