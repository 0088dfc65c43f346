// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <span>

#include "npb/flow/field.hpp"

namespace tare::npb::flow {

/// Per component the root of the sum of squares over all ranks' points inside the boundary, divided by how
/// many these are. The same in all ranks, of which each has one field or several.
[[nodiscard]] Point residual_norms(std::span<const Field> residual, MPI_Comm communicator);
[[nodiscard]] inline Point residual_norms(const Field& residual, MPI_Comm communicator) {
    return residual_norms({&residual, 1}, communicator);
}

/// The same of the difference from the exact solution.
[[nodiscard]] Point error_norms(std::span<const Field> fields, MPI_Comm communicator);
[[nodiscard]] inline Point error_norms(const Field& field, MPI_Comm communicator) {
    return error_norms({&field, 1}, communicator);
}

}  // namespace tare::npb::flow
