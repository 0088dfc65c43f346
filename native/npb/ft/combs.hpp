// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <barrier>
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

/// Transforms of combs (every eighth row of a plane) along x, and along y within the comb. Each thread has a
/// comb of its own in hand, in a memory that holds one. Where ranks share planes, combs are cut by rows
/// before the exchange among them and by blocks of x after it.
class CombTransform {
  public:
    CombTransform(const Decomposition& decomposition, const World& world, Simd simd, bool is_streamed,
                  int threads);

    void make_tables();

    /// The first step of a forward transform: from rows of points.
    void forward_rows(int thread, const CombSource& source);
    /// The second: to rows of coefficients (a place for each row, of these of this rank's blocks).
    void forward_columns(int thread, Share<int> blocks, const Side& to);
    /// The first step of an inverse transform: from rows of coefficients. If another comb of this thread
    /// follows, its rows lie `follower_doubles` further.
    void inverse_columns(int thread, Share<int> blocks, const Side& from, std::ptrdiff_t follower_doubles);
    /// The second: to this rank's rows of points (a place for each block).
    void inverse_rows(int thread, const Side& to);
    /// Between the steps all threads call this, of which the first `combs` have a comb in hand.
    void exchange(int thread, int combs);

  private:
    /// Both faces of a comb's memory: the place of each row with this rank's blocks, and of each block of
    /// this rank's first row.
    struct Comb {
        Buffer<double> memory;
        std::vector<double*> rows;
        std::vector<double*> blocks;
    };
    /// What one thread works with.
    struct alignas(buffer_alignment_byte) Scratch {
        Comb comb;
        /// What came from other ranks, if there are any.
        Comb received;
        Buffer<double> work;
        Buffer<double> source_rows;
        std::vector<double*> source_blocks;
        Ahead ahead;
    };

    [[nodiscard]] Comb new_comb() const;
    [[nodiscard]] Scratch new_scratch() const;
    [[nodiscard]] Scratch& scratch_of(int thread) { return scratch_[static_cast<std::size_t>(thread)]; }
    [[nodiscard]] const Comb& arrived(const Scratch& scratch) const {
        return ranks_.ranks > 1 ? scratch.received : scratch.comb;
    }
    void exchange_comb(Scratch& scratch) const;
    [[nodiscard]] Rows rows(Scratch& scratch, const Side& from, const Side& to, int count,
                            Direction direction);
    [[nodiscard]] Columns columns(Scratch& scratch, const Side& from, const Side& to, int blocks,
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
