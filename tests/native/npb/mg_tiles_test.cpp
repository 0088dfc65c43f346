// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>

#include "npb/common/share.hpp"
#include "npb/mg/layout.hpp"
#include "npb/mg/tiles.hpp"

using namespace tare::npb;
using namespace tare::npb::mg;

TEST_CASE(
    "each plane of each cut grid belongs to one rank, and coarse planes lie in the same rank's fine ones") {
    for (int ranks = 1; ranks <= 70; ++ranks) {
        const PlaneCut cut{256, {.ranks = ranks}};
        CHECK(cut.active_ranks() == std::min(ranks, 64));
        for (int edge = cut.whole_edge(); edge <= 256; edge *= 2) {
            int next = 0;
            for (int rank = 0; rank < cut.active_ranks(); ++rank) {
                const Share<int> planes = cut.planes(edge, rank);
                CHECK(planes.first == next);
                CHECK(planes.count >= (edge == 256 ? 4 : 2));
                next += planes.count;
            }
            CHECK(next == edge);
        }
    }
}

TEST_CASE("the tiles' stages go through each row once, with room for all that is in hand") {
    for (const Tiles& tiles : {Tiles{2, 1}, Tiles{16, 2}, Tiles{64, 4}, Tiles{64, 7}, tiles_for(256, 1),
                               tiles_for(256, 3), tiles_for(1024, 5)}) {
        for (const Stage stage : {correct_stage, residual_stage, smooth_stage}) {
            int next = stage - 2;
            for (int index = 0; index < tiles.count(); ++index) {
                const Rows rows = tiles.tile(index).rows(stage);
                CHECK(rows.first == next);
                CHECK(rows.count() > 0);
                next = rows.end;
            }
            CHECK(next == stage - 2 + tiles.edge());
        }
        for (int index = 0; index < tiles.count(); ++index) {
            CHECK(tiles.tile(index).residual_rows().count() <= tiles.capacity());
            CHECK(tiles.tile(index).new_residual_rows().count() <= tiles.capacity());
        }
    }
}

TEST_CASE("every thread gets as many tiles, unless they would be lower than eight rows") {
    for (const int edge : {32, 64, 128, 256, 512, 1024}) {
        for (int threads = 1; threads <= 40; ++threads) {
            const int count = tiles_for(edge, threads).count();
            CHECK(edge / count >= 8);
            CHECK((count % threads == 0 || count == edge / 8));
        }
    }
}
