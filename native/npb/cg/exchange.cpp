// SPDX-License-Identifier: Apache-2.0
#include "npb/cg/exchange.hpp"

#include <algorithm>

namespace tare::npb::cg {

namespace {

Communicator split(const World& world, int part, int place) {
    MPI_Comm communicator = MPI_COMM_NULL;
    MPI_Comm_split(world.communicator, part, place, &communicator);
    return Communicator{communicator};
}

std::vector<int> counts_of(const std::vector<Share<int>>& pieces) {
    std::vector<int> counts(pieces.size());
    std::transform(pieces.begin(), pieces.end(), counts.begin(),
                   [](const Share<int>& piece) { return piece.count; });
    return counts;
}

}  // namespace

Exchange::Exchange(const World& world, const GridShare& share)
    : world_{world.communicator},
      row_{split(world, share.grid_row, share.grid_column)},
      column_{split(world, share.grid_column, share.grid_row)},
      row_counts_{counts_of(share.row_pieces)},
      column_counts_{counts_of(share.column_pieces)},
      column_starts_{share.gathered_starts()} {}

void Exchange::start_gather(std::span<double> gathered) {
    if (has_others()) {
        MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, gathered.data(), column_counts_.data(),
                        column_starts_.data(), MPI_DOUBLE, column_.get(), &gathering_);
    }
}

void Exchange::progress() {
    int is_finished = 0;
    MPI_Test(&gathering_, &is_finished, MPI_STATUS_IGNORE);
}

void Exchange::finish_gather() {
    // NOLINTNEXTLINE(clang-analyzer-optin.mpi.MPI-Checker) begun by start_gather
    MPI_Wait(&gathering_, MPI_STATUS_IGNORE);
}

void Exchange::sum_parts(std::span<const double> part, std::span<double> own) const {
    MPI_Reduce_scatter(part.data(), own.data(), row_counts_.data(), MPI_DOUBLE, MPI_SUM, row_.get());
}

void Exchange::sum(std::span<double> numbers) const {
    MPI_Allreduce(MPI_IN_PLACE, numbers.data(), static_cast<int>(numbers.size()), MPI_DOUBLE, MPI_SUM,
                  world_);
}

double Exchange::sum(double number) const {
    sum(std::span{&number, 1});
    return number;
}

}  // namespace tare::npb::cg
