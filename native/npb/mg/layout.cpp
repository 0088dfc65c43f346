// SPDX-License-Identifier: Apache-2.0
#include "npb/mg/layout.hpp"

#include <algorithm>
#include <bit>

namespace tare::npb::mg {

namespace {

/// The halo of the finest grid reaches into one neighbour, not beyond: see `solution_halo`.
constexpr int least_finest_planes = 4;
/// A grid of this edge is whole in every rank.
constexpr int always_whole_edge = 8;
/// Ranks may differ by one plane of the finest whole grid: not by more than an eighth.
constexpr int even_enough = 8;

bool is_even(int planes, int ranks) {
    return planes >= 2 * ranks && (planes % ranks == 0 || planes >= even_enough * ranks);
}

int whole_edge_of(int finest_edge, int ranks) {
    int edge = always_whole_edge;
    while (2 * edge < finest_edge && !is_even(edge, ranks)) {
        edge *= 2;
    }
    return edge;
}

/// How often the ranks are halved before each is alone.
int halvings_of(int ranks) { return static_cast<int>(std::bit_width(static_cast<unsigned>(ranks))) - 1; }

/// Of `total` halvings those along an axis: z is first to be cut, x last.
int halvings_along(Axis axis, int total) {
    const auto number = static_cast<int>(axis);
    return (total + number) / static_cast<int>(axes.size());
}

Span span_of(int edge, int ranks, int place) {
    const auto first_of = [&](int index) { return (index * edge + ranks - 1) / ranks; };
    const int first = first_of(place);
    return {.points = {.first = first, .count = first_of(place + 1) - first},
            .stride = std::max(1, ranks / edge)};
}

}  // namespace

bool Block::is_empty() const {
    return std::ranges::any_of(axes, [&](Axis axis) { return count(axis) == 0; });
}

PlaneCut::PlaneCut(int finest_edge, const World& world)
    : finest_edge_{finest_edge},
      rank_{world.rank},
      active_ranks_{std::min(world.ranks, finest_edge / least_finest_planes)},
      whole_edge_{whole_edge_of(finest_edge, active_ranks_)} {}

Share<int> PlaneCut::planes(int edge, int rank) const {
    const int planes_of_one = edge / whole_edge_;
    const Share<int> of_whole_grid = share_of(whole_edge_, active_ranks_, rank);
    return {.first = of_whole_grid.first * planes_of_one, .count = of_whole_grid.count * planes_of_one};
}

Block PlaneCut::block(int edge) const {
    const Span all{.points = {.first = 0, .count = edge}};
    return {.edge = edge, .spans = {all, all, is_whole(edge) ? all : Span{.points = planes(edge, rank_)}}};
}

Share<int> PlaneCut::planes_of_finer(int edge) const {
    return edge < whole_edge_ ? Share<int>{.first = 0, .count = edge} : planes(edge, rank_);
}

BlockCut::BlockCut(const World& active) {
    int left = active.rank;
    for (const Axis axis : axes) {
        const int ranks = 1 << halvings_along(axis, halvings_of(active.ranks));
        ranks_.at(axis) = ranks;
        place_.at(axis) = ranks - 1 - left % ranks;
        left /= ranks;
    }
}

int BlockCut::ranks_of(int edge, int ranks) {
    const int most = static_cast<int>(axes.size()) * halvings_of(edge);
    return 1 << std::min(halvings_of(ranks), most);
}

Block BlockCut::block(int edge) const {
    Block block{.edge = edge};
    for (const Axis axis : axes) {
        block.spans.at(axis) = span_of(edge, ranks_.at(axis), place_.at(axis));
    }
    return block;
}

int BlockCut::neighbour(Axis axis, int distance) const {
    int rank = 0;
    int ranks_before = 1;
    for (const Axis each : axes) {
        const int ranks = ranks_.at(each);
        const int moved = each == axis ? distance : 0;
        const int here = (place_.at(each) + moved + ranks) % ranks;
        rank += (ranks - 1 - here) * ranks_before;
        ranks_before *= ranks;
    }
    return rank;
}

}  // namespace tare::npb::mg
