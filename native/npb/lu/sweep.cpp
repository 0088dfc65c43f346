// SPDX-License-Identifier: Apache-2.0
// The hot loops of LU's two triangular sweeps (RNR-94-007 section 4.3), one diagonal after the other. A
// solved point at once computes what it adds to the right sides of its three neighbours ahead.
#include "npb/lu/sweep.hpp"

#include "npb/lu/point.hpp"

// Walking through rows is what these loops do, and hot sources hold no standard containers.
// NOLINTBEGIN(cppcoreguidelines-pro-bounds-*,cppcoreguidelines-pro-type-member-init,*-avoid-c-arrays)

namespace tare::npb::lu::sweep::TARE_NPB_SIMD {

using namespace lu::TARE_NPB_SIMD;  // NOLINT(google-build-using-namespace): the vector type's own

namespace {

/// How far ahead, in groups, memory is asked for: it takes as long as the work on so many.
constexpr std::ptrdiff_t ahead = 32;

/// Where what is passed on lies: from the last diagonal, to the next one, and between planes.
struct Front {
    const double* from_x;
    const double* from_y;
    double* to_x;
    double* to_y;
    double* passed;
};

[[gnu::always_inline]] inline void gather(const Front& front, std::ptrdiff_t along,
                                          Vector (&right)[quantities]) {
    const double* const passed = front.passed + group_offset(along);
    for (int m = 0; m < quantities; ++m) {
        right[m] = load(passed + m * group) + load_unaligned(front.from_x + m * Wave::pitch + along) +
                   load_unaligned(front.from_y + m * Wave::pitch + along);
    }
}

[[gnu::always_inline]] inline void pass_on_all(const State& state, const Change& change, double convection,
                                               double diffusion, const Front& front, std::ptrdiff_t along) {
    const Effect effect = effect_of(state, change, convection, diffusion);
    double* const passed = front.passed + group_offset(along);
    Vector given[quantities];
    pass_on<0>(state, change, effect, convection, diffusion, given);
    for (int m = 0; m < quantities; ++m) {
        store(front.to_x + m * Wave::pitch + along, given[m]);
    }
    pass_on<1>(state, change, effect, convection, diffusion, given);
    for (int m = 0; m < quantities; ++m) {
        store(front.to_y + m * Wave::pitch + along, given[m]);
    }
    pass_on<2>(state, change, effect, convection, diffusion, given);
    for (int m = 0; m < quantities; ++m) {
        store(passed + m * group, given[m]);
    }
}

[[nodiscard, gnu::always_inline]] inline Change load_change(const double* at) {
    return {load(at), {load(at + group), load(at + 2 * group), load(at + 3 * group)}, load(at + 4 * group)};
}

[[gnu::always_inline]] inline void store_change(double* at, const Change& change) {
    store(at, change.density);
    for (int axis = 0; axis < 3; ++axis) {
        store(at + (axis + 1) * group, change.velocity[axis]);
    }
    store(at + flow::energy * group, change.specific_energy);
}

[[gnu::always_inline]] inline void add(Change& sum, const Change& change) {
    sum.density += change.density;
    for (int axis = 0; axis < 3; ++axis) {
        sum.velocity[axis] += change.velocity[axis];
    }
    sum.specific_energy += change.specific_energy;
}

/// Copies what an end point of a diagonal passes on over the block's edge.
[[gnu::always_inline]] inline void copy_edge(const double* from, double* to, std::ptrdiff_t count) {
    for (int m = 0; m < quantities; ++m) {
        to[m * count] = from[m * Wave::pitch];
    }
}

void clear(const Mesh& mesh, const Waves& waves) {
    const int longest = mesh.x_count < mesh.y_count ? mesh.x_count : mesh.y_count;
    const std::size_t used = sizeof(double) * static_cast<std::size_t>(longest + Wave::front + group);
    for (int parity = 0; parity < 2; ++parity) {
        for (int m = 0; m < quantities; ++m) {
            __builtin_memset(waves.own[parity].to_x[m], 0, used);
            __builtin_memset(waves.own[parity].to_y[m], 0, used);
        }
    }
}

/// The waves that a diagonal takes and makes, if it is the first or last one that the sweep comes to.
struct Passage {
    const Wave& from;
    Wave& to;
};

Passage passage_of(const Waves& waves, int sum, int first, int last) {
    const bool is_received = sum == first && waves.received != nullptr;
    const bool is_sent = sum == last && waves.to_send != nullptr;
    return {.from = is_received ? *waves.received : waves.own[1 - sum % 2],
            .to = is_sent ? *waves.to_send : waves.own[sum % 2]};
}

/// `from` is how far the last diagonal's x and y neighbours are from this one's points.
Front front_of(const Passage& passage, const Diagonal& diagonal, int from_x, int from_y, double* passed) {
    return {.from_x = passage.from.to_x[0] + Wave::front + from_x,
            .from_y = passage.from.to_y[0] + Wave::front + from_y,
            .to_x = passage.to.to_x[0] + Wave::front,
            .to_y = passage.to.to_y[0] + Wave::front,
            .passed = passed + diagonal.group_offset};
}

void lower_diagonal(const Diagonal& diagonal, std::ptrdiff_t pitch, const SweepFactors& all_factors,
                    const double* __restrict field, double* __restrict change, const Front& front) {
    const SweepFactors factors = all_factors;
    for (int along = 0; along < diagonal.length; along += lanes) {
        const State state = state_at(field + along, pitch, factors);
        Vector right[quantities];
        gather(front, along, right);
        for (int m = 0; m < quantities; ++m) {
            // In unused lanes there must be no trace of what was passed on over the edge.
            const Vector whole = right[m] + load(change + group_offset(along) + m * group);
            right[m] = first_lanes(diagonal.length - along, whole, Vector{});
        }
        const Change solution = solved(state, factors, right);
        store_change(change + group_offset(along), solution);
        pass_on_all(state, solution, factors.convection, factors.diffusion, front, along);
    }
}

void lower(const Mesh& mesh, const SweepFactors& factors, const double* field, double* change, double* passed,
           const Waves& waves, const Outflow& outflow) {
    clear(mesh, waves);
    for (int sum = mesh.first; sum < mesh.end; ++sum) {
        const Diagonal& diagonal = mesh.diagonals[sum];
        const Passage passage = passage_of(waves, sum, mesh.first, mesh.end - 1);
        const Front front = front_of(passage, diagonal, diagonal.shift, diagonal.shift - 1, passed);
        lower_diagonal(diagonal, mesh.pitch, factors, field + diagonal.offset, change + diagonal.group_offset,
                       front);
        const int last = diagonal.length - 1;
        if (outflow.x != nullptr && diagonal.first_x == mesh.x_count - 1) {
            copy_edge(front.to_x, outflow.x + diagonal.first_y, mesh.y_count);
        }
        if (outflow.y != nullptr && diagonal.first_y + last == mesh.y_count - 1) {
            copy_edge(front.to_y + last, outflow.y + diagonal.first_x - last, mesh.x_count);
        }
    }
}

void upper_diagonal(const Diagonal& diagonal, std::ptrdiff_t pitch, const SweepFactors& all_factors,
                    double* __restrict field, const double* __restrict change, const Front& front) {
    const SweepFactors factors = all_factors;
    for (int along = 0; along < diagonal.length; along += lanes) {
        for (int m = 0; m < quantities; ++m) {
            __builtin_prefetch(field + along + m * pitch - ahead * group, 1);
            __builtin_prefetch(change + group_offset(along) + (m - ahead * quantities) * group);
        }
        const State state = state_at(field + along, pitch, factors);
        Vector right[quantities];
        gather(front, along, right);
        Change total = solved(state, factors, right);
        add(total, load_change(change + group_offset(along)));
        pass_on_all(state, total, -factors.convection, factors.diffusion, front, along);
        Vector conserved[quantities];
        to_conserved(state, total, conserved);
        for (int m = 0; m < quantities; ++m) {
            double* const to = field + along + m * pitch;
            const Vector old = load(to);
            store(to, first_lanes(diagonal.length - along, old + factors.update * conserved[m], old));
        }
    }
}

void upper(const Mesh& mesh, const SweepFactors& factors, double* field, const double* change, double* passed,
           const Waves& waves, const Outflow& outflow) {
    clear(mesh, waves);
    for (int sum = mesh.end - 1; sum >= mesh.first; --sum) {
        const Diagonal& diagonal = mesh.diagonals[sum];
        const Passage passage = passage_of(waves, sum, mesh.end - 1, mesh.first);
        const Front front =
            front_of(passage, diagonal, -diagonal.next_shift, 1 - diagonal.next_shift, passed);
        upper_diagonal(diagonal, mesh.pitch, factors, field + diagonal.offset, change + diagonal.group_offset,
                       front);
        const int last = diagonal.length - 1;
        if (outflow.x != nullptr && diagonal.first_x == last) {
            copy_edge(front.to_x + last, outflow.x + diagonal.first_y + last, mesh.y_count);
        }
        if (outflow.y != nullptr && diagonal.first_y == 0) {
            copy_edge(front.to_y, outflow.y + diagonal.first_x, mesh.x_count);
        }
    }
}

}  // namespace

Functions functions() { return {.lower = lower, .upper = upper}; }

}  // namespace tare::npb::lu::sweep::TARE_NPB_SIMD

// NOLINTEND(cppcoreguidelines-pro-bounds-*,cppcoreguidelines-pro-type-member-init,*-avoid-c-arrays)
