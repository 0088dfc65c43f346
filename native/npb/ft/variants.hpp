// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "npb/ft/hot.hpp"

// What each variant's sources define for `functions()`.
namespace tare::npb::ft::TARE_NPB_SIMD {

void transform_columns(const Columns& columns);
void transform_rows(const Rows& rows);
void transform_yz_tile(const YzTile& tile);
void transform_yz_tile_inverse(const YzTile& tile, const Factors& factors);
void fill(std::uint64_t state, std::ptrdiff_t points, double* to);

}  // namespace tare::npb::ft::TARE_NPB_SIMD
