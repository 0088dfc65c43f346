// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "npb/common/buffer.hpp"

namespace tare::npb::mg {

/// From `first` to before `end`; rows count over the periodic border.
struct Rows {
    int first;
    int end;

    [[nodiscard]] constexpr int count() const { return end - first; }
};

/// A sweep's stages in their order.
enum Stage : int { correct_stage, residual_stage, smooth_stage, new_residual_stage };

/// Some of a grid's rows, which a sweep takes through all its planes together.
struct Tile {
    int index = 0;
    /// How many tiles the grid has.
    int count = 1;
    int edge = 0;
    /// Where stage 0 begins, and where it does in the next tile; both odd, so that coarse rows are whole.
    int start = 0;
    int next_start = 0;

    [[nodiscard]] bool is_first() const { return index == 0; }
    [[nodiscard]] bool is_last() const { return index == count - 1; }
    /// What a stage does. Over all tiles stage s goes through rows s-2 to s-3+edge: each row once.
    [[nodiscard]] Rows rows(Stage stage) const;
    /// Rows of the residual that the tile has in hand: its own, those kept from the tile before, and those
    /// that the grid's periodic border brings.
    [[nodiscard]] Rows residual_rows() const;
    /// Coarse rows that the tile gives: coarse row j lies on row 2j.
    [[nodiscard]] Rows coarse_rows() const;
    /// Rows of the new residual that those need; the first row was worked out by the tile before too.
    [[nodiscard]] Rows new_residual_rows() const {
        const Rows coarse = coarse_rows();
        return {.first = 2 * coarse.first - 1, .end = 2 * coarse.end};
    }
};

/// How a grid's rows are cut into tiles, as even as pairs of rows can be. Stage s of a tile works s rows
/// further down than stage 0, so that it finds its rows' neighbours ready.
class Tiles {
  public:
    /// `count` is 1, or every tile has 8 rows or more.
    Tiles(int edge, int count) : edge_{edge}, count_{count} {}

    [[nodiscard]] int edge() const { return edge_; }
    [[nodiscard]] int count() const { return count_; }
    [[nodiscard]] Tile tile(int index) const;
    /// No tile has more rows in hand.
    [[nodiscard]] int capacity() const;

  private:
    [[nodiscard]] int start_of(int index) const;

    int edge_;
    int count_;
};

/// Tiles as high as the second cache is large, or lower, so that every thread has as many.
[[nodiscard]] Tiles tiles_for(int edge, int threads);

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
