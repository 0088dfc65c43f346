// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
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

/// The residual between the stage that makes it and the stage that smooths by it. The latter also needs two
/// rows that the tile before has made, and the last tile two that the first has made, as the grid is
/// periodic: those pairs are kept for every plane.
class ResidualInHand {
  public:
    /// For planes from `first_plane` on.
    ResidualInHand(const Tiles& tiles, int length, int first_plane, int planes);

    void begin_tile(int tile);
    [[nodiscard]] double* row(int plane, int row) { return in_hand_.row(plane, row); }
    /// The tile's own rows of the plane are made: brings the others, and keeps what other tiles need.
    void exchange_pairs(int plane);

  private:
    [[nodiscard]] double* kept(int which, int plane);
    void copy_pair(const double* from, double* into) const;

    Tiles tiles_;
    int length_;
    int first_plane_;
    int tile_ = 0;
    PlanesInHand in_hand_;
    /// Of the first tile; of even tiles, of odd tiles.
    std::array<Buffer<double>, 3> kept_;
};

}  // namespace tare::npb::mg
