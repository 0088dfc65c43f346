// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "npb/flow/field.hpp"
#include "npb/flow/process_grid.hpp"

namespace tare::npb::flow {

/// Fetches the ghosts of `field` from the neighbours' blocks, in y and z (no corners: the stencils are
/// stars). Called in all ranks of the grid.
void exchange_borders(Field& field, const ProcessGrid& grid);

}  // namespace tare::npb::flow
