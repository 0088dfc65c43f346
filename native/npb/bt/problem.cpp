// SPDX-License-Identifier: Apache-2.0
#include "npb/bt/problem.hpp"

#include "npb/bt/cell_solver.hpp"
#include "npb/bt/classes.hpp"
#include "npb/bt/solver.hpp"
#include "npb/flow/border.hpp"
#include "npb/flow/square_run.hpp"

namespace tare::npb::bt {

namespace {

/// See `flow::run_on_square`.
struct Bt {
    using Solver = bt::Solver;
    using CellSolver = bt::CellSolver;
    using Times = bt::Times;

    static constexpr flow::Edges edges{.least = 5, .most = flow::most_edge};

    [[nodiscard]] static const flow::Class& class_of(ProblemClass name) {
        return find_class<flow::Class>(classes, name, "BT");
    }

    /// NPB's own count (NPB 3.4).
    [[nodiscard]] static double million_operations(const flow::March& march) {
        constexpr double per_million = 1e-6;
        constexpr double per_point = 3478.8;
        constexpr double per_face_point = -17655.7;
        constexpr double per_edge_point = 28023.7;
        const double edge = march.edge;
        return per_million * march.steps * edge *
               (per_edge_point + edge * (per_face_point + edge * per_point));
    }
};

}  // namespace

const Kernel kernel{.name = "BT", .settings = flow::march_settings, .run = flow::run_on_square<Bt>};

}  // namespace tare::npb::bt
