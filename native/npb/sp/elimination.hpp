// SPDX-License-Identifier: Apache-2.0
#pragma once

// Pentadiagonal systems along a line, RNR-94-007 section 3.3.3: three matrices, for waves that travel with
// the fluid (right-hand sides 0, 1, 2), with it plus the speed of sound (3), and minus it (4). Gauss
// elimination without pivots leaves rows x(i) + next x(i+1) + after_next x(i+2) = value. Always inline, so
// that hot sources may use them; `Number` is a double, or a vector of them with a line in each.
// Plain arrays, of which the compiler makes registers.
// NOLINTBEGIN(cppcoreguidelines-pro-bounds-*,*-avoid-c-arrays)
namespace tare::npb::sp {

constexpr int families = 3;
constexpr int waves = 5;

/// What a point gives to the matrix rows of its neighbours on the line, all times the time step.
template <typename Number>
struct Link {
    /// Velocity along the line / (2 spacing).
    Number convection;
    /// Speed of sound / (2 spacing).
    Number sound;
    /// Second-difference coefficient / spacing^2.
    Number spread;
};

/// A row after elimination.
template <typename Number>
struct Row {
    Number next[families];
    Number after_next[families];
    Number value[waves];
};

[[nodiscard, gnu::always_inline]] constexpr int family_of(int wave) { return wave < 3 ? 0 : wave - 2; }

/// One family's part of the elimination of a row.
template <int family, typename Number>
[[gnu::always_inline]] inline void eliminate(const Row<Number>& second_last, const Row<Number>& last,
                                             const Number& lower, const Number& diagonal, const Number& upper,
                                             const double* weight, Row<Number>& row) {
    const Number left = lower - weight[0] * second_last.next[family];
    const Number centre = diagonal - weight[0] * second_last.after_next[family] - left * last.next[family];
    const Number inverse = 1.0 / centre;
    row.next[family] = (upper - left * last.after_next[family]) * inverse;
    row.after_next[family] = weight[4] * inverse;
#pragma GCC unroll 5
    for (int wave = 0; wave < waves; ++wave) {
        if (family_of(wave) == family) {
            row.value[wave] =
                (row.value[wave] - weight[0] * second_last.value[wave] - left * last.value[wave]) * inverse;
        }
    }
}

/// Row i of all three matrices, freed of x(i-2) and x(i-1). `weight` are the fourth-difference weights of the
/// row, times the time step and the dissipation's coefficient. The row comes with its right-hand sides in
/// `value`.
template <typename Number>
[[gnu::always_inline]] inline void eliminate(const Row<Number>& second_last, const Row<Number>& last,
                                             const Link<Number>& before, const Link<Number>& here,
                                             const Link<Number>& after, const double* weight,
                                             Row<Number>& row) {
    const Number lower = weight[1] - before.convection - before.spread;
    const Number diagonal = (1.0 + weight[2]) + 2.0 * here.spread;
    const Number upper = weight[3] + after.convection - after.spread;
    eliminate<0>(second_last, last, lower, diagonal, upper, weight, row);
    eliminate<1>(second_last, last, Number(lower - before.sound), diagonal, Number(upper + after.sound),
                 weight, row);
    eliminate<2>(second_last, last, Number(lower + before.sound), diagonal, Number(upper - after.sound),
                 weight, row);
}

/// x(i) from an eliminated row, x(i+1) and x(i+2).
template <typename Number>
[[gnu::always_inline]] inline void substitute(const Row<Number>& row, const Number (&next)[waves],
                                              const Number (&after_next)[waves], Number (&solution)[waves]) {
#pragma GCC unroll 5
    for (int wave = 0; wave < waves; ++wave) {
        const int family = family_of(wave);
        solution[wave] =
            row.value[wave] - row.next[family] * next[wave] - row.after_next[family] * after_next[wave];
    }
}

}  // namespace tare::npb::sp
// NOLINTEND(cppcoreguidelines-pro-bounds-*,*-avoid-c-arrays)
