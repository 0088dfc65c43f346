// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <barrier>
#include <functional>
#include <optional>
#include <vector>

#include "npb/common/buffer.hpp"
#include "npb/common/world.hpp"
#include "npb/ft/plan.hpp"
#include "npb/ft/transpose.hpp"

namespace tare::npb::ft {

/// Writes whole rows of an xy tile as blocks, from its row `first` on, `rows` of them.
using TileSource = std::function<void(int first, int rows, double* to)>;

/// Transforms of xy tiles: pencils along x, and the first factor of those along y, which takes every eighth
/// row of a plane (decimation, see `y_radix`). Each thread has a tile of its own in hand, in a memory that
/// holds one. Where ranks share planes, tiles are cut by rows before the transpose among them and by blocks
/// of x after it.
class XyTransform {
  public:
    XyTransform(const Decomposition& decomposition, const World& world, Simd simd, bool is_streamed,
                int threads);

    void make_tables();

    /// The first step of a forward transform: from rows of points.
    void forward_rows(int thread, const TileSource& source);
    /// The second: to rows of coefficients (an address for each row, of these of this rank's blocks).
    void forward_columns(int thread, Share<int> blocks, const Pencils& to);
    /// The first step of an inverse transform: from rows of coefficients. If another xy tile of this thread
    /// follows, its rows lie `follower_doubles` further.
    void inverse_columns(int thread, Share<int> blocks, const Pencils& from, std::ptrdiff_t follower_doubles);
    /// The second: to this rank's rows of points (an address for each block).
    void inverse_rows(int thread, const Pencils& to);
    /// Between the steps all threads call this, of which the first `tiles` have a tile in hand.
    void transpose(int thread, int tiles);

  private:
    /// Both faces of a tile's memory: the address of each row with this rank's blocks, and of each block of
    /// this rank's first row.
    struct Tile {
        Buffer<double> memory;
        std::vector<double*> rows;
        std::vector<double*> blocks;
    };
    /// What one thread works with.
    struct alignas(buffer_alignment_byte) Scratch {
        Tile tile;
        /// What came from other ranks, if there are any.
        Tile received;
        Buffer<double> work;
        Buffer<double> source_rows;
        std::vector<double*> source_blocks;
        Prefetch prefetch;
    };

    [[nodiscard]] Tile new_tile() const;
    [[nodiscard]] Scratch new_scratch() const;
    [[nodiscard]] Scratch& scratch_of(int thread) { return scratch_[static_cast<std::size_t>(thread)]; }
    [[nodiscard]] const Tile& arrived(const Scratch& scratch) const {
        return ranks_.ranks > 1 ? scratch.received : scratch.tile;
    }
    void transpose_tile(Scratch& scratch) const;
    [[nodiscard]] Rows rows(Scratch& scratch, const Pencils& from, const Pencils& to, int count,
                            Direction direction);
    [[nodiscard]] Columns columns(Scratch& scratch, const Pencils& from, const Pencils& to, int blocks,
                                  Direction direction);

    Decomposition decomposition_;
    Communicator communicator_;
    World ranks_;
    Functions functions_;
    bool is_streamed_;
    std::ptrdiff_t row_doubles_;
    std::ptrdiff_t slot_doubles_;
    std::optional<RowPlan> row_plan_;
    std::optional<LinePlan> column_plan_;
    std::vector<Scratch> scratch_;
    std::barrier<> meeting_;
};

}  // namespace tare::npb::ft
