// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include "npb/common/buffer.hpp"
#include "npb/common/world.hpp"
#include "npb/mg/block.hpp"
#include "npb/mg/block_field.hpp"

namespace tare::npb::mg {

/// Fills ghosts by messages: one face in each direction of each axis, axis after axis, so that the later
/// faces carry the earlier axes' ghosts to edges and corners. With more than one rank also an axis that is
/// not cut sends: to itself.
class Ghosts {
  public:
    /// For blocks of up to the finest grid's.
    Ghosts(const World& active, const Cut& cut, const Block& finest);

    /// All ranks that have points of the field's grid, together.
    void exchange(BlockField& field);
    /// After a prolongation, which only ranks with points of the coarser grid can do: they give the others,
    /// axis after axis, what these have of the finer grid. `coarser` is this rank's block there. All ranks
    /// with points of the field's grid, together.
    void complete(BlockField& field, const Block& coarser);

  private:
    void exchange_axis(BlockField& field, Axis axis);
    void copy_axis(BlockField& field, Axis axis);
    void give(BlockField& field, Axis axis, int distance);
    void take(BlockField& field, Axis axis, int distance);
    void send(int size, int rank, int tag) const;

    World world_;
    Cut cut_;
    Buffer<double> sent_;
    Buffer<double> from_before_;
    Buffer<double> from_after_;
};

}  // namespace tare::npb::mg
