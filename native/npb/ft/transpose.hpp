// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <span>
#include <vector>

#include "npb/common/arguments.hpp"
#include "npb/common/share.hpp"
#include "npb/common/world.hpp"

namespace tare::npb::ft {

/// Points of the periodic box along each of its edges.
struct Edges {
    int x = 0;
    int y = 0;
    int z = 0;

    [[nodiscard]] double points() const {
        return static_cast<double>(x) * static_cast<double>(y) * static_cast<double>(z);
    }
};

/// The part of `total` things (see `share_of`) that has `thing`.
[[nodiscard]] int owner_of(int total, int parts, int thing);

/// The most that any part has.
[[nodiscard]] int largest_share(int total, int parts);

/// How the box is cut: each rank has whole pencils along x, then along y, then along z. `outer` ranks
/// transpose between y and z; where there are too many ranks for such slabs, `inner` ranks share each slab,
/// and transpose between x and y.
///   along x:  all blocks,   y cut inner, z cut outer
///   along y:  blocks inner, all y,       z cut outer
///   along z:  blocks inner, y cut outer, all z
/// With the reference's messages each rank has a slab of its own, and all ranks transpose between y and z:
///   along x and y:  all blocks, all y, z cut inner * outer
///   along z:        blocks inner, y cut outer, all z
/// Transforms along y have two factors (see `y_radix`), the second one along with z, so that the eight rows
/// of a butterfly are never parted.
struct Cut {
    int inner = 1;
    int outer = 1;
    /// The ranks that share a slab: `inner`, or 1.
    int sharing = 1;

    [[nodiscard]] int ranks() const { return inner * outer; }
    /// Into how many parts along x each rank divides its planes when they change hands.
    [[nodiscard]] int parts() const { return inner / sharing; }
};

/// Slabs as long as there are planes enough. Throws `WrongUse` where the box has no such cut.
[[nodiscard]] Cut cut_for(const Edges& edges, int ranks);
/// The cut for the reference's messages. Throws `WrongUse` unless the ranks are a power of two, and no more
/// than planes or pieces of 8 rows and 8 points in x.
[[nodiscard]] Cut reference_cut_for(const Edges& edges, int ranks);

/// This rank's place in the cut: ranks of a plane are neighbours.
struct Decomposition {
    Edges edges;
    Cut cut;
    int rank = 0;

    [[nodiscard]] static Decomposition of(const Edges& edges, const World& world,
                                          Messages messages = Messages::own);

    [[nodiscard]] int all_blocks() const;
    [[nodiscard]] int all_butterflies() const;
    /// Of the ranks that share a slab, this one; and of all slabs, this rank's.
    [[nodiscard]] int rank_in_plane() const { return rank % cut.sharing; }
    [[nodiscard]] int slab() const { return rank / cut.sharing; }
    /// Blocks of x where lines run along y.
    [[nodiscard]] Share<int> tile_blocks() const {
        return share_of(all_blocks(), cut.sharing, rank_in_plane());
    }
    /// Blocks of x where lines run along z.
    [[nodiscard]] Share<int> blocks() const { return share_of(all_blocks(), cut.inner, rank % cut.inner); }
    /// Rows of each xy tile where lines run along x: row m of tile j is y = 8 m + j.
    [[nodiscard]] Share<int> tile_rows() const {
        return share_of(all_butterflies(), cut.sharing, rank_in_plane());
    }
    /// Butterflies where lines run along z: row j of butterfly m has the wave number ny / 8 * j + m.
    [[nodiscard]] Share<int> butterflies() const {
        return share_of(all_butterflies(), cut.outer, rank / cut.inner);
    }
    /// Planes where lines run along x and y.
    [[nodiscard]] Share<int> planes() const { return share_of(edges.z, cut.ranks() / cut.sharing, slab()); }
};

/// What a transpose moves, a table of rows: before, each rank has some items (planes, say) with all of their
/// rows; after, it has some rows of all items. Either may be cut into parts, which lie side by side in x.
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
    Transpose(const World& world, const TransposeShape& shape, Messages messages);

    /// Memory for what goes to other ranks, and for all that is here afterwards.
    [[nodiscard]] std::ptrdiff_t outgoing_doubles() const;
    [[nodiscard]] std::ptrdiff_t arriving_doubles() const { return shape_.items * item_doubles(); }
    void use(double* outgoing, double* arriving);

    [[nodiscard]] Share<int> items() const { return share_of(shape_.items, world_.ranks, world_.rank); }
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

    [[nodiscard]] Share<int> rows_of(int rank) const { return share_of(shape_.rows, world_.ranks, rank); }
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
    TransposeShape shape_;
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
