// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "npb/cg/partition.hpp"
#include "npb/common/arguments.hpp"
#include "npb/common/buffer.hpp"
#include "npb/common/world.hpp"

namespace tare::npb::cg {

/// What a rank tells the others of the grid (see `GridShare`).
class Exchange {
  public:
    Exchange() = default;
    Exchange(const Exchange&) = delete;
    Exchange& operator=(const Exchange&) = delete;
    Exchange(Exchange&&) = delete;
    Exchange& operator=(Exchange&&) = delete;
    virtual ~Exchange() = default;

    /// The pieces of the grid column's other ranks begin to come; the own piece is at the front of `gathered`
    /// and must not change until the end.
    virtual void start_gather(std::span<double> gathered) = 0;
    /// MPI gets some processor time, without which most of its kinds move nothing between start and end.
    virtual void progress() = 0;
    virtual void finish_gather() = 0;

    /// Adds up the grid row's parts of a product; of the sums each rank gets its own piece. `part` is
    /// changed.
    virtual void sum_parts(std::span<double> part, std::span<double> own) = 0;

    /// Each number's sum over the whole vector.
    virtual void sum(std::span<double> numbers) const = 0;
    [[nodiscard]] double sum(double number) const {
        sum(std::span{&number, 1});
        return number;
    }
    /// The three sums of an outer step: |x - A z|^2, x·z, z·z.
    virtual void sum_outer(std::array<double, 3>& sums) const { sum(sums); }
};

/// The fewest calls: one collective each.
class CollectiveExchange final : public Exchange {
  public:
    using Exchange::sum;

    CollectiveExchange(const World& world, const GridShare& share);

    void start_gather(std::span<double> gathered) override;
    void progress() override;
    void finish_gather() override;
    void sum_parts(std::span<double> part, std::span<double> own) override;
    void sum(std::span<double> numbers) const override;

  private:
    MPI_Comm world_;
    Communicator row_;
    Communicator column_;
    std::vector<int> row_counts_;
    std::vector<int> column_counts_;
    std::vector<int> column_starts_;
    MPI_Request gathering_ = MPI_REQUEST_NULL;
};

/// The reference's messages: no collective call, but sums by messages between pairs of ranks of a grid row,
/// whose number doubles the added parts with each message, and one message to the rank at the transposed
/// place of the grid (this rank itself on the diagonal), because a grid row's sums are where the rows are and
/// the next product needs them where the columns are. Worked out from the published description and from
/// counted messages of a running reference (docs/npb/cg.md).
class PairwiseExchange final : public Exchange {
  public:
    using Exchange::sum;

    PairwiseExchange(const World& world, const GridShare& share);

    /// Nothing is gathered: each rank has all of its grid column's piece.
    void start_gather(std::span<double> /*gathered*/) override {}
    void progress() override {}
    void finish_gather() override {}
    void sum_parts(std::span<double> part, std::span<double> own) override;
    void sum(std::span<double> numbers) const override;
    void sum_outer(std::array<double, 3>& sums) const override;

  private:
    /// A message to `partner` and one from it.
    void swap(int partner, std::span<const double> outgoing, std::span<double> incoming) const;
    /// Adds the partner's numbers to `numbers`, in both ranks.
    void add_partners(int partner, std::span<double> numbers, std::span<double> incoming) const;
    /// Gives the partner its half of the rows; returns the other half with the partner's numbers added.
    [[nodiscard]] std::span<double> add_half(int partner, std::span<double> part);

    MPI_Comm world_;
    /// In the grid row, the nearest first.
    std::vector<int> partners_;
    int transposed_rank_;
    /// Of the rank's rows: those whose sums it holds in the end.
    std::size_t kept_first_;
    std::size_t kept_count_;
    Buffer<double> incoming_;
};

[[nodiscard]] std::unique_ptr<Exchange> make_exchange(Messages messages, const World& world,
                                                      const GridShare& share);

}  // namespace tare::npb::cg
