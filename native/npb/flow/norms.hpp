// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include "npb/flow/field.hpp"

namespace tare::npb::flow {

/// Per component the root of the sum of squares over all ranks' points inside the boundary, divided by how
/// many these are. The same in all ranks.
[[nodiscard]] Point residual_norms(const Field& residual, MPI_Comm communicator);

/// The same of the difference from the exact solution.
[[nodiscard]] Point error_norms(const Field& field, MPI_Comm communicator);

}  // namespace tare::npb::flow
