// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <optional>
#include <vector>

#include "npb/common/buffer.hpp"
#include "npb/ft/evolution.hpp"
#include "npb/ft/layout.hpp"
#include "npb/ft/plan.hpp"
#include "npb/ft/transpose.hpp"

namespace tare::npb::ft {

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
    [[nodiscard]] Pencils side(int tile);
    /// Blocks of x to the left of a tile's.
    [[nodiscard]] int first_block(int tile) const { return tile % tiles_of_butterfly_ * tile_blocks_; }
    [[nodiscard]] int blocks_of(int tile) const;
    [[nodiscard]] YzTile work_on(int thread, int tile);
    /// What the thread reads next, where `next` lies `follower_doubles` further than the tile in hand.
    [[nodiscard]] Prefetch prefetch_after(const YzTile& butterfly, int next,
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
