// SPDX-License-Identifier: Apache-2.0
#include "npb/lu/chain.hpp"

namespace tare::npb::lu {

Chain::Chain(int threads, Way way)
    : way_{way}, done_(static_cast<std::size_t>(threads)), waves_{(done_.size() - 1) * depth} {}

void Chain::restart() {
    for (Progress& one : done_) {
        one.set(0);
    }
}

bool Chain::is_free(int thread, int turn) const {
    const std::size_t here = position(thread);
    const bool has_wave = here == 0 || done_[here - 1].planes() > turn;
    const bool has_room =
        here + 1 == done_.size() || turn - done_[here + 1].planes() < static_cast<int>(depth);
    return has_wave && has_room;
}

const sweep::Wave* Chain::received(int thread, int turn) const {
    const std::size_t here = position(thread);
    return here == 0 ? nullptr : &waves_.span()[slot(here - 1, turn)];
}

sweep::Wave* Chain::to_hand_on(int thread, int turn) {
    const std::size_t here = position(thread);
    return here + 1 == done_.size() ? nullptr : &waves_.span()[slot(here, turn)];
}

}  // namespace tare::npb::lu
