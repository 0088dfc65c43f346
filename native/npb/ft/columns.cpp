// SPDX-License-Identifier: Apache-2.0
// Transforms along y within a comb: the lanes are neighbours in x, so that they need no shuffles.
#include "npb/ft/engine.hpp"
#include "npb/ft/variants.hpp"

namespace tare::npb::ft::TARE_NPB_SIMD {

void transform_columns(const Columns& columns) {
    Ahead ahead = *columns.ahead;
    for (Index block = 0; block < columns.blocks; block += group_blocks) {
        const Index lines = smaller(group_blocks, columns.blocks - block);
        const Index group = block / group_blocks;
        const Table from =
            table_of(columns.from, group * columns.from.next_doubles, block_doubles, columns.direction);
        const Table to =
            table_of(columns.to, group * columns.to.next_doubles, block_doubles, columns.direction);
        if (columns.is_streamed) {
            transform(*columns.line, from, Streamed{to}, lines, columns.work, ahead);
        } else {
            transform(*columns.line, from, to, lines, columns.work, ahead);
        }
    }
    finish_streams();
    *columns.ahead = ahead;
}

}  // namespace tare::npb::ft::TARE_NPB_SIMD
