// SPDX-License-Identifier: Apache-2.0
// LU's sweeps against the equations themselves, differentiated numerically.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <vector>

#include "lu_flows.hpp"
#include "npb/lu/ssor.hpp"

namespace lu = tare::npb::lu;
namespace flow = tare::npb::flow;

using lu::Block;
using lu::Field;
using lu::GroupField;
using lu::Layout;
using lu::Point;
using lu::tests::block_of;
using lu::tests::combined;
using lu::tests::group_point;
using lu::tests::largest;
using lu::tests::varied_flow;
using tare::npb::runnable;
using tare::npb::Simd;
using tare::npb::Team;

namespace {

// The equations once more, as RNR-94-007 section 3.2 writes them.

Point convective_flux(const Point& u, std::size_t axis) {
    const double square = u[1] * u[1] + u[2] * u[2] + u[3] * u[3];
    const double pressure = flow::pressure_factor * (u[4] - square / (2 * u[0]));
    const double speed = u.at(axis + 1) / u[0];
    Point flux = combined({}, speed, u);
    flux.at(axis + 1) += pressure;
    flux[4] += speed * pressure;
    return flux;
}

/// What is differenced once more and divided by the distance.
Point viscous_potential(const Point& u, std::size_t axis) {
    Point found{0, u[1] / u[0], u[2] / u[0], u[3] / u[0], 0};
    const double square = found[1] * found[1] + found[2] * found[2] + found[3] * found[3];
    const double along = found.at(axis + 1);
    found.at(axis + 1) *= 4.0 / 3.0;
    found[4] = (1 - flow::conduction) / 2 * square + along * along / 6 + flow::conduction * u[4] / u[0];
    return combined({}, flow::viscosity, found);
}

template <typename Function>
Point derivative(const Function& function, const Point& u, const Point& change, std::size_t axis) {
    constexpr double small = 1e-5;
    const Point ahead = function(combined(u, small, change), axis);
    const Point behind = function(combined(u, -small, change), axis);
    return combined({}, 1 / (2 * small), combined(ahead, -1, behind));
}

/// Viscous Jacobian and dissipation of an axis.
Point diffusion(const Point& u, const Point& change, std::size_t axis) {
    const double dissipation = axis == 2 ? flow::dissipation_z : flow::dissipation_x;
    return combined(derivative(viscous_potential, u, change, axis), dissipation, change);
}

Point diagonal_block(const Point& u, const Point& change, double time_step, double spacing) {
    Point found = change;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        found = combined(found, 2 * time_step / (spacing * spacing), diffusion(u, change, axis));
    }
    return found;
}

/// `sign` is -1 for a neighbour behind, 1 for one ahead.
Point neighbour_block(const Point& u, const Point& change, std::size_t axis, double sign, double time_step,
                      double spacing) {
    const Point convection =
        combined({}, sign * time_step / (2 * spacing), derivative(convective_flux, u, change, axis));
    return combined(convection, -time_step / (spacing * spacing), diffusion(u, change, axis));
}

/// What the lower sweep leaves: changes of density, velocities and specific energy.
Point conserved(const Point& u, const Point& change) {
    Point found = combined({}, change[0] / u[0], u);
    for (std::size_t m = 1; m < found.size(); ++m) {
        found.at(m) += u[0] * change.at(m);
    }
    return found;
}

using Place = std::array<int, 3>;

/// A block of points, and the flow that the Jacobians are taken at.
struct Grid {
    static constexpr int edge = 21;
    static constexpr double time_step = 0.01;
    static constexpr double spacing = 1.0 / (edge - 1);

    Block block;

    [[nodiscard]] bool has(const Place& at) const {
        return std::ranges::min(at) >= 0 && at[0] < block.x.count && at[1] < block.y.count &&
               at[2] < block.z.count;
    }
    [[nodiscard]] static Point flow(const Place& at) {
        return varied_flow(coordinate(at[0]), coordinate(at[1]), coordinate(at[2]));
    }
    /// What two sweeps added to the flow, before the step's over-relaxation.
    [[nodiscard]] static Point change(const Field& field, const Place& at) {
        constexpr double omega = lu::over_relaxation;
        const Point now = field.point(at[0], at[1], at[2]);
        return combined({}, omega * (2 - omega), combined(now, -1, flow(at)));
    }
    [[nodiscard]] std::vector<Place> places() const {
        std::vector<Place> found;
        for (int z = 0; z < block.z.count; ++z) {
            for (int y = 0; y < block.y.count; ++y) {
                for (int x = 0; x < block.x.count; ++x) {
                    found.push_back({x, y, z});
                }
            }
        }
        return found;
    }

  private:
    [[nodiscard]] static double coordinate(int place) { return spacing * (place + 1); }
};

Point diagonal_block(const Place& at, const Point& change) {
    return diagonal_block(Grid::flow(at), change, Grid::time_step, Grid::spacing);
}

using Points = std::map<Place, Point>;

template <typename Function>
Points points(const Grid& grid, const Function& function) {
    Points found;
    for (const Place& at : grid.places()) {
        found.emplace(at, function(at));
    }
    return found;
}

/// The matrix row of a triangle at a point, times `change`.
Point row_product(const Grid& grid, const Place& at, int sign, const Points& change) {
    Point found = diagonal_block(at, change.at(at));
    for (std::size_t axis = 0; axis < 3; ++axis) {
        Place neighbour = at;
        neighbour.at(axis) += sign;
        if (grid.has(neighbour)) {
            found = combined(found, lu::over_relaxation,
                             neighbour_block(Grid::flow(neighbour), change.at(neighbour), axis, sign,
                                             Grid::time_step, Grid::spacing));
        }
    }
    return found;
}

/// Solves the diagonal block's system, which is a lower triangle: viscous forces know no energy, and a
/// momentum changes no other.
Point diagonal_solution(const Place& at, Point right) {
    Point found{};
    for (std::size_t m = 0; m < found.size(); ++m) {
        Point one{};
        one.at(m) = 1;
        const Point column = diagonal_block(at, one);
        found.at(m) = right.at(m) / column.at(m);
        right = combined(right, -found.at(m), column);
    }
    return found;
}

/// Of a pencil that is the whole plane.
lu::sweep::Waves own_of(tare::npb::Buffer<lu::sweep::Wave>& waves) {
    return {.own = waves.data(), .received = nullptr, .to_send = nullptr};
}

/// The two sweeps over a whole block, and what goes in and comes out.
class Sweeps {
  public:
    Sweeps(const Block& block, Simd simd)
        : grid_{block},
          layout_{block.x.count, block.y.count},
          functions_{lu::sweep::functions(simd)},
          factors_{lu::SweepFactors::of(Grid::spacing, Grid::time_step)},
          field_{block, layout_},
          right_{layout_, block.z.count},
          change_{layout_, block.z.count},
          waves_{2} {
        field_.set(varied_flow, team_);
        for (const auto& [x, y, z] : grid_.places()) {
            for (int m = 0; m < lu::quantities; ++m) {
                const auto place = static_cast<std::size_t>(layout_.group_offset(x, y, m));
                right_.plane(z)[place] = std::sin(1.0 + 3 * x + 5 * y + 7 * z + 11 * m);
                change_.plane(z)[place] = right_.plane(z)[place];
            }
        }
    }

    void lower() {
        GroupField passed{layout_, 1};
        for (int z = 0; z < grid_.block.z.count; ++z) {
            functions_.lower(layout_.mesh(), factors_, field_.plane(z), change_.plane(z).data(),
                             passed.plane(0).data(), own_of(waves_), {.x = nullptr, .y = nullptr});
        }
    }

    void upper() {
        GroupField passed{layout_, 1};
        for (int z = grid_.block.z.count - 1; z >= 0; --z) {
            functions_.upper(layout_.mesh(), factors_, field_.plane(z), change_.plane(z).data(),
                             passed.plane(0).data(), own_of(waves_), {.x = nullptr, .y = nullptr});
        }
    }

    [[nodiscard]] const Grid& grid() const { return grid_; }
    [[nodiscard]] Point right(const Place& at) { return group_point(layout_, right_, at[0], at[1], at[2]); }
    [[nodiscard]] Point lower_solution(const Place& at) {
        return conserved(Grid::flow(at), group_point(layout_, change_, at[0], at[1], at[2]));
    }
    [[nodiscard]] Point step_change(const Place& at) const { return Grid::change(field_, at); }

  private:
    Grid grid_;
    Layout layout_;
    lu::sweep::Functions functions_;
    lu::SweepFactors factors_;
    Field field_;
    GroupField right_;
    GroupField change_;
    tare::npb::Buffer<lu::sweep::Wave> waves_;
    Team team_{1};
};

const std::array<std::array<int, 3>, 4> shapes{{{5, 4, 3}, {3, 7, 2}, {1, 6, 2}, {11, 10, 2}}};

}  // namespace

TEST_CASE("LU's lower sweep solves its triangle, on blocks of any shape") {
    for (const Simd simd : runnable()) {
        for (const auto& [x, y, z] : shapes) {
            Sweeps sweeps{block_of(x, y, z, Grid::edge), simd};
            sweeps.lower();
            const Points solution =
                points(sweeps.grid(), [&](const Place& at) { return sweeps.lower_solution(at); });
            for (const Place& at : sweeps.grid().places()) {
                const Point product = row_product(sweeps.grid(), at, -1, solution);
                CHECK(largest(combined(product, -1, sweeps.right(at))) < 1e-7);
            }
        }
    }
}

TEST_CASE("LU's upper sweep solves its triangle from the lower one's solution, on blocks of any shape") {
    for (const Simd simd : runnable()) {
        for (const auto& [x, y, z] : shapes) {
            Sweeps sweeps{block_of(x, y, z, Grid::edge), simd};
            sweeps.lower();
            sweeps.upper();
            const Points change =
                points(sweeps.grid(), [&](const Place& at) { return sweeps.step_change(at); });
            for (const Place& at : sweeps.grid().places()) {
                const Point product = row_product(sweeps.grid(), at, 1, change);
                const Point right = diagonal_block(at, sweeps.lower_solution(at));
                CHECK(largest(combined(product, -1, right)) < 1e-7);
            }
        }
    }
}

TEST_CASE("a whole step of LU solves (D + L) D^-1 (D + U) change = time step * residual") {
    const Grid grid{block_of(6, 5, 4, Grid::edge)};
    for (const Simd simd : runnable()) {
        lu::Ssor ssor{grid.block, Grid::time_step, simd};
        ssor.set_forcing();
        ssor.set_field(varied_flow);
        GroupField& groups = ssor.residual();
        const Points residual = points(
            grid, [&](const Place& at) { return group_point(ssor.layout(), groups, at[0], at[1], at[2]); });
        ssor.step();
        const Points change = points(grid, [&](const Place& at) { return Grid::change(ssor.field(), at); });
        const Points between = points(
            grid, [&](const Place& at) { return diagonal_solution(at, row_product(grid, at, 1, change)); });
        for (const auto& [at, right] : residual) {
            const Point left = row_product(grid, at, -1, between);
            CHECK(largest(combined(left, -Grid::time_step, right)) < 1e-7);
        }
    }
}

TEST_CASE("a block that hands over at its edge and the block that takes it make one") {
    const Block whole = block_of(9, 6, 1, Grid::edge);
    const Block left = block_of(4, 6, 1, Grid::edge);
    Block right = block_of(5, 6, 1, Grid::edge);
    right.x.first = 5;
    for (const Simd simd : runnable()) {
        const auto functions = lu::sweep::functions(simd);
        const auto factors = lu::SweepFactors::of(whole.spacing(), Grid::time_step);
        tare::npb::Buffer<lu::sweep::Wave> waves{2};
        Team team{1};
        const auto lower = [&](const Block& block, std::vector<double>& handed, std::vector<double>* out) {
            const Layout layout{block.x.count, block.y.count};
            Field field{block, layout};
            field.set(varied_flow, team);
            GroupField change{layout, 1};
            GroupField passed{layout, 1};
            for (int y = 0; y < block.y.count; ++y) {
                for (int m = 0; m < lu::quantities; ++m) {
                    for (int x = 0; x < block.x.count; ++x) {
                        change.plane(0)[static_cast<std::size_t>(layout.group_offset(x, y, m))] =
                            std::sin(1.0 + 3 * (block.x.first + x) + 5 * y + 11 * m);
                    }
                    const int number = m * block.y.count + y;
                    passed.plane(0)[static_cast<std::size_t>(layout.group_offset(0, y, m))] +=
                        handed[static_cast<std::size_t>(number)];
                }
            }
            functions.lower(layout.mesh(), factors, field.plane(0), change.plane(0).data(),
                            passed.plane(0).data(), own_of(waves),
                            {.x = out == nullptr ? nullptr : out->data(), .y = nullptr});
            return group_point(layout, change, block.x.count - 1, block.y.count - 1, 0);
        };
        std::vector<double> nothing(30);
        std::vector<double> handed(30);
        lower(left, nothing, &handed);
        const Point in_parts = lower(right, handed, nullptr);
        const Point at_once = lower(whole, nothing, nullptr);
        CHECK(largest(combined(in_parts, -1, at_once)) < 1e-13);
    }
}
