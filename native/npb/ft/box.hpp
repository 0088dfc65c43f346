// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "npb/common/buffer.hpp"
#include "npb/common/team.hpp"
#include "npb/common/world.hpp"
#include "npb/ft/combs.hpp"
#include "npb/ft/decomposition.hpp"
#include "npb/ft/exchange.hpp"
#include "npb/ft/parts.hpp"
#include "npb/ft/spectrum.hpp"

namespace tare::npb::ft {

/// Writes a whole row of the field as blocks; threads call it at the same time, each for other rows.
using FieldSource = std::function<void(int z, int y, double* to)>;

/// A periodic box of complex numbers, cut among the ranks: its spectrum, and the field that this becomes.
///
/// A transform of three dimensions goes twice over the memory: along x and within the combs of y, and over
/// the bundles of y and along z, both in pieces that fit the second cache. In between the data change hands,
/// if there are several ranks. The pieces are dealt out to the threads in turn, so that they are finished
/// about in the order in which they are sent, by thread 0.
class Box {
  public:
    Box(const Decomposition& decomposition, const World& world, Messages messages, Simd simd, Team& team,
        PartTimes& times);

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
    /// This rank's combs, of all its planes.
    [[nodiscard]] int combs() const { return decomposition_.planes().count * int{bundle_rows}; }
    /// Both steps of each comb that is this thread's turn.
    template <typename Begin, typename End>
    void for_each_comb(int thread, const Begin& begin, const End& end);
    /// What each thread does of a transform.
    void forward_combs(int thread, const FieldSource& source);
    void forward_bundles(int thread);
    void inverse_bundles(int thread, const Evolution& evolution);
    void inverse_combs(int thread);
    void begin_forward(int thread, int comb, const FieldSource& source);
    void end_forward(int thread, int comb);
    void begin_inverse(int thread, int comb);
    void end_inverse(int thread, int comb);
    /// Of the blocks in a comb, those of a part (see `Cut::parts`).
    [[nodiscard]] Share<int> blocks_of(int part) const {
        return share_of(decomposition_.comb_blocks().count, decomposition_.cut.parts(), part);
    }
    /// The thread's memory for the places of an item.
    [[nodiscard]] std::span<double*> targets_of(int thread);
    /// A part of the item is written.
    static void finished(Exchange& exchange, int thread, int item);
    /// A comb of the field from the start of its memory on, and from one row of it to the next.
    [[nodiscard]] std::ptrdiff_t field_comb(std::ptrdiff_t comb) const;
    [[nodiscard]] std::ptrdiff_t field_row_doubles() const;

    Decomposition decomposition_;
    Communicator communicator_;
    World ranks_;
    Team* team_;
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
    /// Of each part of each bundle, this rank's first plane; and of each plane, this rank's first bundle.
    std::vector<double*> arrived_bundles_;
    std::vector<double*> arrived_planes_;
    /// One for each thread.
    std::vector<Buffer<double*>> targets_;
};

}  // namespace tare::npb::ft
