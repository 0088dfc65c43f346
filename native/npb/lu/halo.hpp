// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "npb/common/share.hpp"
#include "npb/common/team.hpp"
#include "npb/lu/layout.hpp"

namespace tare::npb::lu {

/// Keeps the two layers around a block's points.
///
/// Between blocks they are the neighbour's points. At the boundary the first layer is given and never
/// changes; the second one lies outside of the cube, and makes the one-sided fourth differences there
/// (RNR-94-007 section 3.3.2) equal to the ordinary one: with u(-2) = -u(0), where 0 is the first point
/// inside, the ordinary one at 0 has 5 u(0) - 4 u(1) + u(2) beside a multiple of the given u(-1), and at 1
/// likewise. What u(-1) adds is the same for the exact solution, so that it cancels against the forcing.
class Halo {
  public:
    Halo(const Block& block, const Layout& layout);

    /// The second layer at the cube's boundary, of one plane's edges, as far as a pencil reaches them.
    void reflect(Field& field, int z, const Mesh& pencil) const;
    /// Everything else: planes beyond the first and the last, and the neighbours' points. All ranks call it.
    void exchange(Field& field, Team& team);

  private:
    /// An edge of the planes: offsets in a quantity's plane, of two rows of points.
    struct Side {
        int neighbour = MPI_PROC_NULL;
        /// Of the first of the block's own points.
        int first_diagonal = 0;
        /// The block's own points, nearest first, and the layers beyond in the same order.
        std::vector<std::size_t> inner{};
        std::vector<std::size_t> outer{};
        /// [plane][quantity][point], of `planes_`; empty where there is no neighbour.
        std::vector<double> to_send{};
        std::vector<double> received{};
    };

    [[nodiscard]] std::span<double> values(Field& field, int z, int quantity) const;
    void reflect_ends(Field& field, int quantity) const;
    void receive();
    void pack(Field& field, const Share<int>& planes);
    void send();
    void unpack(Field& field, const Share<int>& planes);
    /// Calls `copy(number in the field, number in the message)` for each number that a message has of some
    /// planes.
    template <typename Copy>
    void for_numbers(Field& field, std::span<const std::size_t> offsets, std::span<double> message,
                     const Share<int>& planes, const Copy& copy) const;

    Block block_;
    std::size_t pitch_;
    /// Those that messages carry.
    Share<int> planes_;
    /// x before and after, y before and after.
    std::array<Side, 4> sides_;
    std::vector<MPI_Request> requests_;
};

}  // namespace tare::npb::lu
