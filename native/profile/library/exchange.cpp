// SPDX-License-Identifier: Apache-2.0
#include "profile/library/exchange.hpp"

namespace tare::profile {

std::vector<Notice> exchange_notices(const Mpi& mpi, const std::vector<int>& counts, bool usable) {
    std::vector<Notice> own;
    std::transform(counts.begin(), counts.end(), std::back_inserter(own),
                   [&](int count) { return Notice{.count = count, .usable = usable ? 1 : 0}; });
    std::vector<Notice> others(own.size());
    mpi.Alltoall(own.data(), sizeof(Notice), mpi.byte, others.data(), sizeof(Notice), mpi.byte, mpi.world);
    return others;
}

}  // namespace tare::profile
