// SPDX-License-Identifier: Apache-2.0
#include "npb/ft/combs.hpp"

#include <algorithm>

#include "npb/ft/layout.hpp"

namespace tare::npb::ft {

namespace {

Communicator ranks_of_plane(const Decomposition& decomposition, const World& world) {
    MPI_Comm found = MPI_COMM_NULL;
    MPI_Comm_split(world.communicator, decomposition.slab(), decomposition.rank_in_plane(), &found);
    return Communicator{found};
}

std::ptrdiff_t row_doubles_of(const Edges& edges) { return std::ptrdiff_t{2} * edges.x; }

/// Rows need two work memories of their length, columns one.
std::size_t work_doubles(const Decomposition& decomposition) {
    return static_cast<std::size_t>(
        std::max(std::ptrdiff_t{2} * decomposition.all_blocks() * work_element_doubles(group_rows),
                 decomposition.all_butterflies() * work_element_doubles(group_blocks)));
}

}  // namespace

XyTransform::XyTransform(const Decomposition& decomposition, const World& world, Simd simd, bool is_streamed,
                         int threads)
    : decomposition_{decomposition},
      communicator_{ranks_of_plane(decomposition, world)},
      ranks_{World::of(communicator_.get())},
      functions_{functions(simd)},
      is_streamed_{is_streamed},
      row_doubles_{largest_share(decomposition.all_blocks(), ranks_.ranks) * block_doubles + padding_doubles},
      slot_doubles_{largest_share(decomposition.all_butterflies(), ranks_.ranks) * row_doubles_},
      meeting_{threads} {
    for (int thread = 0; thread < threads; ++thread) {
        scratch_.push_back(new_scratch());
    }
}

/// Each rank of the plane has a slot of the same size, for its rows or its blocks.
XyTransform::Tile XyTransform::new_tile() const {
    Tile tile;
    tile.memory = Buffer<double>{static_cast<std::size_t>(ranks_.ranks * slot_doubles_)};
    const auto place = [&](int total, int thing, std::ptrdiff_t thing_doubles) {
        const int owner = owner_of(total, ranks_.ranks, thing);
        const Share<int> share = share_of(total, ranks_.ranks, owner);
        return tile.memory.data() + owner * slot_doubles_ + (thing - share.first) * thing_doubles;
    };
    for (int row = 0; row < decomposition_.all_butterflies(); ++row) {
        tile.rows.push_back(place(decomposition_.all_butterflies(), row, row_doubles_));
    }
    for (int block = 0; block < decomposition_.all_blocks(); ++block) {
        tile.blocks.push_back(place(decomposition_.all_blocks(), block, block_doubles));
    }
    return tile;
}

XyTransform::Scratch XyTransform::new_scratch() const {
    Scratch scratch;
    scratch.tile = new_tile();
    if (ranks_.ranks > 1) {
        scratch.received = new_tile();
    }
    scratch.work = Buffer<double>{work_doubles(decomposition_)};
    scratch.source_rows =
        Buffer<double>{static_cast<std::size_t>(group_rows * row_doubles_of(decomposition_.edges))};
    scratch.source_blocks = blocks_from(scratch.source_rows.data(), decomposition_.all_blocks());
    return scratch;
}

void XyTransform::make_tables() {
    row_plan_.emplace(decomposition_.edges.x);
    column_plan_.emplace(decomposition_.all_butterflies());
}

void XyTransform::transpose_tile(Scratch& scratch) const {
    MPI_Alltoall(scratch.tile.memory.data(), static_cast<int>(slot_doubles_), MPI_DOUBLE,
                 scratch.received.memory.data(), static_cast<int>(slot_doubles_), MPI_DOUBLE,
                 ranks_.communicator);
}

/// Thread 0 alone calls MPI, for one tile after the other, while the others wait.
void XyTransform::transpose(int thread, int tiles) {
    if (ranks_.ranks == 1) {
        return;
    }
    meeting_.arrive_and_wait();
    if (thread == 0) {
        std::for_each_n(scratch_.begin(), tiles, [&](Scratch& scratch) { transpose_tile(scratch); });
    }
    meeting_.arrive_and_wait();
}

Rows XyTransform::rows(Scratch& scratch, const Pencils& from, const Pencils& to, int count,
                       Direction direction) {
    return {.line = &row_plan_->line(),
            .lane_twiddle = row_plan_->lane_twiddle(),
            .from = from,
            .to = to,
            .rows = count,
            .direction = direction,
            .work = scratch.work.data(),
            .prefetch = &scratch.prefetch};
}

Columns XyTransform::columns(Scratch& scratch, const Pencils& from, const Pencils& to, int blocks,
                             Direction direction) {
    return {.line = &column_plan_->line(),
            .from = from,
            .to = to,
            .blocks = blocks,
            .direction = direction,
            .work = scratch.work.data(),
            .prefetch = &scratch.prefetch};
}

void XyTransform::forward_rows(int thread, const TileSource& source) {
    Scratch& scratch = scratch_of(thread);
    const Share<int> share = decomposition_.tile_rows();
    const Pencils from{.element = scratch.source_blocks.data(),
                       .next_doubles = row_doubles_of(decomposition_.edges)};
    scratch.prefetch = {};
    for (int row = 0; row < share.count; row += int{group_rows}) {
        const int together = std::min(int{group_rows}, share.count - row);
        source(share.first + row, together, scratch.source_rows.data());
        functions_.transform_rows(rows(scratch, from,
                                       {.element = scratch.tile.blocks.data(),
                                        .start_doubles = row * row_doubles_,
                                        .next_doubles = row_doubles_},
                                       together, Direction::forward));
    }
}

void XyTransform::forward_columns(int thread, Share<int> blocks, const Pencils& to) {
    Scratch& scratch = scratch_of(thread);
    Columns last =
        columns(scratch,
                {.element = arrived(scratch).rows.data(),
                 .start_doubles = blocks.first * block_doubles,
                 .next_doubles = group_doubles},
                {.element = to.element, .start_doubles = to.start_doubles, .next_doubles = group_doubles},
                blocks.count, Direction::forward);
    last.is_streamed = is_streamed_;
    functions_.transform_columns(last);
}

void XyTransform::inverse_columns(int thread, Share<int> blocks, const Pencils& from,
                                  std::ptrdiff_t follower_doubles) {
    Scratch& scratch = scratch_of(thread);
    const std::ptrdiff_t groups = (blocks.count + group_blocks - 1) / group_blocks;
    scratch.prefetch = {.element = from.element,
                        .elements = decomposition_.all_butterflies(),
                        .start_doubles = from.start_doubles + follower_doubles,
                        .piece_doubles = group_doubles,
                        .next_piece_doubles = group_doubles,
                        .pieces = follower_doubles == 0 ? 0 : groups};
    functions_.transform_columns(
        columns(scratch,
                {.element = from.element, .start_doubles = from.start_doubles, .next_doubles = group_doubles},
                {.element = scratch.tile.rows.data(),
                 .start_doubles = blocks.first * block_doubles,
                 .next_doubles = group_doubles},
                blocks.count, Direction::inverse));
}

void XyTransform::inverse_rows(int thread, const Pencils& to) {
    Scratch& scratch = scratch_of(thread);
    // Not past the caches, where the coefficients that the points replace still are.
    functions_.transform_rows(rows(scratch,
                                   {.element = arrived(scratch).blocks.data(), .next_doubles = row_doubles_},
                                   to, decomposition_.tile_rows().count, Direction::inverse));
}

}  // namespace tare::npb::ft
