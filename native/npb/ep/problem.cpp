// SPDX-License-Identifier: Apache-2.0
#include "npb/ep/problem.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "npb/common/buffer.hpp"
#include "npb/common/share.hpp"
#include "npb/common/team.hpp"
#include "npb/common/timing.hpp"
#include "npb/ep/verify.hpp"

namespace tare::npb::ep {

namespace {

constexpr std::array<std::string_view, 1> settings{"exponent"};

constexpr double million = 1e6;

enum class Part { compute, reduce };

void add(Tally& sum, const Tally& part) {
    sum.x += part.x;
    sum.y += part.y;
    const std::span at_least{sum.at_least};
    const std::span more{part.at_least};
    std::transform(at_least.begin(), at_least.end(), more.begin(), at_least.begin(), std::plus{});
}

/// One thread's, in cache lines of its own.
struct alignas(buffer_alignment_byte) ThreadTally {
    Tally value;
};

/// The threads' tallies are added in their order, so that the sums are the same in each run.
Tally tally_of(const Share<std::int64_t>& batches, Team& team, Simd simd) {
    std::vector<ThreadTally> tallies(static_cast<std::size_t>(team.threads()));
    team.run([&](int thread) {
        const auto part = team.part(thread, batches.count);
        functions(simd).add_batches(batches.first + part.first, part.count,
                                    tallies[static_cast<std::size_t>(thread)].value);
    });
    Tally sum;
    for (const ThreadTally& tally : tallies) {
        add(sum, tally.value);
    }
    return sum;
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
    const int exponent = exponent_of(arguments);
    const auto batches = share_of(std::int64_t{1} << (exponent - batch_exponent), world.ranks, world.rank);
    Team team{arguments.threads};
    Phases<Part, 2> phases{{"compute", "reduce"}};
    Tally tally;
    const double wall_s = timed(world.communicator, [&] {
        phases.time(Part::compute, [&] { tally = tally_of(batches, team, arguments.simd); });
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
