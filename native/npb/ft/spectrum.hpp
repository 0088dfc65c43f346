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
/// with all z. What goes together through a transform is one piece of memory, a group; threads take turns
/// with them.
class Spectrum {
  public:
    Spectrum(const Decomposition& decomposition, Simd simd, bool is_streamed, int threads);

    void make_tables();
    /// This rank's groups, of all its bundles.
    [[nodiscard]] int groups() const { return decomposition_.bundles().count * groups_of_bundle_; }
    [[nodiscard]] int groups_of_bundle() const { return groups_of_bundle_; }
    [[nodiscard]] int bundle_of(int group) const { return group / groups_of_bundle_; }

    /// A group, from the places for each z of this rank's first bundle; rows are `row_doubles` apart, and
    /// bundles follow each other.
    void transform_forward(int thread, int group, double* const* from, std::ptrdiff_t row_doubles);
    /// Evolves a group and transforms it, to the places for each z of its bundle; the coefficients stay.
    void transform_inverse(int thread, int group, const Evolution& evolution, double* const* to,
                           std::ptrdiff_t row_doubles);

    /// Whether this rank has the coefficients of wave numbers x and y.
    [[nodiscard]] bool has(int x, int y) const;
    [[nodiscard]] std::complex<double> at(int x, int y, int z) const;

  private:
    [[nodiscard]] int threads() const { return static_cast<int>(work_.size()); }
    [[nodiscard]] std::ptrdiff_t plane_doubles() const { return group_blocks_ * block_doubles; }
    [[nodiscard]] std::ptrdiff_t row_doubles() const { return decomposition_.edges.z * plane_doubles(); }
    [[nodiscard]] std::ptrdiff_t group_doubles() const { return bundle_rows * row_doubles(); }
    [[nodiscard]] Side side(int group);
    /// Blocks of x to the left of a group's.
    [[nodiscard]] int first_block(int group) const { return group % groups_of_bundle_ * group_blocks_; }
    [[nodiscard]] int blocks_of(int group) const;
    [[nodiscard]] Bundle work_on(int thread, int group);
    /// What the thread reads next, where `next` lies `follower_doubles` further than the group in hand.
    [[nodiscard]] Ahead ahead_of(const Bundle& bundle, int next, std::ptrdiff_t follower_doubles) const;

    Decomposition decomposition_;
    Functions functions_;
    bool is_streamed_;
    int group_blocks_;
    int groups_of_bundle_;
    Buffer<double> memory_;
    /// One for each thread.
    std::vector<Buffer<double>> work_;
    std::vector<double*> planes_;
    std::vector<double> row_twiddle_;
    std::optional<LinePlan> plan_;
};

}  // namespace tare::npb::ft
