// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "npb/common/buffer.hpp"
#include "npb/common/world.hpp"
#include "npb/ft/combs.hpp"
#include "npb/ft/decomposition.hpp"
#include "npb/ft/exchange.hpp"
#include "npb/ft/parts.hpp"
#include "npb/ft/spectrum.hpp"

namespace tare::npb::ft {

/// Writes a whole row of the field as blocks.
using FieldSource = std::function<void(int z, int y, double* to)>;

/// A periodic box of complex numbers, cut among the ranks: its spectrum, and the field that this becomes.
///
/// A transform of three dimensions goes twice over the memory: along x and within the combs of y, and over
/// the bundles of y and along z, both in pieces that fit the second cache. In between the data change hands,
/// if there are several ranks.
class Box {
  public:
    Box(const Decomposition& decomposition, const World& world, Simd simd, PartTimes& times);

    void make_tables();
    /// Makes the spectrum of a field.
    void transform_forward(const FieldSource& source);
    /// Makes the field of the evolved spectrum; the spectrum stays. Points are not divided by their number.
    void transform_inverse(const Evolution& evolution);

    [[nodiscard]] const Spectrum& spectrum() const { return spectrum_; }
    /// Whether this rank has the field's row y of plane z.
    [[nodiscard]] bool has_row(int y, int z) const;
    /// The place of a point's real part; its imaginary part is `block_points` further.
    [[nodiscard]] const double* point(int x, int y, int z) const;

  private:
    void allocate();
    void forward_plane(int plane, const FieldSource& source);
    void inverse_plane(int plane);
    /// A comb of the field from the start of its memory on, and from one row of it to the next.
    [[nodiscard]] std::ptrdiff_t field_comb(int plane, int comb) const;
    [[nodiscard]] std::ptrdiff_t field_row_doubles() const;

    Decomposition decomposition_;
    Communicator communicator_;
    World ranks_;
    PartTimes* times_;
    /// This rank's blocks of a row.
    std::ptrdiff_t row_doubles_;
    CombTransform combs_;
    Spectrum spectrum_;
    Exchange to_bundles_;
    Exchange to_combs_;
    Buffer<double> outgoing_;
    Buffer<double> arriving_;
    std::vector<double*> field_blocks_;
    std::vector<double*> bundle_places_;
    std::vector<double*> plane_places_;
};

}  // namespace tare::npb::ft
