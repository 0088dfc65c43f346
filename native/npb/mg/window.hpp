// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "npb/common/buffer.hpp"
#include "npb/mg/tiles.hpp"

namespace tare::npb::mg {

/// A tile's rows of three planes that follow each other: a plane takes the place of the third before it.
class PlanesInHand {
  public:
    PlanesInHand(int capacity, int length);

    void begin(const Rows& rows) { first_ = rows.first; }
    [[nodiscard]] double* row(int plane, int row);

  private:
    int capacity_;
    int length_;
    int first_ = 0;
    Buffer<double> values_;
};

/// Rows of the residual that one tile makes and another needs too, a pair of them for every plane.
class KeptPairs {
  public:
    /// For `planes` planes from `first_plane` on.
    KeptPairs(int length, int first_plane, int planes);

    /// The first tile's first pair, which the last tile needs, as the grid is periodic.
    [[nodiscard]] double* of_first_tile(int plane) { return pair(first_tile_, plane); }
    /// A tile's last pair, which the next tile needs; the tile after that may keep its own in the same place.
    [[nodiscard]] double* of_tile(int tile, int plane) {
        return pair(tile % 2 == 0 ? even_tiles_ : odd_tiles_, plane);
    }

  private:
    [[nodiscard]] double* pair(Buffer<double>& pairs, int plane) const;

    std::ptrdiff_t pair_size_;
    int first_plane_;
    Buffer<double> first_tile_;
    Buffer<double> even_tiles_;
    Buffer<double> odd_tiles_;
};

/// A tile's residual between the stage that makes it and the stage that smooths by it. The latter also needs
/// two rows that the tile before has made, and in the last tile two that the first has made.
class ResidualInHand {
  public:
    /// `kept` is shared by all tiles.
    ResidualInHand(int capacity, int length, KeptPairs& kept);

    void begin(const Tile& tile);
    [[nodiscard]] double* row(int plane, int row) { return in_hand_.row(plane, row); }
    /// The tile's own rows of the plane are made: brings the others, and keeps what other tiles need.
    void exchange_pairs(int plane);

  private:
    void copy_pair(const double* from, double* into) const;

    int length_;
    KeptPairs* kept_;
    Tile tile_{};
    PlanesInHand in_hand_;
};

}  // namespace tare::npb::mg
