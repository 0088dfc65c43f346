// SPDX-License-Identifier: Apache-2.0
#include "npb/sp/problem.hpp"

#include "npb/flow/border.hpp"
#include "npb/flow/square_run.hpp"
#include "npb/sp/cell_solver.hpp"
#include "npb/sp/classes.hpp"
#include "npb/sp/solver.hpp"

namespace tare::npb::sp {

namespace {

/// See `flow::run_on_square`.
struct Sp {
    using Solver = sp::Solver;
    using CellSolver = sp::CellSolver;
    using Times = sp::Times;

    static constexpr flow::Edges edges{.least = 6, .most = flow::most_edge};

    [[nodiscard]] static const flow::Class& class_of(ProblemClass name) {
        return find_class<flow::Class>(classes, name, "SP");
    }

    /// NPB's own count (NPB 3.4).
    [[nodiscard]] static double million_operations(const flow::March& march) {
        constexpr double per_million = 1e-6;
        constexpr double per_point = 881.174;
        constexpr double per_face_point = -4683.91;
        constexpr double per_edge_point = 11484.5;
        constexpr double per_step = -19272.4;
        const double edge = march.edge;
        return per_million * march.steps *
               (per_step + edge * (per_edge_point + edge * (per_face_point + edge * per_point)));
    }
};

}  // namespace

const Kernel kernel{.name = "SP", .settings = flow::march_settings, .run = flow::run_on_square<Sp>};

}  // namespace tare::npb::sp
