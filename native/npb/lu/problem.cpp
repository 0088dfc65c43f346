// SPDX-License-Identifier: Apache-2.0
#include "npb/lu/problem.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "npb/common/timing.hpp"
#include "npb/flow/march.hpp"
#include "npb/lu/norms.hpp"
#include "npb/lu/ssor.hpp"

namespace tare::npb::lu {

namespace {

/// What a run must reproduce.
struct Answer {
    Norms residual{};
    Norms error{};
    double surface_integral = 0;
};

struct Class {
    ProblemClass name = ProblemClass::s;
    flow::March march{};
    Answer published{};
};

constexpr std::array<Class, 6> classes{{
    {.name = ProblemClass::s,
     .march = {12, 50, 0.5},
     .published = {{1.6196343210976702e-02, 2.1976745164821318e-03, 1.5179927653399185e-03,
                    1.5029584435994323e-03, 3.4264073155896461e-02},
                   {6.4223319957960924e-04, 8.4144342047347926e-05, 5.8588269616485186e-05,
                    5.8474222595157350e-05, 1.3103347914111294e-03},
                   7.8418928865937083e+00}},
    {.name = ProblemClass::w,
     .march = {33, 300, 0.0015},
     .published = {{0.1236511638192e+02, 0.1317228477799e+01, 0.2550120713095e+01, 0.2326187750252e+01,
                    0.2826799444189e+02},
                   {0.4867877144216e+00, 0.5064652880982e-01, 0.9281818101960e-01, 0.8570126542733e-01,
                    0.1084277417792e+01},
                   0.1161399311023e+02}},
    {.name = ProblemClass::a,
     .march = {64, 250, 2.0},
     .published = {{7.7902107606689367e+02, 6.3402765259692870e+01, 1.9499249727292479e+02,
                    1.7845301160418537e+02, 1.8384760349464247e+03},
                   {2.9964085685471943e+01, 2.8194576365003349e+00, 7.3473412698774742e+00,
                    6.7139225687777051e+00, 7.0715315688392578e+01},
                   2.6030925604886277e+01}},
    {.name = ProblemClass::b,
     .march = {102, 250, 2.0},
     .published = {{3.5532672969982736e+03, 2.6214750795310692e+02, 8.8333721850952190e+02,
                    7.7812774739425265e+02, 7.3087969592545314e+03},
                   {1.1401176380212709e+02, 8.1098963655421574e+00, 2.8480597317698308e+01,
                    2.5905394567832939e+01, 2.6054907504857413e+02},
                   4.7887162703308227e+01}},
    {.name = ProblemClass::c,
     .march = {162, 250, 2.0},
     .published = {{1.03766980323537846e+04, 8.92212458801008552e+02, 2.56238814582660871e+03,
                    2.19194343857831427e+03, 1.78078057261061185e+04},
                   {2.15986399716949279e+02, 1.55789559239863600e+01, 5.41318863077207766e+01,
                    4.82262643154045421e+01, 4.55902910043250358e+02},
                   6.66404553572181300e+01}},
    {.name = ProblemClass::d,
     .march = {408, 300, 1.0},
     .published = {{0.4868417937025e+05, 0.4696371050071e+04, 0.1218114549776e+05, 0.1033801493461e+05,
                    0.7142398413817e+05},
                   {0.3752393004482e+03, 0.3084128893659e+02, 0.9434276905469e+02, 0.8230686681928e+02,
                    0.7002620636210e+03},
                   0.8334101392503e+02}},
}};

const Class& class_of(ProblemClass name) { return find_class<Class>(classes, name, "LU"); }

/// The norms and the surface integral against the published ones.
std::vector<Check> checks(const Arguments& arguments, const Answer& computed) {
    const Answer& published = class_of(arguments.problem_class).published;
    std::vector<Check> checks;
    flow::add_norms(checks, arguments, "residual", computed.residual, published.residual);
    flow::add_norms(checks, arguments, "error", computed.error, published.error);
    flow::add_check(checks, arguments, "surface integral", computed.surface_integral,
                    published.surface_integral);
    return checks;
}

/// The layers exchanged with a neighbour are one message, whose numbers MPI counts in 32 bits.
constexpr flow::Edges edges{.least = 5, .most = 14'000};

Block checked_block(const World& world, int edge, Messages messages) {
    const Block block = Block::of(world, edge, messages);
    if (std::min(block.x.count, block.y.count) > sweep::longest_diagonal) {
        throw WrongUse("blocks of this size need more ranks");
    }
    return block;
}

/// NPB's count, a fit for cubes of edge n.
double million_operations(const flow::March& march) {
    constexpr std::array<double, 4> fit{1984.77, -10923.3, 27770.9, -144010.0};
    double horner = 0;
    for (const double coefficient : fit) {
        horner = horner * march.edge + coefficient;
    }
    constexpr double million = 1e6;
    return horner * march.steps / million;
}

/// The steps, and the norms of the residual that is left.
Norms march_through(Ssor& ssor, const Block& block, int steps) {
    for (int step = 1; step < steps; ++step) {
        ssor.step();
    }
    ssor.sweep();
    if (block.messages == Messages::reference) {
        // The reference reduces norms of the last step's change here, which nothing reads.
        static_cast<void>(residual_norms(ssor.lower_solution(), block, ssor.team()));
    }
    ssor.exchange();
    return residual_norms(ssor.residual(), block, ssor.team());
}

/// The field at its start; the reference reduces the norms of its residual too, which nothing reads.
void start(Ssor& ssor, const Block& block) {
    ssor.set_field(initial);
    if (block.messages == Messages::reference) {
        static_cast<void>(residual_norms(ssor.residual(), block, ssor.team()));
    }
}

Outcome run(const Arguments& arguments, const World& world) {
    const flow::March march = flow::march_of(arguments, class_of(arguments.problem_class).march, edges);
    const Block block = checked_block(world, march.edge, arguments.messages);
    Ssor ssor{block, march.time_step, arguments.simd, arguments.threads};
    ssor.set_forcing();
    start(ssor, block);
    ssor.step();  // untimed: memory is touched, connections are made
    start(ssor, block);
    ssor.times().clear();
    Answer answer;
    const double wall_s =
        timed(world.communicator, [&] { answer.residual = march_through(ssor, block, march.steps); });
    answer.error = error_norms(ssor.field(), block, ssor.team());
    answer.surface_integral = surface_integral(ssor.field(), block, ssor.team());
    return {.size = {march.edge, march.edge, march.edge},
            .iterations = march.steps,
            .wall_s = wall_s,
            .million_operations = million_operations(march),
            .active_ranks = world.ranks,
            .checks = checks(arguments, answer),
            .phases = ssor.times().list()};
}

}  // namespace

const Kernel kernel{.name = "LU", .settings = flow::march_settings, .run = run};

}  // namespace tare::npb::lu
