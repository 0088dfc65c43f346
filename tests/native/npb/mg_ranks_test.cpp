// SPDX-License-Identifier: Apache-2.0
// What the ranks of a run do together. With one rank these hold too; mpirun starts them with more.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

#include "npb/common/share.hpp"
#include "npb/common/team.hpp"
#include "npb/mg/charges.hpp"
#include "npb/mg/classes.hpp"
#include "npb/mg/layout.hpp"
#include "npb/mg/multigrid.hpp"

using namespace tare::npb;
using namespace tare::npb::mg;

namespace {

constexpr int cycles = 3;

/// A problem of some ranks, each with its planes.
struct Problem {
    Problem(int edge, const World& active, int threads = 1)
        : team{threads},
          layout{edge, active},
          planes{layout.planes(edge, active.rank)},
          world{active},
          multigrid{functions(runnable().back()), smoother_a, layout, active, team} {}

    /// The norm of the residual after all V-cycles.
    double solve() {
        place_charges(multigrid.right_side(), planes, world, team);
        multigrid.start_from_zero();
        multigrid.first_residual();
        for (int cycle = 1; cycle < cycles; ++cycle) {
            multigrid.iterate();
        }
        return multigrid.iterate_last();
    }

    [[nodiscard]] std::span<double> solution(int plane) {
        Field& field = multigrid.solution();
        return {field.grid().row(plane, 0), field.plane_size()};
    }

    Team team;
    Layout layout;
    Share<int> planes;
    World world;
    Multigrid multigrid;
};

double largest_difference(std::span<const double> left, std::span<const double> right) {
    double largest = 0;
    for (std::size_t place = 0; place < left.size(); ++place) {
        largest = std::max(largest, std::abs(left[place] - right[place]));
    }
    return largest;
}

/// Calls `work` with the ranks that this edge can use.
template <typename Work>
void with_active(int edge, const Work& work) {
    const World world = World::of(MPI_COMM_WORLD);
    const Communicator active = first_ranks(world, Layout{edge, world}.active_ranks());
    if (active.has_part()) {
        work(World::of(active.get()));
    }
}

}  // namespace

TEST_CASE("ranks of the run: together they find what one finds alone, to the last bit") {
    const auto check = [](int edge, int threads, const World& active) {
        Problem alone{edge, World{.communicator = MPI_COMM_SELF}, threads};
        Problem together{edge, active, threads};
        CHECK(together.solve() == doctest::Approx(alone.solve()).epsilon(1e-13));
        double difference = 0;
        for (int plane = 0; plane < together.planes.count; ++plane) {
            difference = std::max(
                difference,
                largest_difference(together.solution(plane), alone.solution(together.planes.first + plane)));
        }
        CHECK(difference == 0);
    };
    for (const int edge : {16, 32, 64}) {
        for (const int threads : {1, 2}) {
            with_active(edge, [&](const World& active) { check(edge, threads, active); });
        }
    }
}

TEST_CASE("ranks of the run: a second run remembers nothing of the first") {
    constexpr int edge = 32;
    with_active(edge, [](const World& active) {
        Problem problem{edge, active};
        const double norm = problem.solve();
        for (int plane = 0; plane < problem.planes.count; ++plane) {
            std::ranges::fill(problem.solution(plane), std::numeric_limits<double>::quiet_NaN());
        }
        CHECK(problem.solve() == norm);
    });
}
