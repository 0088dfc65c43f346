// SPDX-License-Identifier: Apache-2.0
#include "npb/lu/halo.hpp"

#include <algorithm>
#include <functional>

namespace tare::npb::lu {

namespace {

/// The points along an axis that messages carry. The reference's carry the given points of the boundary too.
Share<int> carried(const Extent& extent, Messages messages) {
    return messages == Messages::reference ? extent.with_boundary()
                                           : Share<int>{.first = 0, .count = extent.count};
}

/// The offsets of two rows of points; `first` and `second` are their coordinates across.
template <typename Offset>
std::vector<std::size_t> rows(int first, int second, const Share<int>& along, const Offset& offset) {
    std::vector<std::size_t> offsets;
    for (const int across : {first, second}) {
        for (int point = along.first; point < along.end(); ++point) {
            offsets.push_back(static_cast<std::size_t>(offset(across, point)));
        }
    }
    return offsets;
}

}  // namespace

Halo::Halo(const Block& block, const Layout& layout)
    : block_{block},
      pitch_{static_cast<std::size_t>(layout.pitch())},
      planes_{carried(block.z, block.messages)} {
    const auto planes = static_cast<std::size_t>(planes_.count);
    const auto in_x = [&](int x, int y) { return layout.offset(x, y); };
    const auto in_y = [&](int y, int x) { return layout.offset(x, y); };
    const auto side = [&](int neighbour, int first, int outward, const Extent& along, const auto& offset) {
        const bool is_boundary = neighbour == MPI_PROC_NULL;
        const Share<int> points = carried(along, is_boundary ? Messages::own : block.messages);
        Side made{.neighbour = neighbour,
                  .first_diagonal = first,
                  .inner = rows(first, first - outward, points, offset),
                  .outer = rows(first + outward, first + 2 * outward, points, offset)};
        made.to_send.resize(is_boundary ? 0 : made.inner.size() * quantities * planes);
        made.received.resize(made.to_send.size());
        return made;
    };
    sides_ = {side(block.x.previous, 0, -1, block.y, in_x),
              side(block.x.next, block.x.count - 1, 1, block.y, in_x),
              side(block.y.previous, 0, -1, block.x, in_y),
              side(block.y.next, block.y.count - 1, 1, block.x, in_y)};
}

std::span<double> Halo::values(Field& field, int z, int quantity) const {
    return std::span{field.plane(z), pitch_ * quantities}.subspan(static_cast<std::size_t>(quantity) *
                                                                  pitch_);
}

void Halo::reflect(Field& field, int z, const Mesh& pencil) const {
    for (const Side& side : sides_) {
        if (side.neighbour != MPI_PROC_NULL) {
            continue;
        }
        const std::size_t along = side.inner.size() / halo_width;
        const Points points = pencil.points_of_row(side.first_diagonal, static_cast<int>(along));
        for (int m = 0; m < quantities; ++m) {
            const std::span<double> plane = values(field, z, m);
            for (auto point = static_cast<std::size_t>(points.first);
                 point < static_cast<std::size_t>(points.end); ++point) {
                plane[side.outer[along + point]] = -plane[side.inner[point]];
            }
        }
    }
}

void Halo::exchange(Field& field, Team& team) {
    const auto planes = [&](int thread) {
        const Share<int> own = team.part(thread, planes_.count);
        return Share<int>{.first = planes_.first + own.first, .count = own.count};
    };
    receive();
    team.run([&](int thread) {
        const Share<int> own = team.part(thread, quantities);
        for (int m = own.first; m < own.end(); ++m) {
            reflect_ends(field, m);
        }
        pack(field, planes(thread));
    });
    send();
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    team.run([&](int thread) { unpack(field, planes(thread)); });
}

void Halo::reflect_ends(Field& field, int quantity) const {
    const int last = block_.z.count - 1;
    const auto plane = [&](int z) { return values(field, z, quantity).first(pitch_); };
    std::ranges::transform(plane(0), plane(-halo_width).begin(), std::negate{});
    std::ranges::transform(plane(last), plane(last + halo_width).begin(), std::negate{});
}

void Halo::receive() {
    requests_.clear();
    for (Side& side : sides_) {
        MPI_Irecv(side.received.data(), static_cast<int>(side.received.size()), MPI_DOUBLE, side.neighbour, 0,
                  block_.communicator, &requests_.emplace_back(MPI_REQUEST_NULL));
    }
}

void Halo::pack(Field& field, const Share<int>& planes) {
    for (Side& side : sides_) {
        for_numbers(field, side.inner, side.to_send, planes, [](double& here, double& sent) { sent = here; });
    }
}

void Halo::send() {
    for (Side& side : sides_) {
        MPI_Isend(side.to_send.data(), static_cast<int>(side.to_send.size()), MPI_DOUBLE, side.neighbour, 0,
                  block_.communicator, &requests_.emplace_back(MPI_REQUEST_NULL));
    }
}

void Halo::unpack(Field& field, const Share<int>& planes) {
    for (Side& side : sides_) {
        for_numbers(field, side.outer, side.received, planes,
                    [](double& here, double& received) { here = received; });
    }
}

template <typename Copy>
void Halo::for_numbers(Field& field, std::span<const std::size_t> offsets, std::span<double> message,
                       const Share<int>& planes, const Copy& copy) const {
    const std::size_t of_plane = offsets.size() * quantities;
    for (int z = planes.first; z < planes.end() && !message.empty(); ++z) {
        auto number =
            message.subspan(static_cast<std::size_t>(z - planes_.first) * of_plane, of_plane).begin();
        for (int m = 0; m < quantities; ++m) {
            const std::span<double> here = values(field, z, m);
            for (const std::size_t offset : offsets) {
                copy(here[offset], *number++);
            }
        }
    }
}

}  // namespace tare::npb::lu
