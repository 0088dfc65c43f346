// SPDX-License-Identifier: Apache-2.0
#include "npb/lu/layout.hpp"

#include <algorithm>

namespace tare::npb::lu {

namespace {

std::ptrdiff_t in_whole_groups(std::ptrdiff_t count) { return (count + group - 1) / group * group; }

}  // namespace

Points Mesh::points_of_row(int first_diagonal, int points) const {
    return {.first = std::clamp(first - first_diagonal, 0, points),
            .end = std::clamp(end - first_diagonal, 0, points)};
}

Layout::Layout(int x_count, int y_count) : x_count_{x_count}, y_count_{y_count} {
    place_rows();
    list_diagonals();
}

std::vector<Mesh> Layout::strips(int most) const {
    const int diagonals = static_cast<int>(diagonals_.size());
    const int count = std::min(most, diagonals);
    std::vector<Mesh> found;
    int first = 0;
    for (int index = 1; index <= count; ++index) {
        const int end = std::clamp(nearest_start(index, count), first + 1, diagonals - (count - index));
        found.push_back(strip(first, end));
        first = end;
    }
    return found;
}

Mesh Layout::strip(int first, int end) const {
    return {.diagonals = diagonals_.data(),
            .count = static_cast<int>(diagonals_.size()),
            .first = first,
            .end = end,
            .x_count = x_count_,
            .y_count = y_count_,
            .pitch = pitch_};
}

int Layout::nearest_start(int index, int count) const {
    const std::ptrdiff_t wanted = group_plane_ * index / count;
    const auto middle = [](const Diagonal& diagonal) {
        return diagonal.group_place + in_whole_groups(diagonal.length) * quantities / 2;
    };
    return static_cast<int>(std::ranges::lower_bound(diagonals_, wanted, {}, middle) - diagonals_.begin());
}

std::ptrdiff_t Layout::place(int x, int y) const { return origin(x + y) + y; }

std::ptrdiff_t Layout::origin(int sum) const {
    const int index = sum + 2 * reach;
    return origin_[static_cast<std::size_t>(index)];
}

std::ptrdiff_t Layout::group_place(int x, int y, int quantity) const {
    const int sum = x + y;
    const Diagonal& diagonal = diagonals_[static_cast<std::size_t>(sum)];
    const std::ptrdiff_t along = y - diagonal.first_y;
    return diagonal.group_place + (along / group * quantities + quantity) * group + along % group;
}

void Layout::place_rows() {
    std::ptrdiff_t end = 0;
    for (int sum = -2 * reach; sum < x_count_ + y_count_ + 2 * reach - 1; ++sum) {
        const int first = std::max(-reach, sum - (x_count_ + reach - 1));
        const int last = std::min(y_count_ + reach - 1, sum + reach);
        const std::ptrdiff_t inside = in_whole_groups(end + reach);
        origin_.push_back(inside - (first + reach));
        end = inside - reach + (last - first + 1);
    }
    // Vectors may run over the end, and quantities must not all fall on the same lines of a cache.
    constexpr std::ptrdiff_t unlike = 16 * group;
    const std::ptrdiff_t room = end + 2 * group;
    pitch_ = (room + unlike - 1) / unlike * unlike + group;
}

void Layout::list_diagonals() {
    const auto first_y = [&](int sum) { return std::max(0, sum - (x_count_ - 1)); };
    for (int sum = 0; sum < x_count_ + y_count_ - 1; ++sum) {
        const int first = first_y(sum);
        const int length = std::min(y_count_ - 1, sum) - first + 1;
        const auto distance = [&](int other) { return static_cast<int>(origin(other) - origin(sum)); };
        diagonals_.push_back({.length = length,
                              .first_x = sum - first,
                              .first_y = first,
                              .shift = first - first_y(sum - 1),
                              .next_shift = first_y(sum + 1) - first,
                              .east = distance(sum + 1),
                              .west = distance(sum - 1),
                              .two_east = distance(sum + 2),
                              .two_west = distance(sum - 2),
                              .place = origin(sum) + first,
                              .group_place = group_plane_});
        group_plane_ += in_whole_groups(length) * quantities;
    }
}

}  // namespace tare::npb::lu
