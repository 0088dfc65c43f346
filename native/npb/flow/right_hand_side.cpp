// SPDX-License-Identifier: Apache-2.0
// The spatial operator of LU, BT and SP (RNR-94-007, sections 3.2 and 3.3), row by row, a vector of points at
// a time. All that it holds is a sum over the point and its neighbours on the three axes; what a neighbour
// adds needs the neighbour alone, and is made anew from u at each point: that costs less than to store and
// load it, but for the divisions: 1 / density of three rows waits in strips.
#include "npb/flow/right_hand_side.hpp"

#include "npb/flow/lanes.hpp"
#include "npb/flow/physics.hpp"

// Vectors need plain pointers and arrays, which are set before they are read; numbers are the
// formulas'.
// NOLINTBEGIN(cppcoreguidelines-pro-bounds-*,cppcoreguidelines-pro-type-member-init,*-avoid-c-arrays)
// NOLINTBEGIN(*-magic-numbers)
namespace tare::npb::flow::TARE_NPB_SIMD {

namespace {

/// Places of a row that are treated at once.
constexpr int longest_stretch = 128;

/// A value at each place of a stretch, and room beside its ends.
struct alignas(Vector) Strip {
    double values[row_alignment + longest_stretch + row_alignment];

    [[nodiscard, gnu::always_inline]] double* at(int x) { return values + row_alignment + x; }
    [[nodiscard, gnu::always_inline]] const double* at(int x) const { return values + row_alignment + x; }
};

/// The operator's factors. They carry no scale: where they are exact, or exact multiples of each other, those
/// of a difference add up to zero, and rounding leaves no bias that is the same everywhere.
struct Factors {
    /// 1 / (2 step), of first differences.
    double convection;
    /// Viscosity / step^2, of second differences.
    double viscous;
};

/// Weights of second- and fourth-difference dissipation together.
[[nodiscard, gnu::always_inline]] inline FourthDifference dissipation(const Extent& extent, int place,
                                                                      double second) {
    const double steps = extent.edge - 1;
    const double diffusion = second * steps * steps;
    FourthDifference found = fourth_difference(extent.first + place, extent.edge);
    for (double& weight : found.weight) {
        weight *= -fourth_dissipation;
    }
    found.weight[1] += diffusion;
    found.weight[2] -= 2.0 * diffusion;
    found.weight[3] += diffusion;
    return found;
}

/// The x weights at each place of a stretch.
struct Weights {
    Strip of[5];
};

/// Sets the places from `from` to `end` alike.
void set_weights(int from, int end, const FourthDifference& weight, Weights& weights) {
    for (int distance = 0; distance < 5; ++distance) {
        for (int x = from; x < end; ++x) {
            *weights.of[distance].at(x) = weight.weight[distance];
        }
    }
}

/// Places from `first` on, of which those near the ends of the axis are one-sided.
void set_weights(const Extent& extent, int first, int length, Weights& weights) {
    constexpr int one_sided = 3;
    set_weights(0, length, dissipation(extent, extent.edge / 2 - extent.first, dissipation_x), weights);
    for (int x = 0; x < length; ++x) {
        const int place = first + x;
        if (place < one_sided || (place >= extent.count - one_sided && place < extent.count)) {
            set_weights(x, x + 1, dissipation(extent, place, dissipation_x), weights);
        }
    }
}

/// Conserved quantities of the places from `u` on.
struct Conserved {
    Vector density;
    Vector momentum[3];
    Vector energy;

    [[nodiscard, gnu::always_inline]] static Conserved of(const double* u, std::ptrdiff_t component) {
        return {load_unaligned(u),
                {load_unaligned(u + component), load_unaligned(u + 2 * component),
                 load_unaligned(u + 3 * component)},
                load_unaligned(u + 4 * component)};
    }

    [[nodiscard, gnu::always_inline]] Vector half_square() const {
        return 0.5 * (momentum[0] * momentum[0] + momentum[1] * momentum[1] + momentum[2] * momentum[2]);
    }
};

// Heat and the work of viscosity together spread, along an axis with velocity v, the quantity
//     conduction energy / density + (1 - conduction) kinetic + (normal_viscosity - 1) v^2 / 2
// with the kinetic energy per mass.

/// What the point itself adds by viscosity, on all three axes: minus what its six neighbours would, were they
/// alike.
[[gnu::always_inline]] inline void add_here(const Factors& factors, const Conserved& here,
                                            const Vector& inverse, Vector (&sum)[components]) {
    const Vector spread = factors.viscous * inverse;
    const Vector along = 4.0 * spread + 2.0 * (normal_viscosity * spread);
#pragma GCC unroll 3
    for (int axis = 0; axis < 3; ++axis) {
        sum[momentum_x + axis] -= along * here.momentum[axis];
    }
    const Vector kinetic = here.half_square() * inverse;
    const Vector square = 2.0 * kinetic * inverse;
    sum[energy] -= 6.0 * (conduction * spread * here.energy + (1.0 - conduction) * spread * kinetic) +
                   2.0 * ((0.5 * (normal_viscosity - 1.0) * factors.viscous) * square);
}

/// What a neighbour on the axis `normal` adds: convection (positive from the neighbour before, negative from
/// that after the point), viscosity and dissipation.
template <int normal, typename Weight>
[[gnu::always_inline]] inline void add_neighbour(const Factors& factors, double convection,
                                                 const Weight& weight, const Conserved& there,
                                                 const Vector& inverse, Vector (&sum)[components]) {
    const Vector spread = factors.viscous * inverse;
    const Vector speed = there.momentum[normal] * inverse;
    const Vector flow = convection * speed;
    const Vector carried = weight + flow;
    const Vector kinetic = there.half_square() * inverse;
    const Vector pressure = pressure_factor * (there.energy - kinetic);
    sum[density] += weight * there.density + convection * there.momentum[normal];
#pragma GCC unroll 3
    for (int axis = 0; axis < 3; ++axis) {
        const double viscous = axis == normal ? normal_viscosity : 1.0;
        sum[momentum_x + axis] += (carried + viscous * spread) * there.momentum[axis];
    }
    sum[momentum_x + normal] += convection * pressure;
    const Vector worked = (1.0 - conduction) * spread * kinetic +
                          (0.5 * (normal_viscosity - 1.0) * factors.viscous) * speed * speed;
    const Vector moved = (carried + conduction * spread) * there.energy + flow * pressure;
    sum[energy] += worked + moved;
}

/// Dissipation from one place.
template <typename Weight>
[[gnu::always_inline]] inline void add_weighted(const Weight& weight, const double* u,
                                                std::ptrdiff_t component, Vector (&sum)[components]) {
#pragma GCC unroll 5
    for (int index = 0; index < components; ++index) {
        sum[index] += weight * load_unaligned(u + index * component);
    }
}

/// What the four places beside the point on an axis add; `step` apart, with the densities' inverses of the
/// nearer two.
template <int normal, typename Weight>
[[gnu::always_inline]] inline void add_axis(const Factors& factors, const Weight (&weight)[5],
                                            const double* here, std::ptrdiff_t component, std::ptrdiff_t step,
                                            const Vector& before, const Vector& after,
                                            Vector (&sum)[components]) {
    add_weighted(weight[0], here - 2 * step, component, sum);
    add_neighbour<normal>(factors, factors.convection, weight[1], Conserved::of(here - step, component),
                          before, sum);
    add_neighbour<normal>(factors, -factors.convection, weight[3], Conserved::of(here + step, component),
                          after, sum);
    add_weighted(weight[4], here + 2 * step, component, sum);
}

/// Of u, and from component to component of the others.
struct Strides {
    std::ptrdiff_t component;
    std::ptrdiff_t row;
    std::ptrdiff_t plane;
    std::ptrdiff_t forcing;
    std::ptrdiff_t result;
};

/// What is the same along a row: the weights along y and z, and what all is multiplied by at the end.
struct Across {
    double scale;
    FourthDifference y;
    FourthDifference z;
};

/// 1 / density of a row and those beside it in y.
struct Inverses {
    Strip* before;
    Strip* here;
    Strip* after;
};

/// A stretch of a row, and where its forcing and its result are.
struct Stretch {
    int length;
    const double* u;
    const double* forcing;
    double* result;
};

/// The places beside the ends of a strip.
void set_ends(const double* density, int length, Strip& inverses) {
    *inverses.at(-1) = 1.0 / density[-1];
    *inverses.at(length) = 1.0 / density[length];
}

void set_inverses(const double* density, int length, Strip& inverses) {
    for (int x = 0; x < length; x += lanes) {
        store(inverses.at(x), 1.0 / load(density + x));
    }
    set_ends(density, length, inverses);
}

/// Places of a vector of points.
struct Places {
    const double* u;
    const double* forcing;
    double* result;
};

/// Many short rows are too many streams for the processor to foresee. This fetches what the next row needs
/// from beyond the second cache, where the nearer planes are.
[[gnu::always_inline]] inline void fetch_ahead(const Strides& strides, const Places& here) {
#pragma GCC unroll 5
    for (int index = 0; index < components; ++index) {
        const double* const ahead = here.u + index * strides.component + strides.row;
        __builtin_prefetch(ahead + 2 * strides.plane);
        __builtin_prefetch(ahead + 2 * strides.row);
        __builtin_prefetch(here.forcing + (index + components) * strides.forcing);
        __builtin_prefetch(here.result + (index + components) * strides.result, 1);
    }
}

/// Forcing and what the point itself adds.
[[gnu::always_inline]] inline void start_sum(const Factors& factors, const Strides& strides,
                                             const Places& places, const Vector& weight,
                                             const Vector& inverse, Vector (&sum)[components]) {
#pragma GCC unroll 5
    for (int index = 0; index < components; ++index) {
        sum[index] = load(places.forcing + index * strides.forcing);
    }
    add_weighted(weight, places.u, strides.component, sum);
    add_here(factors, Conserved::of(places.u, strides.component), inverse, sum);
}

/// A vector of points, x places into the strips.
[[gnu::always_inline]] inline void make_places(const Factors& factors, const Across& across,
                                               const Strides& strides, const Weights& weights,
                                               const Inverses& inverses, const Places& places, int x) {
    const auto& [component, row, plane, forcing_component, result_component] = strides;
    Vector weight_x[5];
#pragma GCC unroll 5
    for (int distance = 0; distance < 5; ++distance) {
        weight_x[distance] = load(weights.of[distance].at(x));
    }
    Vector sum[components];
    start_sum(factors, strides, places, weight_x[2] + (across.y.weight[2] + across.z.weight[2]),
              load(inverses.here->at(x)), sum);
    // One division for three rows.
    const Vector next = load(places.u + row);
    const Vector below = load(places.u - plane);
    const Vector above = load(places.u + plane);
    const Vector inverse = 1.0 / (next * below * above);
    const Vector next_inverse = below * above * inverse;
    const Vector next_over = next * inverse;
    store(inverses.after->at(x), next_inverse);
    add_axis<0>(factors, weight_x, places.u, component, 1, load_unaligned(inverses.here->at(x - 1)),
                load_unaligned(inverses.here->at(x + 1)), sum);
    add_axis<1>(factors, across.y.weight, places.u, component, row, load(inverses.before->at(x)),
                next_inverse, sum);
    add_axis<2>(factors, across.z.weight, places.u, component, plane, above * next_over, below * next_over,
                sum);
#pragma GCC unroll 5
    for (int index = 0; index < components; ++index) {
        store(places.result + index * result_component, across.scale * sum[index]);
    }
}

/// A row's stretch; leaves 1 / density of the next row in `inverses.after`.
void make_row(const Factors& factors, const Across& across, const Strides& strides, const Weights& weights,
              const Inverses& inverses, const Stretch& stretch) {
    for (int x = 0; x < stretch.length; x += lanes) {
        Places places{.u = stretch.u + x, .forcing = stretch.forcing + x, .result = stretch.result + x};
        // One pointer for each field, from which the others are made, instead of one for each of 50 streams.
        asm("" : "+r"(places.u), "+r"(places.forcing), "+r"(places.result));
        fetch_ahead(strides, places);
        make_places(factors, across, strides, weights, inverses, places, x);
    }
    set_ends(stretch.u + strides.row, stretch.length, *inverses.after);
}

/// The x boundary and the room beyond the row are never solved for.
void clear_ends(double* result, std::ptrdiff_t component, const Extent& extent, int width) {
    for (int index = 0; index < components; ++index) {
        double* const row = result + index * component;
        for (int x = 0; x < extent.begin(); ++x) {
            row[x] = 0;
        }
        for (int x = extent.end(); x < width; ++x) {
            row[x] = 0;
        }
    }
}

/// All rows, for the places from `first` on.
void make_rows(const Block& block, const Factors& factors, View<const double> u, View<const double> forcing,
               const Rows& rows, double scale, View<double> result, int first, int length) {
    const Strides strides{u.component, u.row, u.plane, forcing.component, result.component};
    Weights weights;
    set_weights(block.x, first, length, weights);
    Strip strips[3];
    Inverses inverses{.before = &strips[0], .here = &strips[1], .after = &strips[2]};
    set_inverses(u.at(rows.z, rows.y_begin - 1) + first, length, *inverses.before);
    set_inverses(u.at(rows.z, rows.y_begin) + first, length, *inverses.here);
    Across across{.scale = scale, .y{}, .z = dissipation(block.z, rows.z, dissipation_z)};
    for (int y = rows.y_begin; y < rows.y_end; ++y) {
        across.y = dissipation(block.y, y, dissipation_y);
        make_row(factors, across, strides, weights, inverses,
                 {.length = length,
                  .u = u.at(rows.z, y) + first,
                  .forcing = forcing.at(rows.z, y) + first,
                  .result = result.at(rows.z, y) + first});
        inverses = {.before = inverses.here, .here = inverses.after, .after = inverses.before};
    }
}

void right_hand_side(const Block& block, double scale, View<const double> u, View<const double> forcing,
                     const Rows& rows, View<double> result) {
    const double steps = block.x.edge - 1;
    const Factors factors{.convection = 0.5 * steps, .viscous = viscosity * steps * steps};
    const int width = (block.x.count + row_alignment - 1) / row_alignment * row_alignment;
    for (int first = 0; first < width; first += longest_stretch) {
        const int length = width - first < longest_stretch ? width - first : longest_stretch;
        make_rows(block, factors, u, forcing, rows, scale, result, first, length);
    }
    for (int y = rows.y_begin; y < rows.y_end; ++y) {
        clear_ends(result.at(rows.z, y), result.component, block.x, width);
    }
}

}  // namespace

Functions functions() { return {.right_hand_side = right_hand_side}; }

}  // namespace tare::npb::flow::TARE_NPB_SIMD
// NOLINTEND(*-magic-numbers)
// NOLINTEND(cppcoreguidelines-pro-bounds-*,cppcoreguidelines-pro-type-member-init,*-avoid-c-arrays)
