// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "npb/mg/rows.hpp"

// Rows between the grids, see `Functions`.
namespace tare::npb::mg::TARE_NPB_SIMD {

void prolong(const double* const (&coarse)[4], int coarse_length, double* fine, int length);
void add_prolonged(const double* const (&coarse)[4], int coarse_length, double* fine, int length);
void restrict_to(double* coarse, int coarse_length, const NineRows& fine, int length);

}  // namespace tare::npb::mg::TARE_NPB_SIMD
