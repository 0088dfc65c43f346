// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <span>
#include <vector>

#include "npb/cg/grid.hpp"
#include "npb/common/world.hpp"

namespace tare::npb::cg {

/// What a rank tells the others of the grid (see `GridShare`).
class Exchange {
  public:
    Exchange(const World& world, const GridShare& share);

    /// The grid column has other ranks, whose pieces of the vector this rank multiplies by.
    [[nodiscard]] bool has_others() const { return column_counts_.size() > 1; }
    /// The pieces of the grid column's other ranks begin to come; the own piece is at the front of `gathered`
    /// and must not change until the end.
    void start_gather(std::span<double> gathered);
    /// MPI gets some processor time, without which most of its kinds move nothing between start and end.
    void progress();
    void finish_gather();

    /// The grid row has other ranks, whose part of the product is missing in this rank's.
    [[nodiscard]] bool has_parts() const { return row_counts_.size() > 1; }
    /// Adds up the grid row's parts of a product; of the sums each rank gets its own piece.
    void sum_parts(std::span<const double> part, std::span<double> own) const;

    /// Each number's sum over all ranks.
    void sum(std::span<double> numbers) const;
    [[nodiscard]] double sum(double number) const;

  private:
    MPI_Comm world_;
    Communicator row_;
    Communicator column_;
    std::vector<int> row_counts_;
    std::vector<int> column_counts_;
    std::vector<int> column_starts_;
    MPI_Request gathering_ = MPI_REQUEST_NULL;
};

}  // namespace tare::npb::cg
