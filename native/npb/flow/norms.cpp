// SPDX-License-Identifier: Apache-2.0
#include "npb/flow/norms.hpp"

#include <cmath>
#include <cstddef>

#include "npb/flow/exact.hpp"

namespace tare::npb::flow {

namespace {

/// Calls `work(z, y, x)` for each point inside the boundary.
template <typename Work>
void each_inside(const Block& block, Work&& work) {
    for (int z = block.z.begin(); z < block.z.end(); ++z) {
        for (int y = block.y.begin(); y < block.y.end(); ++y) {
            for (int x = block.x.begin(); x < block.x.end(); ++x) {
                work(z, y, x);
            }
        }
    }
}

/// `difference(field, z, y, x)` gives what to square at a point inside the boundary.
template <typename Difference>
Point norms(std::span<const Field> fields, MPI_Comm communicator, Difference&& difference) {
    Point sums{};
    for (const Field& field : fields) {
        each_inside(field.block(), [&](int z, int y, int x) {
            const Point values = difference(field, z, y, x);
            for (std::size_t component = 0; component < values.size(); ++component) {
                sums.at(component) += values.at(component) * values.at(component);
            }
        });
    }
    const Block& block = fields.front().block();
    MPI_Allreduce(MPI_IN_PLACE, sums.data(), components, MPI_DOUBLE, MPI_SUM, communicator);
    const double points =
        static_cast<double>(block.x.edge - 2) * (block.y.edge - 2) * static_cast<double>(block.z.edge - 2);
    for (double& sum : sums) {
        sum = std::sqrt(sum / points);
    }
    return sums;
}

}  // namespace

Point residual_norms(std::span<const Field> residual, MPI_Comm communicator) {
    return norms(residual, communicator,
                 [](const Field& field, int z, int y, int x) { return field.point(z, y, x); });
}

Point error_norms(std::span<const Field> fields, MPI_Comm communicator) {
    return norms(fields, communicator, [](const Field& field, int z, int y, int x) {
        const Block& block = field.block();
        Point found = field.point(z, y, x);
        const Point right = exact(block.x.coordinate(x), block.y.coordinate(y), block.z.coordinate(z));
        for (std::size_t component = 0; component < found.size(); ++component) {
            found.at(component) -= right.at(component);
        }
        return found;
    });
}

}  // namespace tare::npb::flow
