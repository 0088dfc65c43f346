// SPDX-License-Identifier: Apache-2.0
#include "npb/cg/exchange.hpp"

#include <algorithm>
#include <functional>

namespace tare::npb::cg {

namespace {

constexpr int tag = 1;

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

/// The ranks of the grid row whose columns differ by 1, 2, 4 and so on.
std::vector<int> partners_of(const GridShare& share) {
    std::vector<int> partners;
    for (int bit = 1; bit < share.grid_columns; bit *= 2) {
        const int column =
            (share.grid_column / bit) % 2 == 0 ? share.grid_column + bit : share.grid_column - bit;
        partners.push_back(share.grid_row * share.grid_columns + column);
    }
    return partners;
}

}  // namespace

CollectiveExchange::CollectiveExchange(const World& world, const GridShare& share)
    : world_{world.communicator},
      row_{split(world, share.grid_row, share.grid_column)},
      column_{split(world, share.grid_column, share.grid_row)},
      row_counts_{counts_of(share.row_pieces)},
      column_counts_{counts_of(share.column_pieces)},
      column_starts_{share.gathered_starts()} {}

void CollectiveExchange::start_gather(std::span<double> gathered) {
    if (column_counts_.size() > 1) {
        MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, gathered.data(), column_counts_.data(),
                        column_starts_.data(), MPI_DOUBLE, column_.get(), &gathering_);
    }
}

void CollectiveExchange::progress() {
    int is_finished = 0;
    MPI_Test(&gathering_, &is_finished, MPI_STATUS_IGNORE);
}

void CollectiveExchange::finish_gather() {
    // NOLINTNEXTLINE(clang-analyzer-optin.mpi.MPI-Checker) begun by start_gather
    MPI_Wait(&gathering_, MPI_STATUS_IGNORE);
}

void CollectiveExchange::sum_parts(std::span<double> part, std::span<double> own) {
    MPI_Reduce_scatter(part.data(), own.data(), row_counts_.data(), MPI_DOUBLE, MPI_SUM, row_.get());
}

void CollectiveExchange::sum(std::span<double> numbers) const {
    MPI_Allreduce(MPI_IN_PLACE, numbers.data(), static_cast<int>(numbers.size()), MPI_DOUBLE, MPI_SUM,
                  world_);
}

PairwiseExchange::PairwiseExchange(const World& world, const GridShare& share)
    : world_{world.communicator},
      partners_{partners_of(share)},
      transposed_rank_{share.transposed_rank},
      kept_first_{static_cast<std::size_t>(share.summed.first - share.rows().first)},
      kept_count_{static_cast<std::size_t>(share.summed.count)},
      incoming_{static_cast<std::size_t>(share.rows().count)} {}

void PairwiseExchange::swap(int partner, std::span<const double> outgoing, std::span<double> incoming) const {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(incoming.data(), static_cast<int>(incoming.size()), MPI_DOUBLE, partner, tag, world_, &request);
    MPI_Send(outgoing.data(), static_cast<int>(outgoing.size()), MPI_DOUBLE, partner, tag, world_);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

void PairwiseExchange::add_partners(int partner, std::span<double> numbers,
                                    std::span<double> incoming) const {
    swap(partner, numbers, incoming.first(numbers.size()));
    std::transform(numbers.begin(), numbers.end(), incoming.begin(), numbers.begin(), std::plus<>{});
}

std::span<double> PairwiseExchange::add_half(int partner, std::span<double> part) {
    const auto kept = part.subspan(kept_first_, kept_count_);
    const auto given = kept_first_ == 0 ? part.subspan(kept_count_) : part.first(kept_first_);
    const auto incoming = incoming_.span().first(kept_count_);
    swap(partner, given, incoming);
    std::transform(kept.begin(), kept.end(), incoming.begin(), kept.begin(), std::plus<>{});
    return kept;
}

void PairwiseExchange::sum_parts(std::span<double> part, std::span<double> own) {
    std::span<const int> partners{partners_};
    auto sums = part;
    if (kept_count_ < part.size()) {
        sums = add_half(partners.front(), part);
        partners = partners.subspan(1);
    }
    for (const int partner : partners) {
        add_partners(partner, sums, incoming_.span());
    }
    swap(transposed_rank_, sums, own);
}

void PairwiseExchange::sum(std::span<double> numbers) const {
    std::array<double, 2> incoming{};
    for (const int partner : partners_) {
        add_partners(partner, numbers, incoming);
    }
}

void PairwiseExchange::sum_outer(std::array<double, 3>& sums) const {
    sum(std::span{sums}.first(1));
    sum(std::span{sums}.last(2));
}

std::unique_ptr<Exchange> make_exchange(Messages messages, const World& world, const GridShare& share) {
    if (messages == Messages::reference) {
        return std::make_unique<PairwiseExchange>(world, share);
    }
    return std::make_unique<CollectiveExchange>(world, share);
}

}  // namespace tare::npb::cg
