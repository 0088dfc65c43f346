// SPDX-License-Identifier: Apache-2.0
#include "npb/flow/groups.hpp"

#include <algorithm>

namespace tare::npb::flow {

int groups_of(const Extent& y) { return (y.end() - y.begin() + group_rows - 1) / group_rows; }

Rows rows_of(const Extent& y, int z, const Share<int>& groups) {
    return {.z = z,
            .y_begin = y.begin() + groups.first * group_rows,
            .y_end = std::min(y.begin() + groups.end() * group_rows, y.end())};
}

void RightHandSide::set(int z, const Share<int>& groups) const {
    const Block& block = result_->block();
    for (int group = groups.first; group < groups.end(); ++group) {
        functions_.right_hand_side(block, scale_, u_->view(), forcing_->view(),
                                   rows_of(block.y, z, {.first = group, .count = 1}), result_->view());
    }
}

void RightHandSide::set(Team& team) const {
    const Block& block = result_->block();
    team.run([&](int thread) {
        const Share<int> planes = team.part(thread, block.z.end() - block.z.begin());
        for (int plane = planes.first; plane < planes.end(); ++plane) {
            set(block.z.begin() + plane, {.first = 0, .count = groups_of(block.y)});
        }
    });
}

}  // namespace tare::npb::flow
