// SPDX-License-Identifier: Apache-2.0
#include "npb/ft/tiles.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "npb/ft/pencils.hpp"

namespace tare::npb::ft {

namespace {

Communicator ranks_of_plane(const Decomposition& decomposition, const World& world) {
    MPI_Comm plane = MPI_COMM_NULL;
    MPI_Comm_split(world.communicator, decomposition.slab(), decomposition.rank_in_plane(), &plane);
    return Communicator{plane};
}

std::ptrdiff_t row_doubles_of(const Edges& edges) { return std::ptrdiff_t{2} * edges.x; }

/// Rows need two work memories of their length, columns one.
std::size_t work_doubles(const Decomposition& decomposition) {
    return static_cast<std::size_t>(
        std::max(std::ptrdiff_t{2} * decomposition.all_blocks() * work_element_doubles(group_rows),
                 decomposition.all_butterflies() * work_element_doubles(group_blocks)));
}

constexpr double diffusivity = 1e-6;

std::vector<double> factors(int edge, int time) {
    constexpr double rate = 4.0 * diffusivity * std::numbers::pi * std::numbers::pi;
    std::vector<double> factor;
    for (int number = 0; number < edge; ++number) {
        const double wave = number < edge / 2 ? number : number - edge;
        factor.push_back(std::exp(-rate * wave * wave * time));
    }
    return factor;
}

/// As many blocks as leave three quarters of a second cache of 512 KiB free, where the next tile's data come
/// in.
int blocks_of_tile(const Edges& edges) {
    constexpr std::ptrdiff_t most_doubles = std::ptrdiff_t{1} << 14U;
    return static_cast<int>(
        std::clamp(most_doubles / (y_radix * edges.z * block_doubles), std::ptrdiff_t{1}, group_blocks));
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

Evolution::Evolution(const Edges& edges, int time)
    : x_{factors(edges.x, time)}, y_{factors(edges.y, time)}, z_{factors(edges.z, time)} {}

Spectrum::Spectrum(const Decomposition& decomposition, Simd simd, bool is_streamed, int threads)
    : decomposition_{decomposition},
      functions_{functions(simd)},
      is_streamed_{is_streamed},
      tile_blocks_{blocks_of_tile(decomposition.edges)},
      tiles_of_butterfly_{(decomposition.blocks().count + tile_blocks_ - 1) / tile_blocks_},
      memory_{static_cast<std::size_t>(tiles() * tile_doubles())} {
    for (int thread = 0; thread < threads; ++thread) {
        work_.emplace_back(static_cast<std::size_t>(y_radix * (decomposition.edges.z + 1) *
                                                    work_element_doubles(tile_blocks_)));
    }
    for (int z = 0; z < decomposition.edges.z; ++z) {
        planes_.push_back(memory_.data() + z * plane_doubles());
    }
}

void Spectrum::make_tables() {
    plan_.emplace(decomposition_.edges.z);
    row_twiddle_.clear();
    for (int butterfly = 0; butterfly < decomposition_.all_butterflies(); ++butterfly) {
        for (int row = 0; row < y_radix; ++row) {
            const auto root = root_of_unity(std::int64_t{butterfly} * row, decomposition_.edges.y);
            row_twiddle_.push_back(root.real());
            row_twiddle_.push_back(root.imag());
        }
    }
}

Pencils Spectrum::pencils_of(int tile) {
    return {.element = planes_.data(), .start_doubles = tile * tile_doubles()};
}

int Spectrum::blocks_of(int tile) const {
    return std::min(tile_blocks_, decomposition_.blocks().count - first_block(tile));
}

YzTile Spectrum::work_on(int thread, int tile) {
    const std::ptrdiff_t butterfly = decomposition_.butterflies().first + butterfly_of(tile);
    return {.line = &plan_->line(),
            .row_twiddle = row_twiddle_.data() + butterfly * 2 * y_radix,
            .blocks = blocks_of(tile),
            .is_streamed = is_streamed_,
            .work = work_[static_cast<std::size_t>(thread)].data()};
}

Prefetch Spectrum::prefetch_after(const YzTile& tile, int next, std::ptrdiff_t follower_doubles) const {
    if (next >= tiles()) {
        return {};
    }
    return {.element = tile.from.element,
            .elements = decomposition_.edges.z,
            .start_doubles = tile.from.start_doubles + follower_doubles,
            .piece_doubles = blocks_of(next) * block_doubles,
            .next_piece_doubles = tile.from_row_doubles,
            .pieces = y_radix,
            .pace = 2};
}

void Spectrum::transform_forward(int thread, int tile, double* const* from,
                                 std::ptrdiff_t row_doubles_of_source) {
    const auto start_doubles = [&](int number) {
        return butterfly_of(number) * y_radix * row_doubles_of_source + first_block(number) * block_doubles;
    };
    const int next = tile + threads();
    YzTile work = work_on(thread, tile);
    work.from = {.element = from, .start_doubles = start_doubles(tile)};
    work.from_row_doubles = row_doubles_of_source;
    work.to = pencils_of(tile);
    work.to_row_doubles = row_doubles();
    work.prefetch = prefetch_after(work, next, start_doubles(next) - start_doubles(tile));
    functions_.transform_yz_tile(work);
}

void Spectrum::transform_inverse(int thread, int tile, const Evolution& evolution, double* const* to,
                                 std::ptrdiff_t row_doubles_of_target) {
    YzTile work = work_on(thread, tile);
    work.from = pencils_of(tile);
    work.from_row_doubles = row_doubles();
    work.to = {.element = to, .start_doubles = first_block(tile) * block_doubles};
    work.to_row_doubles = row_doubles_of_target;
    work.prefetch = prefetch_after(work, tile + threads(), threads() * tile_doubles());
    std::array<double, y_radix> factor{};
    int number = decomposition_.butterflies().first + butterfly_of(tile);
    for (double& row : factor) {
        row = evolution.y(number);
        number += decomposition_.all_butterflies();
    }
    const std::ptrdiff_t block = decomposition_.blocks().first + first_block(tile);
    functions_.transform_yz_tile_inverse(work, {.row = factor.data(),
                                                .along = evolution.z().data(),
                                                .across = evolution.x().data() + block * block_points});
}

bool Spectrum::has(int x, int y) const {
    return decomposition_.blocks().has(x / int{block_points}) &&
           decomposition_.butterflies().has(y % decomposition_.all_butterflies());
}

std::complex<double> Spectrum::at(int x, int y, int z) const {
    const std::ptrdiff_t block = x / block_points - decomposition_.blocks().first;
    const std::ptrdiff_t butterfly =
        y % decomposition_.all_butterflies() - decomposition_.butterflies().first;
    const std::ptrdiff_t row = y / decomposition_.all_butterflies();
    const double* const place =
        memory_.data() + (butterfly * tiles_of_butterfly_ + block / tile_blocks_) * tile_doubles() +
        row * row_doubles() + z * plane_doubles() + block % tile_blocks_ * block_doubles + x % block_points;
    return {place[0], place[block_points]};
}

}  // namespace tare::npb::ft
