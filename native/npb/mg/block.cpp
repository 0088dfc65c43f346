// SPDX-License-Identifier: Apache-2.0
#include "npb/mg/block.hpp"

#include <algorithm>
#include <bit>

namespace tare::npb::mg {

namespace {

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

Cut::Cut(const World& active) {
    int left = active.rank;
    for (const Axis axis : axes) {
        const int ranks = 1 << halvings_along(axis, halvings_of(active.ranks));
        ranks_.at(axis) = ranks;
        place_.at(axis) = ranks - 1 - left % ranks;
        left /= ranks;
    }
}

int Cut::ranks_of(int edge, int ranks) {
    const int most = static_cast<int>(axes.size()) * halvings_of(edge);
    return 1 << std::min(halvings_of(ranks), most);
}

int Cut::neighbour(Axis axis, int distance) const {
    int rank = 0;
    int ranks_before = 1;
    for (const Axis each : axes) {
        const int moved = each == axis ? distance : 0;
        const int here = (place(each) + moved + ranks(each)) % ranks(each);
        rank += (ranks(each) - 1 - here) * ranks_before;
        ranks_before *= ranks(each);
    }
    return rank;
}

Block::Block(const Cut& cut, int edge) : edge_{edge} {
    for (const Axis axis : axes) {
        spans_.at(axis) = span_of(edge, cut.ranks(axis), cut.place(axis));
    }
}

bool Block::is_empty() const {
    return std::ranges::any_of(axes, [&](Axis axis) { return count(axis) == 0; });
}

}  // namespace tare::npb::mg
