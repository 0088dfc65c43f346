// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "npb/common/buffer.hpp"
#include "npb/common/world.hpp"
#include "npb/ft/decomposition.hpp"
#include "npb/ft/plan.hpp"

namespace tare::npb::ft {

/// Writes whole rows of a comb as blocks, from its row `first` on, `rows` of them.
using CombSource = std::function<void(int first, int rows, double* to)>;

/// Transforms of combs (every eighth row of a plane) along x, and along y within the comb, in a memory that
/// holds one comb. Where ranks share planes, it is cut by rows before the exchange among them and by blocks
/// of x after it.
class CombTransform {
  public:
    CombTransform(const Decomposition& decomposition, const World& world, Simd simd, bool is_streamed);

    void make_tables();
    /// From rows of points to rows of coefficients (`to`: a place for each row, of this rank's blocks).
    void forward(const CombSource& source, const Side& to);
    /// From rows of coefficients to this rank's rows of points (`to`: a place for each block). If another
    /// comb follows, its rows lie `follower_doubles` further.
    void inverse(const Side& from, const Side& to, std::ptrdiff_t follower_doubles);

  private:
    /// Both faces of a comb's memory: the place of each row with this rank's blocks, and of each block of
    /// this rank's first row.
    struct Comb {
        Buffer<double> memory;
        std::vector<double*> rows;
        std::vector<double*> blocks;
    };

    void find_places(Comb& comb) const;
    [[nodiscard]] Comb& arrived() { return ranks_.ranks > 1 ? received_ : comb_; }
    void exchange();
    [[nodiscard]] Rows rows(const Side& from, const Side& to, int count, Direction direction);
    [[nodiscard]] Columns columns(const Side& from, const Side& to, Direction direction);

    Decomposition decomposition_;
    Communicator communicator_;
    World ranks_;
    Functions functions_;
    bool is_streamed_;
    std::ptrdiff_t row_doubles_;
    std::ptrdiff_t slot_doubles_;
    Comb comb_;
    Comb received_;
    Buffer<double> work_;
    Buffer<double> source_rows_;
    std::vector<double*> source_blocks_;
    std::optional<RowPlan> row_plan_;
    std::optional<LinePlan> column_plan_;
    Ahead ahead_;
};

}  // namespace tare::npb::ft
