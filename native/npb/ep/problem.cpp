// SPDX-License-Identifier: Apache-2.0
#include "npb/ep/problem.hpp"

#include <array>
#include <cmath>
#include <span>
#include <string_view>

#include "npb/common/timing.hpp"
#include "npb/ep/verify.hpp"

namespace tare::npb::ep {

namespace {

constexpr std::array<std::string_view, 1> settings{"exponent"};

constexpr double million = 1e6;

enum class Part { compute, reduce };

/// This rank's batches: as even as they can be.
struct Share {
    std::int64_t first;
    std::int64_t count;
};

Share share_of(std::int64_t batches, const World& world) {
    const auto start_of = [&](std::int64_t rank) { return batches * rank / world.ranks; };
    return {.first = start_of(world.rank), .count = start_of(world.rank + 1) - start_of(world.rank)};
}

void reduce(Tally& tally, const World& world) {
    MPI_Allreduce(MPI_IN_PLACE, &tally.x, 1, MPI_DOUBLE, MPI_SUM, world.communicator);
    MPI_Allreduce(MPI_IN_PLACE, &tally.y, 1, MPI_DOUBLE, MPI_SUM, world.communicator);
    MPI_Allreduce(MPI_IN_PLACE, std::span{tally.at_least}.data(), annuli, MPI_INT64_T, MPI_SUM,
                  world.communicator);
}

int exponent_of(const Arguments& arguments) {
    constexpr int most = 44;
    const int exponent = arguments.setting("exponent", class_of(arguments.problem_class).exponent);
    if (exponent < batch_exponent || exponent > most) {
        throw WrongUse("exponent is 16 to 44");
    }
    return exponent;
}

Outcome run(const Arguments& arguments, const World& world) {
    refuse_threads(arguments);
    const int exponent = exponent_of(arguments);
    const Share share = share_of(std::int64_t{1} << (exponent - batch_exponent), world);
    Phases<Part, 2> phases{{"compute", "reduce"}};
    Tally tally;
    const double wall_s = timed(world.communicator, [&] {
        phases.time(Part::compute,
                    [&] { functions(arguments.simd).add_batches(share.first, share.count, tally); });
        phases.time(Part::reduce, [&] { reduce(tally, world); });
    });
    return {.size = {std::int64_t{2} << exponent},
            .iterations = 0,
            .wall_s = wall_s,
            .million_operations = std::ldexp(1.0, exponent + 1) / million,
            .operation = "Random numbers generated",
            .active_ranks = world.ranks,
            .checks = checks(arguments, tally),
            .phases = phases.list()};
}

}  // namespace

const Kernel kernel{.name = "EP", .settings = settings, .run = run};

}  // namespace tare::npb::ep
