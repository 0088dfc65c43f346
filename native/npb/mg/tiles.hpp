// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tare::npb::mg {

/// From `first` to before `end`; rows count over the periodic border.
struct Rows {
    int first;
    int end;

    [[nodiscard]] constexpr int count() const { return end - first; }
};

/// A sweep's stages in their order.
enum Stage : int { correct_stage, residual_stage, smooth_stage, new_residual_stage };

/// How a grid's rows are cut into tiles. Stage s of a tile works s rows further down than stage 0, so that it
/// finds its rows' neighbours ready. Over all tiles stage s goes through rows s-2 to s-3+edge: each row once.
class Tiles {
  public:
    /// `height` is the edge, or divides it, is even and at least 8.
    Tiles(int edge, int height) : edge_{edge}, height_{height} {}
    /// As high as the second cache is large.
    explicit Tiles(int edge);

    [[nodiscard]] int edge() const { return edge_; }
    [[nodiscard]] int count() const { return edge_ / height_; }
    [[nodiscard]] bool is_last(int tile) const { return tile == count() - 1; }
    [[nodiscard]] Rows rows(int tile, Stage stage) const;
    /// Rows of the residual that the tile has in hand: its own, those kept from the tile before, and those
    /// that the grid's periodic border brings.
    [[nodiscard]] Rows residual_rows(int tile) const;
    /// Coarse rows that the tile gives: coarse row j lies on row 2j.
    [[nodiscard]] Rows coarse_rows(int tile) const;
    /// Rows of the new residual that those need; the first row was worked out by the tile before too.
    [[nodiscard]] Rows new_residual_rows(int tile) const {
        const Rows coarse = coarse_rows(tile);
        return {.first = 2 * coarse.first - 1, .end = 2 * coarse.end};
    }
    /// No tile has more rows in hand.
    [[nodiscard]] int capacity() const { return height_ + margin; }

  private:
    static constexpr int margin = 3;

    /// Stage 0 of the tile begins here; odd, so that coarse rows are whole.
    [[nodiscard]] int start_of(int tile) const { return tile * height_ + margin; }

    int edge_;
    int height_;
};

}  // namespace tare::npb::mg
