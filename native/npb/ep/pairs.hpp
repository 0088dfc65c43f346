// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "npb/common/simd.hpp"

namespace tare::npb::ep {

/// Square annuli around the origin, each one unit wide, that deviates are counted in.
constexpr int annuli = 10;
/// Pairs of one batch; every batch begins at a known place of the random sequence.
constexpr int batch_exponent = 16;

/// What some batches add up to.
struct Tally {
    double x = 0;
    double y = 0;
    /// Deviates at or beyond the annulus: at_least[0] counts all that were accepted.
    std::int64_t at_least[annuli] = {};  // NOLINT(*-avoid-c-arrays): hot sources hold no containers
};

struct Functions {
    /// Adds the batches from `first` on, `count` of them, to `tally`.
    void (*add_batches)(std::int64_t first, std::int64_t count, Tally& tally);
};

TARE_NPB_VARIANTS(Functions)

}  // namespace tare::npb::ep
