// SPDX-License-Identifier: Apache-2.0
#include "npb/lu/layout.hpp"

#include <algorithm>
#include <string>

namespace tare::npb::lu {

namespace {

/// The largest divisor that is no more than the root.
int smaller_side(int ranks) {
    int side = 1;
    for (int candidate = 1; candidate * candidate <= ranks; ++candidate) {
        side = ranks % candidate == 0 ? candidate : side;
    }
    return side;
}

/// The points of block `index` of `blocks` along an axis that lie inside the boundary.
Share<int> points_inside(int edge, int blocks, int index, Messages messages) {
    if (messages == Messages::own) {
        const Share<int> share = share_of(edge - 2, blocks, index);
        return {.first = 1 + share.first, .count = share.count};
    }
    // The first blocks have the points that are left over.
    const auto begin = [&](int block) { return block * (edge / blocks) + std::min(block, edge % blocks); };
    const int first = std::max(1, begin(index));
    return {.first = first, .count = std::min(edge - 1, begin(index + 1)) - first};
}

/// Block `index` of `blocks`; neighbours are `stride` ranks apart.
Extent extent_of(int edge, int blocks, int index, const World& world, int stride, Messages messages) {
    const Share<int> points = points_inside(edge, blocks, index, messages);
    return {.first = points.first,
            .count = points.count,
            .previous = index > 0 ? world.rank - stride : MPI_PROC_NULL,
            .next = index + 1 < blocks ? world.rank + stride : MPI_PROC_NULL};
}

std::ptrdiff_t in_whole_groups(std::ptrdiff_t count) { return (count + group - 1) / group * group; }

bool is_boundary(double coordinate) { return coordinate <= 0 || coordinate >= 1; }

}  // namespace

Block Block::of(const World& world, int edge, Messages messages) {
    const int few = smaller_side(world.ranks);
    const int many = world.ranks / few;
    const bool is_own = messages == Messages::own;
    if (!is_own && many > 2 * few) {
        throw WrongUse("the reference's messages need ranks in a grid at most twice as long as wide");
    }
    const int narrowest = is_own ? (edge - 2) / many : edge / many - 1;
    if (many > 1 && narrowest < halo_width) {
        throw WrongUse(std::to_string(world.ranks) + " ranks are too many: a block would be narrower than " +
                       std::to_string(halo_width) + " points");
    }
    const int x_blocks = is_own ? few : many;
    const int y_blocks = is_own ? many : few;
    return {.communicator = world.communicator,
            .messages = messages,
            .edge = edge,
            .x = extent_of(edge, x_blocks, world.rank % x_blocks, world, 1, messages),
            .y = extent_of(edge, y_blocks, world.rank / x_blocks, world, x_blocks, messages),
            .z = {.first = 1, .count = edge - 2}};
}

Points Mesh::points_of_row(int first_diagonal, int points) const {
    return {.first = std::clamp(first - first_diagonal, 0, points),
            .end = std::clamp(end - first_diagonal, 0, points)};
}

Layout::Layout(int x_count, int y_count) : x_count_{x_count}, y_count_{y_count} {
    set_origins();
    list_diagonals();
}

std::vector<Mesh> Layout::pencils(int most) const {
    const int diagonals = static_cast<int>(diagonals_.size());
    const int count = std::min(most, diagonals);
    std::vector<Mesh> pencils;
    int first = 0;
    for (int index = 1; index <= count; ++index) {
        const int end = std::clamp(nearest_start(index, count), first + 1, diagonals - (count - index));
        pencils.push_back(pencil(first, end));
        first = end;
    }
    return pencils;
}

Mesh Layout::pencil(int first, int end) const {
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
        return diagonal.group_offset + in_whole_groups(diagonal.length) * quantities / 2;
    };
    return static_cast<int>(std::ranges::lower_bound(diagonals_, wanted, {}, middle) - diagonals_.begin());
}

std::ptrdiff_t Layout::offset(int x, int y) const { return origin(x + y) + y; }

std::ptrdiff_t Layout::origin(int sum) const {
    const int index = sum + 2 * halo_width;
    return origin_[static_cast<std::size_t>(index)];
}

std::ptrdiff_t Layout::group_offset(int x, int y, int quantity) const {
    const int sum = x + y;
    const Diagonal& diagonal = diagonals_[static_cast<std::size_t>(sum)];
    const std::ptrdiff_t along = y - diagonal.first_y;
    return diagonal.group_offset + (along / group * quantities + quantity) * group + along % group;
}

void Layout::set_origins() {
    std::ptrdiff_t end = 0;
    for (int sum = -2 * halo_width; sum < x_count_ + y_count_ + 2 * halo_width - 1; ++sum) {
        const int first = std::max(-halo_width, sum - (x_count_ + halo_width - 1));
        const int last = std::min(y_count_ + halo_width - 1, sum + halo_width);
        const std::ptrdiff_t inside = in_whole_groups(end + halo_width);
        origin_.push_back(inside - (first + halo_width));
        end = inside - halo_width + (last - first + 1);
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
                              .offset = origin(sum) + first,
                              .group_offset = group_plane_});
        group_plane_ += in_whole_groups(length) * quantities;
    }
}

Field::Field(const Block& block, const Layout& layout)
    : block_{block},
      layout_{layout},
      values_{static_cast<std::size_t>(block.z.count + 2 * halo_width) * quantities *
              static_cast<std::size_t>(layout.pitch())} {
    std::ranges::fill(values_.span(), 1.0);
}

Point Field::point(int x, int y, int z) const {
    Point point{};
    const std::span<const double> here =
        values_.span().subspan(plane_offset(z) + static_cast<std::size_t>(layout_.offset(x, y)));
    for (std::size_t m = 0; m < quantities; ++m) {
        point.at(m) = here[m * static_cast<std::size_t>(layout_.pitch())];
    }
    return point;
}

void Field::set(Point (*value)(double x, double y, double z), Team& team) {
    const Share<int> planes = in_cube(block_.z);
    team.run([&](int thread) {
        const Share<int> own = team.part(thread, planes.count);
        for (int index = own.first; index < own.end(); ++index) {
            set_plane(value, planes.first + index);
        }
    });
}

Share<int> Field::in_cube(const Extent& extent) const {
    const int first = std::max(-halo_width, -extent.first);
    const int end = std::min(extent.count + halo_width, block_.edge - extent.first);
    return {.first = first, .count = end - first};
}

void Field::set_plane(Point (*value)(double x, double y, double z), int z) {
    const auto at = [&](const Extent& extent, int point) {
        return static_cast<double>(extent.first + point) / (block_.edge - 1);
    };
    const Share<int> across_x = in_cube(block_.x);
    const Share<int> across_y = in_cube(block_.y);
    for (int y = across_y.first; y < across_y.end(); ++y) {
        for (int x = across_x.first; x < across_x.end(); ++x) {
            const Point values = value(at(block_.x, x), at(block_.y, y), at(block_.z, z));
            const std::span<double> here =
                values_.span().subspan(plane_offset(z) + static_cast<std::size_t>(layout_.offset(x, y)));
            for (std::size_t m = 0; m < quantities; ++m) {
                here[m * static_cast<std::size_t>(layout_.pitch())] = values.at(m);
            }
        }
    }
}

Point initial(double x, double y, double z) {
    const bool on_boundary = is_boundary(x) || is_boundary(y) || is_boundary(z);
    return on_boundary ? flow::exact(x, y, z) : flow::interpolated(x, y, z);
}

}  // namespace tare::npb::lu
