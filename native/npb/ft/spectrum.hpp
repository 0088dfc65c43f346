// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <optional>
#include <vector>

#include "npb/common/buffer.hpp"
#include "npb/ft/decomposition.hpp"
#include "npb/ft/evolution.hpp"
#include "npb/ft/layout.hpp"
#include "npb/ft/plan.hpp"

namespace tare::npb::ft {

/// The coefficients of a field: this rank's bundles, each with groups of blocks, each with its rows, each
/// with all z. What goes together through a transform is one piece of memory.
class Spectrum {
  public:
    Spectrum(const Decomposition& decomposition, Simd simd, bool is_streamed);

    void make_tables();
    /// This rank's bundle number `bundle` from a place for each z, where its rows are `row_doubles` apart.
    void transform_forward(int bundle, double* const* from, std::ptrdiff_t row_doubles);
    /// Evolves a bundle and transforms it; the coefficients stay.
    void transform_inverse(int bundle, const Evolution& evolution, double* const* to,
                           std::ptrdiff_t row_doubles);

    /// Whether this rank has the coefficients of wave numbers x and y.
    [[nodiscard]] bool has(int x, int y) const;
    [[nodiscard]] std::complex<double> at(int x, int y, int z) const;

  private:
    [[nodiscard]] std::ptrdiff_t plane_doubles() const { return group_blocks_ * block_doubles; }
    [[nodiscard]] std::ptrdiff_t row_doubles() const { return decomposition_.edges.z * plane_doubles(); }
    [[nodiscard]] std::ptrdiff_t group_doubles() const { return bundle_rows * row_doubles(); }
    [[nodiscard]] Side side(int bundle);
    [[nodiscard]] Bundle bundle_of(int bundle);

    Decomposition decomposition_;
    Functions functions_;
    bool is_streamed_;
    std::ptrdiff_t group_blocks_;
    std::ptrdiff_t groups_;
    Buffer<double> memory_;
    Buffer<double> work_;
    std::vector<double*> planes_;
    std::vector<double> row_twiddle_;
    std::optional<LinePlan> plan_;
};

}  // namespace tare::npb::ft
