// SPDX-License-Identifier: Apache-2.0
// The exchange of halos: each rank gets copies of its neighbours' points, all ranks together.
#pragma once

#include <mpi.h>

#include <array>

#include "npb/common/buffer.hpp"
#include "npb/common/team.hpp"
#include "npb/common/world.hpp"
#include "npb/mg/field.hpp"
#include "npb/mg/layout.hpp"

namespace tare::npb::mg {

/// Of a field cut in planes. The field must stay as it is between `start` and `finish`, which may lie far
/// apart.
class PlaneHalo {
  public:
    /// A rank that is its own neighbour sends no message: its threads copy. Every rank has at least as many
    /// planes as the halo, but for that one.
    PlaneHalo(const World& world, Field& field, Team& team);

    void start();
    void finish();
    void exchange() {
        start();
        finish();
    }

  private:
    void copy();
    void send();

    World world_;
    Field* field_;
    Team* team_;
    std::array<MPI_Request, 4> requests_{MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL,
                                         MPI_REQUEST_NULL};
};

/// Of blocks with a halo of one point: one face in each direction of each axis, axis after axis, so that the
/// later faces carry the earlier axes' halo to edges and corners. With more than one rank also an axis that
/// is not cut sends: to itself.
class BlockHalo {
  public:
    /// For blocks of up to the finest grid's.
    BlockHalo(const World& active, const BlockCut& cut, const Block& finest);

    /// All ranks that have points of the field's grid, together.
    void exchange(Field& field);
    /// After a prolongation, which only ranks with points of the coarser grid can do: they give the others,
    /// axis after axis, what these have of the finer grid. `coarser` is this rank's block there. All ranks
    /// with points of the field's grid, together.
    void complete(Field& field, const Block& coarser);

  private:
    void exchange_axis(Field& field, Axis axis);
    void copy_axis(Field& field, Axis axis);
    void give(Field& field, Axis axis, int distance);
    void take(Field& field, Axis axis, int distance);
    void send(int size, int rank, int tag) const;

    World world_;
    BlockCut cut_;
    Buffer<double> sent_;
    Buffer<double> from_before_;
    Buffer<double> from_after_;
};

}  // namespace tare::npb::mg
