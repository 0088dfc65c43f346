// SPDX-License-Identifier: Apache-2.0
#include "npb/flow/field.hpp"

#include <iterator>

namespace tare::npb::flow {

namespace {

/// Doubles of a row: room for ghosts beside it, which lie among what vectors run over, or, where they hold
/// neighbours' values, before and behind it.
constexpr std::ptrdiff_t room_of_row(const Block& block) {
    const int row = block.is_split_x() ? whole_vectors(block.x.count) : block.x.count;
    return whole_vectors(row + 2 * ghost_layers);
}

}  // namespace

Field::Field(const Block& block, Border border)
    : block_{block},
      border_{border == Border::ghosts ? ghost_layers : 0},
      component_{room_of_row(block)},
      row_{components * component_},
      plane_{(block.y.count + 2 * border_) * row_},
      values_{static_cast<std::size_t>((block.z.count + 2 * border_) * plane_ +
                                       std::ptrdiff_t{2} * row_alignment)} {}

std::ptrdiff_t Field::offset() const { return border_ * (plane_ + row_) + row_alignment; }

View<double> Field::view() {
    return {.origin = values_.span().subspan(static_cast<std::size_t>(offset())).data(),
            .component = component_,
            .row = row_,
            .plane = plane_};
}

View<const double> Field::view() const {
    return {.origin = values_.span().subspan(static_cast<std::size_t>(offset())).data(),
            .component = component_,
            .row = row_,
            .plane = plane_};
}

std::size_t Field::index(int z, int y, int x, int component) const {
    return static_cast<std::size_t>(offset() + z * plane_ + y * row_ + component * component_ + x);
}

Point Field::point(int z, int y, int x) const {
    Point found{};
    for (int component = 0; component < components; ++component) {
        found.at(static_cast<std::size_t>(component)) = values_.span()[index(z, y, x, component)];
    }
    return found;
}

void Field::set_point(int z, int y, int x, const Point& values) {
    for (int component = 0; component < components; ++component) {
        values_.span()[index(z, y, x, component)] = values.at(static_cast<std::size_t>(component));
    }
}

// Vectors also run over the room before the first plane and after the last.
void Field::fill(const Point& values, const Share<int>& planes) {
    if (planes.count == 0) {
        return;
    }
    const auto start_of = [&](int z) { return (z + border_) * plane_ + row_alignment; };
    const std::ptrdiff_t first = planes.first == -border_ ? 0 : start_of(planes.first);
    const std::ptrdiff_t end =
        planes.end() == block_.z.count + border_ ? std::ssize(values_.span()) : start_of(planes.end());
    for (std::ptrdiff_t place = first; place < end; ++place) {
        const std::ptrdiff_t component = (place - row_alignment + row_) / component_ % components;
        values_.span()[static_cast<std::size_t>(place)] = values.at(static_cast<std::size_t>(component));
    }
}

}  // namespace tare::npb::flow
