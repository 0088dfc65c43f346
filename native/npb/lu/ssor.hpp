// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "npb/common/buffer.hpp"
#include "npb/common/simd.hpp"
#include "npb/common/team.hpp"
#include "npb/common/timing.hpp"
#include "npb/lu/halo.hpp"
#include "npb/lu/layout.hpp"
#include "npb/lu/residual.hpp"
#include "npb/lu/sweep.hpp"
#include "npb/lu/wavefront.hpp"

namespace tare::npb::lu {

enum class Work { residual, lower, upper, exchange, wait };
constexpr std::size_t kinds_of_work = 5;

using Times = Phases<Work, kinds_of_work>;

/// What one thread works on, some diagonals of all planes, and its own scratch for that.
///
/// It derives what its residual needs also of a diagonal before and one after its own, as the threads there
/// do: so the residual waits for no other thread.
class Pencil {
  public:
    Pencil(const Mesh& mesh, const residual::Functions& functions);

    [[nodiscard]] const Mesh& mesh() const { return mesh_; }

    /// Before the first of planes upwards.
    void begin(const Field& field);
    /// The residual of plane z, after the planes below.
    void residual(const Field& field, int z, const ResidualFactors& factors, GroupField& forcing,
                  GroupField& result);

    [[nodiscard]] sweep::Waves waves(const sweep::Wave* received, sweep::Wave* to_send) {
        return {.own = own_waves_.data(), .received = received, .to_send = to_send};
    }
    /// Nothing is passed on to a sweep's first plane.
    void clear(std::span<double> passed) const;

  private:
    [[nodiscard]] std::size_t plane_numbers() const {
        return static_cast<std::size_t>(mesh_.pitch) * quantities;
    }
    /// Derived quantities of plane z, until plane z + 3's take their room.
    [[nodiscard]] double* derived(int z);
    void derive(const Field& field, int z) { functions_.derive(mesh_, field.plane(z), derived(z)); }

    Mesh mesh_;
    residual::Functions functions_;
    /// Laid out like whole planes, of which only the pencil's part is ever touched.
    Buffer<double> derived_;
    Buffer<sweep::Wave> own_waves_;
};

/// Symmetric successive over-relaxation (RNR-94-007 section 4.3): each step solves, in two sweeps through the
/// grid, (D + L) D^-1 (D + U) change = time_step * residual, where D, L and U hold the Jacobians of the
/// residual at each point and at its neighbours behind and ahead.
///
/// A step walks twice through memory: upwards, where each plane's residual is followed at once by its lower
/// sweep, and downwards, where each plane's upper sweep at once changes the field.
///
/// Each thread has a pencil of diagonals in all planes, and follows its neighbour plane by plane: an upper
/// sweep changes a plane only when all threads have done all residuals, because it begins where the lower one
/// ends. Thread 0 alone talks to other ranks: whenever it waits, and after each plane. A rank of one thread
/// waits in MPI, so that the wait is seen as what it is.
class Ssor {
  public:
    /// With fewer threads where a plane has fewer diagonals.
    Ssor(const Block& block, double time_step, Simd simd, int threads = 1);

    /// Makes the exact solution steady, and leaves it in the field. There is no forcing before.
    void set_forcing();
    void set_field(Point (*value)(double x, double y, double z));
    void step() {
        sweep();
        exchange();
    }
    // The two parts of a step:
    void sweep();
    void exchange();

    /// The last sweeps' intermediate solution, v of (D + L) v = time_step * residual.
    [[nodiscard]] GroupField& lower_solution() { return change_; }
    /// The field's residual, until the next step.
    [[nodiscard]] GroupField& residual();

    /// For other work of the same threads.
    [[nodiscard]] Team& team() { return team_; }

    [[nodiscard]] const Layout& layout() const { return layout_; }
    [[nodiscard]] const Field& field() const { return field_; }
    [[nodiscard]] Times& times() { return times_; }

  private:
    [[nodiscard]] bool is_alone() const { return team_.threads() == 1; }
    [[nodiscard]] Pencil& pencil(int thread) { return pencils_[static_cast<std::size_t>(thread)]; }
    /// The phases are thread 0's.
    template <typename Function>
    void time(int thread, Work work, const Function& function);
    /// `scale` times the residual of all planes.
    void all_residuals(double scale, GroupField& result);
    void go_up(int thread);
    void go_down(int thread);
    [[nodiscard]] sweep::Waves waves(Wavefront& wavefront, int thread, int stage);
    /// Waits until the thread can do a plane of a sweep, and takes what other ranks have passed on to it.
    void wait_for(Wavefront& wavefront, int thread, int stage);
    /// Tells the others that the thread has done a plane of a sweep.
    void pass_on(Wavefront& wavefront, int thread, int stage);
    /// What thread 0 does whenever it may: on its way down there may be something left of the way up.
    void progress(Wavefront& wavefront);

    Block block_;
    Layout layout_;
    sweep::Functions sweep_;
    double time_step_;
    SweepFactors factors_;
    Field field_;
    GroupField forcing_;
    /// The residual, then the solution of the lower sweep.
    GroupField change_;
    GroupField passed_;
    std::vector<Pencil> pencils_;
    Halo halo_;
    Wavefront up_;
    Wavefront down_;
    Times times_;
    Team team_;
};

}  // namespace tare::npb::lu
