// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <barrier>
#include <complex>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "npb/common/buffer.hpp"
#include "npb/common/world.hpp"
#include "npb/ft/pencils.hpp"
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

/// What diffusion multiplies the spectrum with after a time t: exp(-4 alpha pi^2 |k|^2 t), with alpha = 1e-6
/// and each wave number folded to -n/2 .. n/2 - 1 (NAS-95-020, section 2.2.6). It is a product of one factor
/// per dimension, so that there is no table of all points.
class Evolution {
  public:
    Evolution(const Edges& edges, int time);

    [[nodiscard]] std::span<const double> x() const { return x_; }
    [[nodiscard]] double y(int number) const { return y_[static_cast<std::size_t>(number)]; }
    [[nodiscard]] std::span<const double> z() const { return z_; }

  private:
    std::vector<double> x_;
    std::vector<double> y_;
    std::vector<double> z_;
};

/// The coefficients of a field: this rank's butterflies along y, each cut along x into yz tiles, each with
/// its rows, each with all z. A tile is one piece of memory; threads take them one by one.
class Spectrum {
  public:
    Spectrum(const Decomposition& decomposition, Simd simd, bool is_streamed, int threads);

    void make_tables();
    /// This rank's tiles, of all its butterflies.
    [[nodiscard]] int tiles() const { return decomposition_.butterflies().count * tiles_of_butterfly_; }
    [[nodiscard]] int tiles_of_butterfly() const { return tiles_of_butterfly_; }
    [[nodiscard]] int butterfly_of(int tile) const { return tile / tiles_of_butterfly_; }

    /// A tile, from the addresses for each z of this rank's first butterfly; rows are `row_doubles` apart,
    /// and butterflies follow each other.
    void transform_forward(int thread, int tile, double* const* from, std::ptrdiff_t row_doubles);
    /// Evolves a tile and transforms it, to the addresses for each z of its butterfly; the coefficients stay.
    void transform_inverse(int thread, int tile, const Evolution& evolution, double* const* to,
                           std::ptrdiff_t row_doubles);

    /// Whether this rank has the coefficients of wave numbers x and y.
    [[nodiscard]] bool has(int x, int y) const;
    [[nodiscard]] std::complex<double> at(int x, int y, int z) const;

  private:
    [[nodiscard]] int threads() const { return static_cast<int>(work_.size()); }
    [[nodiscard]] std::ptrdiff_t plane_doubles() const { return tile_blocks_ * block_doubles; }
    [[nodiscard]] std::ptrdiff_t row_doubles() const { return decomposition_.edges.z * plane_doubles(); }
    [[nodiscard]] std::ptrdiff_t tile_doubles() const { return y_radix * row_doubles(); }
    [[nodiscard]] Pencils pencils_of(int tile);
    /// Blocks of x to the left of a tile's.
    [[nodiscard]] int first_block(int tile) const { return tile % tiles_of_butterfly_ * tile_blocks_; }
    [[nodiscard]] int blocks_of(int tile) const;
    [[nodiscard]] YzTile work_on(int thread, int tile);
    /// What the thread reads next, where `next` lies `follower_doubles` further than the tile in hand.
    [[nodiscard]] Prefetch prefetch_after(const YzTile& tile, int next,
                                          std::ptrdiff_t follower_doubles) const;

    Decomposition decomposition_;
    Functions functions_;
    bool is_streamed_;
    int tile_blocks_;
    int tiles_of_butterfly_;
    Buffer<double> memory_;
    /// One for each thread.
    std::vector<Buffer<double>> work_;
    std::vector<double*> planes_;
    std::vector<double> row_twiddle_;
    std::optional<LinePlan> plan_;
};

}  // namespace tare::npb::ft
