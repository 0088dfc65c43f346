// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "npb/flow/field.hpp"
#include "npb/flow/process_grid.hpp"

namespace tare::npb::flow {

/// The longest edge of a cube for which the strides between planes of five components, in doubles, fit into
/// an MPI datatype, which counts them in 32 bits.
constexpr int most_edge = 20'000;

/// Fetches the ghosts of `field` from the neighbours' blocks, in y and z (no corners: the stencils are
/// stars). Called in all ranks of the grid.
void exchange_borders(Field& field, const ProcessGrid& grid);

}  // namespace tare::npb::flow
