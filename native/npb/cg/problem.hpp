// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "npb/common/program.hpp"

namespace tare::npb::cg {

/// CG, "conjugate gradient": an eigenvalue of a sparse matrix of random places; memory is read in no order,
/// and every rank's numbers go to many others.
extern const Kernel kernel;

}  // namespace tare::npb::cg
