// SPDX-License-Identifier: Apache-2.0
#include "npb/lu/norms.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

namespace tare::npb::lu {

namespace {

/// What `of_plane(z)` gives of each of the block's planes, made by all threads.
template <typename OfPlane>
auto of_planes(const Part& part, Team& team, const OfPlane& of_plane) {
    std::vector<decltype(of_plane(0))> found(static_cast<std::size_t>(part.z.count));
    team.run([&](int thread) {
        const Share<int> own = team.part(thread, part.z.count);
        for (int z = own.first; z < own.end(); ++z) {
            found[static_cast<std::size_t>(z)] = of_plane(z);
        }
    });
    return found;
}

/// Calls `visit(x, y)` for each point of a plane.
template <typename Visit>
void for_each_point(const Part& part, const Visit& visit) {
    for (int y = 0; y < part.y.count; ++y) {
        for (int x = 0; x < part.x.count; ++x) {
            visit(x, y);
        }
    }
}

double pressure_of(const Point& point) {
    const auto& [density, momentum_x, momentum_y, momentum_z, energy] = point;
    const double squares = momentum_x * momentum_x + momentum_y * momentum_y + momentum_z * momentum_z;
    return flow::pressure_factor * (energy - squares / (2 * density));
}

/// The box's extent along an axis, in places of the whole cube.
struct Side {
    int first;
    int last;

    [[nodiscard]] bool has(int place) const { return place >= first && place <= last; }
    [[nodiscard]] bool ends_at(int place) const { return place == first || place == last; }
    /// The trapezoid rule's weight: of a cell's edge half as much as inside.
    [[nodiscard]] double weight(int place) const { return ends_at(place) ? 1.0 / 2 : 1.0; }
};

/// A point's weight in the faces across each axis, as often as it lies in one.
double weight_of(const std::array<Side, 3>& box, const std::array<int, 3>& place) {
    std::array<double, 3> weight{};
    std::array<bool, 3> at_end{};
    for (std::size_t axis = 0; axis < box.size(); ++axis) {
        if (!box.at(axis).has(place.at(axis))) {
            return 0;
        }
        weight.at(axis) = box.at(axis).weight(place.at(axis));
        at_end.at(axis) = box.at(axis).ends_at(place.at(axis));
    }
    const auto& [x, y, z] = weight;
    return (at_end[0] ? y * z : 0) + (at_end[1] ? x * z : 0) + (at_end[2] ? x * y : 0);
}

/// From the sums of squares of each rank's planes.
Norms root_mean(const std::vector<Norms>& squares_of_planes, const Part& part) {
    Norms squares{};
    for (const Norms& of_plane : squares_of_planes) {
        std::ranges::transform(squares, of_plane, squares.begin(), std::plus{});
    }
    Norms norms{};
    MPI_Allreduce(squares.data(), norms.data(), quantities, MPI_DOUBLE, MPI_SUM, part.communicator);
    for (double& norm : norms) {
        norm = std::sqrt(norm / std::pow(part.edge - 2, 3));
    }
    return norms;
}

/// Of a place of the block, from 0 to 1.
double coordinate(const Part& part, const Extent& extent, int place) {
    return static_cast<double>(extent.first + place) / (part.edge - 1);
}

}  // namespace

Norms residual_norms(GroupField& residual, const Part& part, Team& team) {
    const auto squares = [&](int z) {
        Norms found{};
        const std::span<const double> plane = residual.plane(z);
        for (std::size_t index = 0; index < plane.size(); ++index) {
            found.at(index / group % quantities) += plane[index] * plane[index];
        }
        return found;
    };
    return root_mean(of_planes(part, team, squares), part);
}

Norms error_norms(const Field& field, const Part& part, Team& team) {
    const auto squares = [&](int z) {
        Norms found{};
        for_each_point(part, [&](int x, int y) {
            const Point here = field.point(x, y, z);
            const Point exact = flow::exact(coordinate(part, part.x, x), coordinate(part, part.y, y),
                                            coordinate(part, part.z, z));
            for (std::size_t m = 0; m < here.size(); ++m) {
                const double error = exact.at(m) - here.at(m);
                found.at(m) += error * error;
            }
        });
        return found;
    };
    return root_mean(of_planes(part, team, squares), part);
}

double surface_integral(const Field& field, const Part& part, Team& team) {
    const int last = part.edge - 2;
    const std::array<Side, 3> box{{{1, last}, {1, last - 1}, {2, last}}};
    const auto pressures = [&](int z) {
        double found = 0;
        for_each_point(part, [&](int x, int y) {
            const double weight = weight_of(box, {part.x.first + x, part.y.first + y, part.z.first + z});
            if (weight > 0) {
                found += weight * pressure_of(field.point(x, y, z));
            }
        });
        return found;
    };
    const std::vector<double> planes = of_planes(part, team, pressures);
    const double here = std::accumulate(planes.begin(), planes.end(), 0.0);
    double sum = 0;
    MPI_Allreduce(&here, &sum, 1, MPI_DOUBLE, MPI_SUM, part.communicator);
    return sum * part.spacing() * part.spacing();
}

}  // namespace tare::npb::lu
