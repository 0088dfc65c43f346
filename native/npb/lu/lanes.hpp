// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "npb/flow/lanes.hpp"
#include "npb/lu/layout.hpp"

// For hot sources only, see flow/lanes.hpp.
namespace tare::npb::lu::TARE_NPB_SIMD {

using flow::TARE_NPB_SIMD::lanes;
using flow::TARE_NPB_SIMD::load;
using flow::TARE_NPB_SIMD::load_unaligned;
using flow::TARE_NPB_SIMD::store;
using flow::TARE_NPB_SIMD::Vector;

/// `value` in the first `count` lanes, `other` in the rest.
[[nodiscard, gnu::always_inline]] inline Vector first_lanes(int count, const Vector& value,
                                                            const Vector& other) {
    Vector number{};
    for (int lane = 0; lane < lanes; ++lane) {
        number[lane] = lane;
    }
    return number < static_cast<double>(count) ? value : other;
}

/// Where a diagonal's point begins in its groups.
[[nodiscard, gnu::always_inline]] constexpr std::ptrdiff_t group_place(std::ptrdiff_t along) {
    return along / group * group * quantities + along % group;
}

}  // namespace tare::npb::lu::TARE_NPB_SIMD
