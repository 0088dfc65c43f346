// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <array>

#include "npb/common/team.hpp"
#include "npb/common/world.hpp"
#include "npb/mg/field.hpp"

namespace tare::npb::mg {

/// Fills a field's copies of its neighbours' planes, all ranks at once; the grid is periodic. The field must
/// stay as it is between `start` and `finish`, which may lie far apart.
class Borders {
  public:
    /// A rank that is its own neighbour sends no message: its threads copy. Every rank has at least as many
    /// planes as the field's depth, but for that one.
    Borders(const World& world, Field& field, Team& team);

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

}  // namespace tare::npb::mg
