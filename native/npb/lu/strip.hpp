// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "npb/common/buffer.hpp"
#include "npb/lu/field.hpp"
#include "npb/lu/layout.hpp"
#include "npb/lu/residual.hpp"
#include "npb/lu/sweep.hpp"

namespace tare::npb::lu {

/// What one thread works on, some diagonals of all planes, and its own scratch for that.
///
/// It derives what its residual needs also of a diagonal before and one after its own, as the threads there
/// do: so the residual waits for no other thread.
class Strip {
  public:
    Strip(const Mesh& mesh, const residual::Functions& functions);

    [[nodiscard]] const Mesh& mesh() const { return mesh_; }

    /// Before the first of planes upwards.
    void begin(const Field& field);
    /// The residual of plane z, after those of the planes below.
    void residual(const Field& field, int z, const ResidualFactors& factors, GroupField& forcing,
                  GroupField& result);

    [[nodiscard]] sweep::Waves waves(const sweep::Wave* received, sweep::Wave* to_hand_on) {
        return {.own = own_waves_.data(), .received = received, .to_hand_on = to_hand_on};
    }
    /// Nothing is passed on to a sweep's first plane.
    void clear(std::span<double> passed) const;

  private:
    [[nodiscard]] std::size_t plane_numbers() const {
        return static_cast<std::size_t>(mesh_.pitch) * quantities;
    }
    /// Derived quantities of plane z, until those of z + 3 take their room.
    [[nodiscard]] double* derived(int z);
    void derive(const Field& field, int z) { functions_.derive(mesh_, field.plane(z), derived(z)); }

    Mesh mesh_;
    residual::Functions functions_;
    /// Laid out like whole planes, of which only the strip's part is ever touched.
    Buffer<double> derived_;
    Buffer<sweep::Wave> own_waves_;
};

}  // namespace tare::npb::lu
