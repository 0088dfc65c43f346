// SPDX-License-Identifier: Apache-2.0
#include "npb/mg/charges.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "npb/common/random.hpp"

namespace tare::npb::mg {

namespace {

constexpr std::uint64_t seed = 314159265;
constexpr std::size_t charges_of_a_sign = 10;
/// NPB's coarser grids lie on odd places, counted from 0; here they lie on even ones.
constexpr std::uint64_t shift = 1;

/// A random number as the generator's state, and its place in the sequence, x fastest. Ordered by number.
struct Draw {
    std::uint64_t state = 0;
    std::uint64_t place = 0;

    friend bool operator<(const Draw& left, const Draw& right) { return left.state < right.state; }
    friend bool operator>(const Draw& left, const Draw& right) { return right < left; }
};

/// The first ten of all draws in the order that `Before` gives, in that order.
template <typename Before>
class FirstTen {
  public:
    explicit FirstTen(std::uint64_t worst) { draws_.fill({.state = worst}); }

    void add(const Draw& draw) {
        if (!Before{}(draw, draws_.back())) {
            return;
        }
        draws_.back() = draw;
        for (std::size_t at = draws_.size() - 1; at > 0 && Before{}(draws_[at], draws_[at - 1]); --at) {
            std::swap(draws_[at], draws_[at - 1]);
        }
    }

    /// Of all ranks.
    void merge(const World& active) {
        constexpr int size = 2 * charges_of_a_sign;
        std::vector<Draw> all(charges_of_a_sign * static_cast<std::size_t>(active.ranks));
        MPI_Allgather(draws_.data(), size, MPI_UINT64_T, all.data(), size, MPI_UINT64_T, active.communicator);
        std::partial_sort(all.begin(), all.begin() + charges_of_a_sign, all.end(), Before{});
        std::copy_n(all.begin(), charges_of_a_sign, draws_.begin());
    }

    /// The same in the reference's messages: for each of the ten, `best` of all ranks' numbers, then its
    /// place.
    void merge_in_turn(const World& active, MPI_Op best) {
        std::array<Draw, charges_of_a_sign> merged{};
        std::size_t next = 0;
        for (Draw& draw : merged) {
            std::uint64_t state = draws_[next].state;
            MPI_Allreduce(MPI_IN_PLACE, &state, 1, MPI_UINT64_T, best, active.communicator);
            if (state == draws_[next].state) {
                draw = draws_[next++];
            }
            MPI_Allreduce(MPI_IN_PLACE, &draw, 2, MPI_UINT64_T, MPI_MAX, active.communicator);
        }
        draws_ = merged;
    }

    void add_all(const FirstTen& other) {
        for (const Draw& draw : other.draws_) {
            add(draw);
        }
    }

    [[nodiscard]] std::span<const Draw> draws() const { return draws_; }

  private:
    std::array<Draw, charges_of_a_sign> draws_{};
};

struct Extremes {
    FirstTen<std::greater<>> largest{0};
    FirstTen<std::less<>> smallest{std::numeric_limits<std::uint64_t>::max()};
};

Extremes extremes_among(const Share<std::uint64_t>& places) {
    Extremes found;
    Random random{seed};
    random.jump(places.first);
    for (std::uint64_t place = places.first; place < places.end(); ++place) {
        static_cast<void>(random.next());
        found.largest.add({.state = random.state(), .place = place});
        found.smallest.add({.state = random.state(), .place = place});
    }
    return found;
}

/// Among this rank's share of the sequence.
Extremes own_extremes(std::uint64_t places, const World& active, Team& team) {
    std::vector<Extremes> of_threads(static_cast<std::size_t>(team.threads()));
    team.run([&](int thread) {
        const int part = active.rank * team.threads() + thread;
        of_threads[static_cast<std::size_t>(thread)] =
            extremes_among(share_of(places, active.ranks * team.threads(), part));
    });
    Extremes found;
    for (const Extremes& of_thread : of_threads) {
        found.largest.add_all(of_thread.largest);
        found.smallest.add_all(of_thread.smallest);
    }
    return found;
}

void merge(Extremes& extremes, Messages messages, const World& active) {
    if (messages == Messages::reference) {
        extremes.largest.merge_in_turn(active, MPI_MAX);
        extremes.smallest.merge_in_turn(active, MPI_MIN);
    } else {
        extremes.largest.merge(active);
        extremes.smallest.merge(active);
    }
}

/// Writes the charge if its place is in the field's block.
void place(Field& field, const Draw& draw, double charge) {
    const Block& block = field.block();
    const auto edge = static_cast<std::uint64_t>(block.edge);
    std::array<int, axes.size()> own{};
    std::uint64_t left = draw.place;
    for (const Axis axis : axes) {
        const auto point = static_cast<int>((left + shift) % edge);
        if (!block.points(axis).has(point)) {
            return;
        }
        own.at(axis) = point - block.points(axis).first;
        left /= edge;
    }
    *std::next(field.grid().row(own[z_axis], own[y_axis]), own[x_axis]) = charge;
}

}  // namespace

void place_charges(Field& right_side, Messages messages, const World& active, Team& team) {
    const auto edge = static_cast<std::uint64_t>(right_side.block().edge);
    Extremes extremes = own_extremes(edge * edge * edge, active, team);
    merge(extremes, messages, active);
    right_side.set_zero(team);
    for (const Draw& draw : extremes.largest.draws()) {
        place(right_side, draw, 1.0);
    }
    for (const Draw& draw : extremes.smallest.draws()) {
        place(right_side, draw, -1.0);
    }
}

}  // namespace tare::npb::mg
