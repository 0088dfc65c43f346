// SPDX-License-Identifier: Apache-2.0
#include "npb/lu/norms.hpp"

#include <array>
#include <cmath>

namespace tare::npb::lu {

namespace {

/// Calls `visit(x, y, z)` for each of the block's points.
template <typename Visit>
void for_each_point(const Part& part, const Visit& visit) {
    for (int z = 0; z < part.z.count; ++z) {
        for (int y = 0; y < part.y.count; ++y) {
            for (int x = 0; x < part.x.count; ++x) {
                visit(x, y, z);
            }
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

/// From each rank's sums of squares.
Norms root_mean(const Norms& squares, const Part& part) {
    Norms norms{};
    MPI_Allreduce(squares.data(), norms.data(), quantities, MPI_DOUBLE, MPI_SUM, part.communicator);
    for (double& norm : norms) {
        norm = std::sqrt(norm / std::pow(part.edge - 2, 3));
    }
    return norms;
}

}  // namespace

Norms residual_norms(GroupField& residual, const Part& part) {
    Norms squares{};
    for (int z = 0; z < part.z.count; ++z) {
        const std::span<const double> plane = residual.plane(z);
        for (std::size_t index = 0; index < plane.size(); ++index) {
            squares.at(index / group % quantities) += plane[index] * plane[index];
        }
    }
    return root_mean(squares, part);
}

Norms error_norms(const Field& field, const Part& part) {
    Norms squares{};
    const auto coordinate = [&](const Share& share, int place) {
        return static_cast<double>(share.first + place) / (part.edge - 1);
    };
    for_each_point(part, [&](int x, int y, int z) {
        const Point here = field.point(x, y, z);
        const Point exact = flow::exact(coordinate(part.x, x), coordinate(part.y, y), coordinate(part.z, z));
        for (std::size_t m = 0; m < here.size(); ++m) {
            const double error = exact.at(m) - here.at(m);
            squares.at(m) += error * error;
        }
    });
    return root_mean(squares, part);
}

double surface_integral(const Field& field, const Part& part) {
    const int last = part.edge - 2;
    const std::array<Side, 3> box{{{1, last}, {1, last - 1}, {2, last}}};
    double here = 0;
    for_each_point(part, [&](int x, int y, int z) {
        const double weight = weight_of(box, {part.x.first + x, part.y.first + y, part.z.first + z});
        if (weight > 0) {
            here += weight * pressure_of(field.point(x, y, z));
        }
    });
    double sum = 0;
    MPI_Allreduce(&here, &sum, 1, MPI_DOUBLE, MPI_SUM, part.communicator);
    return sum * part.spacing() * part.spacing();
}

}  // namespace tare::npb::lu
