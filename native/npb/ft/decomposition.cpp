// SPDX-License-Identifier: Apache-2.0
#include "npb/ft/decomposition.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>

#include "npb/ft/layout.hpp"

namespace tare::npb::ft {

int owner_of(int total, int parts, int thing) {
    return static_cast<int>((std::int64_t{parts} * (thing + 1) - 1) / total);
}

int largest_share(int total, int parts) { return (total + parts - 1) / parts; }

Cut cut_for(const Edges& edges, int ranks) {
    const int butterflies = edges.y / int{y_radix};
    const int most_outer = std::min(butterflies, edges.z);
    const int most_inner = std::min(butterflies, edges.x / int{block_points});
    for (int inner = 1; inner <= std::min(ranks, most_inner); ++inner) {
        if (ranks % inner == 0 && ranks / inner <= most_outer) {
            return {.inner = inner, .outer = ranks / inner, .sharing = inner};
        }
    }
    throw WrongUse("this box cannot be cut into " + std::to_string(ranks) +
                   " parts: the number of ranks is at most " + std::to_string(most_outer) +
                   ", or such a number times 2 to " + std::to_string(most_inner));
}

Cut reference_cut_for(const Edges& edges, int ranks) {
    const int butterflies = edges.y / int{y_radix};
    const int most = std::min(edges.z, butterflies * (edges.x / int{block_points}));
    if (ranks > most || !std::has_single_bit(static_cast<unsigned>(ranks))) {
        throw WrongUse("with the reference's messages the number of ranks is a power of two up to " +
                       std::to_string(most));
    }
    const int outer = std::min(ranks, butterflies);
    return {.inner = ranks / outer, .outer = outer, .sharing = 1};
}

Decomposition Decomposition::of(const Edges& edges, const World& world, Messages messages) {
    const bool is_own = messages == Messages::own;
    return {.edges = edges,
            .cut = is_own ? cut_for(edges, world.ranks) : reference_cut_for(edges, world.ranks),
            .rank = world.rank};
}

int Decomposition::all_blocks() const { return edges.x / int{block_points}; }

int Decomposition::all_butterflies() const { return edges.y / int{y_radix}; }

}  // namespace tare::npb::ft
