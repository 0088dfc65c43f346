// SPDX-License-Identifier: Apache-2.0
// The hot loops of LU's residual: central differences of the fluxes, viscosity and dissipation in all three
// directions, in one pass over a plane (RNR-94-007 sections 3.2 and 3.3).
#include "npb/lu/residual.hpp"

#include "npb/lu/point.hpp"

// Walking through rows is what these loops do, and hot sources hold no standard containers.
// NOLINTBEGIN(cppcoreguidelines-pro-bounds-*,cppcoreguidelines-pro-type-member-init,*-avoid-c-arrays)

namespace tare::npb::lu::residual::TARE_NPB_SIMD {

using namespace lu::TARE_NPB_SIMD;  // NOLINT(google-build-using-namespace): the vector type's own

namespace {

/// How far ahead, in groups, memory is asked for: it takes as long as the work on so many.
constexpr std::ptrdiff_t ahead = 16;

constexpr double half = 0.5;

/// Where a diagonal's neighbours along one axis lie.
struct Neighbours {
    const double* two_before;
    const double* before;
    const double* after;
    const double* two_after;
    const double* derived_before;
    const double* derived_after;
};

/// Adds to quantity m what an axis contributes beyond the point's own part and viscosity.
template <int axis, int m>
[[gnu::always_inline]] inline void add_flux(const Neighbours& at, std::ptrdiff_t pitch, std::ptrdiff_t along,
                                            const ResidualFactors& factors, Vector& sum) {
    const double neighbours = axis == 2 ? factors.neighbours_z : factors.neighbours_across;
    const std::ptrdiff_t offset = along + m * pitch;
    const Vector before = load_unaligned(at.before + offset);
    const Vector after = load_unaligned(at.after + offset);
    const Vector speed_before = load_unaligned(at.derived_before + along + axis * pitch);
    const Vector speed_after = load_unaligned(at.derived_after + along + axis * pitch);
    const Vector pressure_before = load_unaligned(at.derived_before + along + pressure * pitch);
    const Vector pressure_after = load_unaligned(at.derived_after + along + pressure * pitch);
    sum += neighbours * (before + after);
    sum += factors.far_neighbours *
           (load_unaligned(at.two_before + offset) + load_unaligned(at.two_after + offset));
    Vector flux = after * speed_after - before * speed_before;
    if constexpr (m == flow::energy) {
        flux += pressure_after * speed_after - pressure_before * speed_before;
    }
    if constexpr (m == axis + 1) {
        flux += pressure_after - pressure_before;
    }
    sum += factors.convection * flux;
}

template <int axis>
[[gnu::always_inline]] inline void add_viscosity(const Neighbours& at, std::ptrdiff_t pitch,
                                                 std::ptrdiff_t along, const ResidualFactors& factors,
                                                 Vector (&sum)[quantities]) {
    const auto both = [&](int quantity) {
        return load_unaligned(at.derived_before + along + quantity * pitch) +
               load_unaligned(at.derived_after + along + quantity * pitch);
    };
    for (int other = 0; other < 3; ++other) {
        const double factor = (other == axis ? flow::normal_viscosity : 1.0) * factors.viscosity;
        sum[other + 1] += factor * both(other);
    }
    const Vector before = load_unaligned(at.derived_before + along + axis * pitch);
    const Vector after = load_unaligned(at.derived_after + along + axis * pitch);
    const Vector squares = before * before + after * after;
    sum[flow::energy] += factors.viscosity * (both(heat) + (flow::normal_viscosity - 1) / 2 * squares);
}

template <int axis>
[[gnu::always_inline]] inline void add_axis(const Neighbours& at, std::ptrdiff_t pitch, std::ptrdiff_t along,
                                            const ResidualFactors& factors, Vector (&sum)[quantities]) {
    add_flux<axis, 0>(at, pitch, along, factors, sum[0]);
    add_flux<axis, 1>(at, pitch, along, factors, sum[1]);
    add_flux<axis, 2>(at, pitch, along, factors, sum[2]);
    add_flux<axis, 3>(at, pitch, along, factors, sum[3]);
    add_flux<axis, 4>(at, pitch, along, factors, sum[4]);
    add_viscosity<axis>(at, pitch, along, factors, sum);
}

/// The point's own part in all three axes.
[[gnu::always_inline]] inline void add_self(const double* field, const double* derived, std::ptrdiff_t pitch,
                                            const ResidualFactors& factors, Vector (&sum)[quantities]) {
    for (int m = 0; m < quantities; ++m) {
        sum[m] += factors.self * load(field + m * pitch);
    }
    Vector square = {};
    for (int axis = 0; axis < 3; ++axis) {
        const Vector speed = load(derived + axis * pitch);
        sum[axis + 1] -= 2 * viscosity_sum * factors.viscosity * speed;
        square += speed * speed;
    }
    sum[flow::energy] -= 2 * factors.viscosity *
                         (3 * load(derived + heat * pitch) + (flow::normal_viscosity - 1) / 2 * square);
}

void residual_on_diagonal(std::ptrdiff_t pitch, const ResidualFactors& all_factors, const Diagonal& diagonal,
                          const Planes& planes, const double* __restrict forcing, double* __restrict result) {
    const ResidualFactors factors = all_factors;
    const double* const field = planes.field[2] + diagonal.offset;
    const double* const derived = planes.derived[1] + diagonal.offset;
    const Neighbours x{field + diagonal.two_west, field + diagonal.west,   field + diagonal.east,
                       field + diagonal.two_east, derived + diagonal.west, derived + diagonal.east};
    const Neighbours y{x.two_before - 2, x.before - 1,         x.after + 1,
                       x.two_after + 2,  x.derived_before - 1, x.derived_after + 1};
    const Neighbours z{planes.field[0] + diagonal.offset,   planes.field[1] + diagonal.offset,
                       planes.field[3] + diagonal.offset,   planes.field[4] + diagonal.offset,
                       planes.derived[0] + diagonal.offset, planes.derived[2] + diagonal.offset};
    for (int along = 0; along < diagonal.length; along += lanes) {
        const std::ptrdiff_t at = group_offset(along);
        Vector sum[quantities];
        for (int m = 0; m < quantities; ++m) {
            __builtin_prefetch(z.two_after + m * pitch + along + ahead * group);
            __builtin_prefetch(forcing + at + (m + ahead * quantities) * group);
            __builtin_prefetch(result + at + (m + ahead * quantities) * group, 1);
            sum[m] = -factors.scale * load(forcing + at + m * group);
        }
        add_self(field + along, derived + along, pitch, factors, sum);
        add_axis<0>(x, pitch, along, factors, sum);
        add_axis<1>(y, pitch, along, factors, sum);
        add_axis<2>(z, pitch, along, factors, sum);
        for (int m = 0; m < quantities; ++m) {
            store(result + at + m * group, first_lanes(diagonal.length - along, sum[m], Vector{}));
        }
    }
}

void residual(const Mesh& mesh, const ResidualFactors& factors, const Planes& planes, const double* forcing,
              double* result) {
    for (int sum = mesh.first; sum < mesh.end; ++sum) {
        const Diagonal& diagonal = mesh.diagonals[sum];
        residual_on_diagonal(mesh.pitch, factors, diagonal, planes, forcing + diagonal.group_offset,
                             result + diagonal.group_offset);
    }
}

/// Where the diagonal before a pencil begins, with a point beyond its end: one group holds it.
std::ptrdiff_t begin_of_seen(const Mesh& mesh) {
    return mesh.first == 0 ? 0 : mesh.diagonals[mesh.first - 1].offset - group;
}

/// Where the diagonal after a pencil ends, with a point beyond its end.
std::ptrdiff_t end_of_seen(const Mesh& mesh) {
    if (mesh.end == mesh.count) {
        return mesh.pitch;
    }
    const Diagonal& after = mesh.diagonals[mesh.end];
    return after.offset + (after.length / group + 1) * group;
}

void derive(const Mesh& mesh, const double* __restrict field, double* __restrict derived) {
    const std::ptrdiff_t pitch = mesh.pitch;
    const std::ptrdiff_t end = end_of_seen(mesh);
    for (std::ptrdiff_t at = begin_of_seen(mesh); at < end; at += lanes) {
        const Vector inverse = 1.0 / load(field + at);
        const Vector energy = load(field + flow::energy * pitch + at);
        Vector twice_kinetic = {};
        Vector square = {};
        for (int axis = 0; axis < 3; ++axis) {
            const Vector momentum = load(field + (axis + 1) * pitch + at);
            const Vector velocity = momentum * inverse;
            store(derived + axis * pitch + at, velocity);
            twice_kinetic += momentum * velocity;
            square += velocity * velocity;
        }
        store(derived + pressure * pitch + at, flow::pressure_factor * (energy - half * twice_kinetic));
        store(derived + heat * pitch + at,
              flow::conduction * energy * inverse + half * (1 - flow::conduction) * square);
    }
}

}  // namespace

Functions functions() { return {.derive = derive, .residual = residual}; }

}  // namespace tare::npb::lu::residual::TARE_NPB_SIMD

// NOLINTEND(cppcoreguidelines-pro-bounds-*,cppcoreguidelines-pro-type-member-init,*-avoid-c-arrays)
