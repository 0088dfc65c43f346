// SPDX-License-Identifier: Apache-2.0
#pragma once

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

}  // namespace tare::npb::ft
