// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "npb/bt/elimination.hpp"
#include "npb/bt/jacobians.hpp"
#include "npb/bt/lines.hpp"

// For hot sources only: what the systems of all directions need. Internal to each of them, so that each is
// compiled as if alone.
// Vectors need plain pointers and arrays, and are set element by element.
// NOLINTBEGIN(cppcoreguidelines-pro-bounds-*,cppcoreguidelines-pro-type-member-init)
// NOLINTBEGIN(cppcoreguidelines-avoid-c-arrays,modernize-avoid-c-arrays)
namespace tare::npb::bt::TARE_NPB_SIMD {

static inline Factors factors_of(const flow::Extent& extent, double dissipation, double time_step) {
    const double steps = extent.edge - 1;
    return {.convection = time_step * steps / 2,
            .viscous = time_step * flow::viscosity * steps * steps,
            .diffusion = time_step * dissipation * steps * steps};
}

[[gnu::always_inline]] inline void load_point(const double* values, std::ptrdiff_t component,
                                              Vector (&point)[size]) {
#pragma GCC unroll 5
    for (int index = 0; index < size; ++index) {
        point[index] = load(values + index * component);
    }
}

[[gnu::always_inline]] inline Kept kept_at(const Bundle& bundle, int place) {
    return {bundle.kept + std::ptrdiff_t{place} * kept * lanes};
}

/// Lines along z have each place in another page: the processor does not foresee where the next lines begin.
[[gnu::always_inline]] inline void prefetch(const double* values, std::ptrdiff_t component) {
#pragma GCC unroll 5
    for (int index = 0; index < size; ++index) {
        __builtin_prefetch(values + index * component);
    }
}

/// Eliminates the unknowns from the first place to the last. `before`: what is kept of the place before the
/// first; returns what is kept of the last.
template <int normal>
static Kept eliminate(const Bundle& bundle, const Factors& factors, Kept before) {
    Matrix own;
    Matrix after[2];
    Matrix next;
    Vector u[size];
    const int begin = bundle.extent.begin();
    load_point(bundle.u + (begin - 1) * bundle.u_step, bundle.component, u);
    set_couplings<normal>(u, factors, own, after[0], next);
    load_point(bundle.u + begin * bundle.u_step, bundle.component, u);
    set_couplings<normal>(u, factors, own, after[1], next);
    for (int place = begin; place < bundle.extent.end(); ++place) {
        if (normal == 2) {
            prefetch(bundle.u + place * bundle.u_step + lanes, bundle.component);
            prefetch(bundle.right + place * bundle.right_step + lanes, bundle.component);
        }
        Matrix& coupling = after[(place - begin) % 2];
        Matrix block;
        Vector right[size];
        load_point(bundle.right + place * bundle.right_step, bundle.component, right);
        set_block(own, block);
        eliminate_before<normal>(coupling, before, block, right);
        load_point(bundle.u + (place + 1) * bundle.u_step, bundle.component, u);
        set_couplings<normal>(u, factors, own, coupling, next);
        before = kept_at(bundle, place);
        keep(block, next, right, before);
    }
    return before;
}

/// The unknowns of a place, from the next place's, which they replace.
[[gnu::always_inline]] inline void substitute_place(const Kept& here, Vector (&point)[size]) {
    Vector found[size];
#pragma GCC unroll 5
    for (int row = 0; row < size; ++row) {
        found[row] = load(here.right(row));
#pragma GCC unroll 5
        for (int column = 0; column < size; ++column) {
            found[row] -= load(here.next(row, column)) * point[column];
        }
    }
#pragma GCC unroll 5
    for (int row = 0; row < size; ++row) {
        point[row] = found[row];
    }
}

enum class Solution { replaces, is_added };

template <Solution use>
static void substitute(const Bundle& bundle, double* state) {
    Vector point[size];
    load_point(state, lanes, point);
    for (int place = bundle.extent.end() - 1; place >= bundle.extent.begin(); --place) {
        substitute_place(kept_at(bundle, place), point);
        double* const into = use == Solution::replaces ? bundle.right + place * bundle.right_step
                                                       : bundle.u + place * bundle.u_step;
#pragma GCC unroll 5
        for (int row = 0; row < size; ++row) {
            double* const value = into + row * bundle.component;
            store(value, use == Solution::replaces ? point[row] : load(value) + point[row]);
        }
    }
    for (std::ptrdiff_t row = 0; row < size; ++row) {
        store(state + row * lanes, point[row]);
    }
}

/// `state` becomes what is kept of the last place.
template <int normal>
static void eliminate_lines(const Bundle& bundle, double dissipation, double* state) {
    const Factors factors = factors_of(bundle.extent, dissipation, bundle.time_step);
    const Kept last = eliminate<normal>(bundle, factors, {state});
    for (std::ptrdiff_t row = 0; row < kept; ++row) {
        store(state + row * lanes, load(last.values + row * lanes));
    }
}

/// Where a component of a point's lanes lies: [x][component][lane].
[[gnu::always_inline]] inline std::ptrdiff_t in_lanes(int x, int component) {
    return (std::ptrdiff_t{x} * size + component) * lanes;
}

/// From rows of points to places of lanes.
static inline void gather(flow::View<const double> from, int z, const int (&y)[lanes], int begin, int end,
                          double* to) {
    for (int component = 0; component < size; ++component) {
        for (int x = begin; x < end; x += lanes) {
            Vector tile[lanes];
#pragma GCC unroll 8
            for (int lane = 0; lane < lanes; ++lane) {
                tile[lane] = load(from.at(z, y[lane], component) + x);
            }
            transpose(tile);
#pragma GCC unroll 8
            for (int lane = 0; lane < lanes; ++lane) {
                store(to + in_lanes(x + lane, component), tile[lane]);
            }
        }
    }
}

/// And back, the first `rows` of them.
static inline void scatter(const double* from, int width, flow::View<double> to, int z, int y_begin,
                           int rows) {
    for (int component = 0; component < size; ++component) {
        for (int x = 0; x < width; x += lanes) {
            Vector tile[lanes];
#pragma GCC unroll 8
            for (int lane = 0; lane < lanes; ++lane) {
                tile[lane] = load(from + in_lanes(x + lane, component));
            }
            transpose(tile);
            for (int lane = 0; lane < rows; ++lane) {
                store(to.at(z, y_begin + lane, component) + x, tile[lane]);
            }
        }
    }
}

constexpr std::ptrdiff_t step = std::ptrdiff_t{size} * lanes;

static inline int whole_rows(const flow::Extent& x) {
    return (x.count + flow::row_alignment - 1) / flow::row_alignment * flow::row_alignment;
}

/// The row of each lane: those beyond the last row are the last once more.
static inline void set_rows(int first, int used, int (&y)[lanes]) {
    for (int lane = 0; lane < lanes; ++lane) {
        y[lane] = first + (lane < used ? lane : used - 1);
    }
}

/// `Functions`, where a rank holds a part of the rows.
void eliminate_x(const LinesX& lines, double* state);
void substitute_x(const LinesX& lines, double* state);

}  // namespace tare::npb::bt::TARE_NPB_SIMD
// NOLINTEND(cppcoreguidelines-avoid-c-arrays,modernize-avoid-c-arrays)
// NOLINTEND(cppcoreguidelines-pro-bounds-*,cppcoreguidelines-pro-type-member-init)
