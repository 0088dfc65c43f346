// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <span>
#include <vector>

#include "npb/common/world.hpp"
#include "npb/ft/decomposition.hpp"

namespace tare::npb::ft {

/// A table of rows that changes hands: before, each rank has some items (planes, say) with all of their rows;
/// after, it has some rows of all items. Either may be cut into parts, which lie side by side in x.
struct TransposeShape {
    int items = 0;
    int rows = 0;
    std::ptrdiff_t row_doubles = 0;
    int parts_of_item = 1;
    int parts_of_row = 1;
};

/// The transpose among ranks, begun as soon as the first items are packed, while further ones are computed.
/// What a rank keeps for itself it writes to its final place. With the reference's messages it is one
/// `MPI_Alltoall` after the last item instead, of equal pieces for all ranks, this one included.
class Transpose {
  public:
    Transpose(const World& world, const TransposeShape& table, Messages messages);

    /// Memory for what goes to other ranks, and for all that is here afterwards.
    [[nodiscard]] std::ptrdiff_t outgoing_doubles() const;
    [[nodiscard]] std::ptrdiff_t arriving_doubles() const { return table_.items * item_doubles(); }
    void use(double* outgoing, double* arriving);

    [[nodiscard]] Share<int> items() const { return share_of(table_.items, world_.ranks, world_.rank); }
    [[nodiscard]] Share<int> rows() const { return rows_of(world_.rank); }
    /// From an item's row to the next item's same row, after the transpose.
    [[nodiscard]] std::ptrdiff_t item_doubles() const { return piece_doubles(world_.rank); }

    /// Where all rows of this rank's item number `item` are to be written: the first parts of all rows, then
    /// the second parts, and so on.
    void pack_into(int item, std::span<double*> rows) const;
    /// Where the first of this rank's rows of all items is afterwards, in the same order; the others follow,
    /// one row apart.
    void unpack_from(std::span<double*> items) const;

    /// Nothing of an earlier transpose is needed any more. Each item is written in so many parts.
    void begin(int parts_of_item);
    /// One more part of an item is written. Any thread may say so; what else is here is for the one thread
    /// that calls MPI.
    void finished(int item);
    /// Sends the items that are finished, up to the first that is not.
    void send_finished();
    /// Waits until all rows of all items are here. All parts of this rank's items are finished.
    void complete();

  private:
    struct Peer {
        int rank = 0;
        double* outgoing = nullptr;
    };

    [[nodiscard]] Share<int> rows_of(int rank) const { return share_of(table_.rows, world_.ranks, rank); }
    [[nodiscard]] std::ptrdiff_t piece_doubles(int rank) const;
    [[nodiscard]] std::ptrdiff_t doubles_for(const Peer& peer) const {
        return items().count * piece_doubles(peer.rank);
    }
    [[nodiscard]] int items_per_message(int receiver) const;
    void receive_from(int sender);
    void send(int item);
    void complete_at_once();
    void send_to(const Peer& peer, int item);
    [[nodiscard]] MPI_Request& request();

    World world_;
    TransposeShape table_;
    bool is_at_once_;
    std::vector<Peer> peers_;
    double* arriving_ = nullptr;
    std::vector<MPI_Request> requests_;
    std::size_t requested_ = 0;
    /// Of each item, the parts that are not yet written.
    std::vector<std::atomic<int>> parts_left_;
    /// Items before this one were sent.
    int next_sent_ = 0;
};

}  // namespace tare::npb::ft
