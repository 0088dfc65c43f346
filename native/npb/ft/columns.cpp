// SPDX-License-Identifier: Apache-2.0
// Pencils along y within an xy tile: the lanes are neighbours in x, so that they need no shuffles.
#include "npb/ft/pencil_fft.hpp"
#include "npb/ft/pencils.hpp"

namespace tare::npb::ft::TARE_NPB_SIMD {

void transform_columns(const Columns& columns) {
    Prefetch prefetch = *columns.prefetch;
    for (Index block = 0; block < columns.blocks; block += group_blocks) {
        const Index lines = smaller(group_blocks, columns.blocks - block);
        const Index group = block / group_blocks;
        const Table from =
            table_of(columns.from, group * columns.from.next_doubles, block_doubles, columns.direction);
        const Table to =
            table_of(columns.to, group * columns.to.next_doubles, block_doubles, columns.direction);
        if (columns.is_streamed) {
            transform(*columns.line, from, Streamed{to}, lines, columns.work, prefetch);
        } else {
            transform(*columns.line, from, to, lines, columns.work, prefetch);
        }
    }
    finish_streams();
    *columns.prefetch = prefetch;
}

}  // namespace tare::npb::ft::TARE_NPB_SIMD
