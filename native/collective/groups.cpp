// SPDX-License-Identifier: Apache-2.0
#include "collective/groups.hpp"

#include <stdexcept>
#include <string>

namespace tare::collective {

namespace {
constexpr int least_partners = 2;
}

Groups::Groups(int ranks, int group_ranks, Mapping mapping)
    : group_ranks_{group_ranks == 0 ? ranks : group_ranks}, count_{ranks / group_ranks_}, mapping_{mapping} {
    if (ranks < least_partners || count_ == 0) {
        const int needed = group_ranks == 0 ? least_partners : group_ranks;
        throw std::invalid_argument("a group needs " + std::to_string(needed) + " ranks, and there are " +
                                    std::to_string(ranks) + "; start it by mpirun with more");
    }
}

std::optional<int> Groups::of(int rank) const {
    if (rank >= active()) {
        return std::nullopt;
    }
    return mapping_ == Mapping::near ? rank / group_ranks_ : rank % count_;
}

}  // namespace tare::collective
