// SPDX-License-Identifier: Apache-2.0
// Times one kind of communication within groups of ranks, all groups at once, over message sizes, and checks
// that every message arrives as it was sent. Rank 0 prints one line of JSON.
#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "collective/measure.hpp"
#include "collective/places.hpp"
#include "common/exec.hpp"
#include "common/json.hpp"
#include "common/system.hpp"

namespace {

using namespace tare::collective;

constexpr const char* program = "collective";

/// Communicators of a run; null in ranks that take no part.
struct Communicators {
    MPI_Comm active = MPI_COMM_NULL;
    MPI_Comm group = MPI_COMM_NULL;
};

Communicators split(const Groups& groups) {
    const int rank = tare::rank_in(MPI_COMM_WORLD);
    const auto own = groups.of(rank);
    Communicators made;
    MPI_Comm_split(MPI_COMM_WORLD, own ? 0 : MPI_UNDEFINED, rank, &made.active);
    MPI_Comm_split(MPI_COMM_WORLD, own.value_or(MPI_UNDEFINED), rank, &made.group);
    return made;
}

tare::JsonObject described(const Measured& measured) {
    return tare::JsonObject{}
        .add("size_byte", measured.point.size_byte)
        .add("count", measured.point.count)
        .add("min_s", measured.min_s)
        .add("mean_s", measured.mean_s)
        .add("max_s", measured.max_s)
        .add("wrong_ranks", measured.wrong_ranks);
}

void report(const Options& options, const Groups& groups, const Places& places,
            const std::vector<Measured>& all) {
    std::vector<tare::JsonObject> points;
    points.reserve(all.size());
    for (const Measured& measured : all) {
        points.push_back(described(measured));
    }
    const auto line = tare::JsonObject{}
                          .add("benchmark", name_of(options.benchmark))
                          .add("ranks", tare::size_of(MPI_COMM_WORLD))
                          .add("active_ranks", groups.active())
                          .add("groups", groups.count())
                          .add("group_ranks", groups.group_ranks())
                          .add("mapping", options.mapping == Mapping::near ? "near" : "far")
                          .add("nodes", places.nodes)
                          .add("groups_in_node", places.groups_in_node)
                          .add("points", points)
                          .text();
    std::puts(line.c_str());
}

/// Of rank 0.
void complain_of(const Measured& measured, const Groups& groups) {
    tare::complain(program, std::to_string(measured.wrong_ranks) + " of " + std::to_string(groups.active()) +
                                " ranks received something else than was sent, in messages of " +
                                std::to_string(measured.point.size_byte) + " bytes");
}

/// Of every rank that takes part: the exit code.
int take_part(const Options& options, const Groups& groups, const Communicators& made) {
    const int rank = tare::rank_in(MPI_COMM_WORLD);
    const Member member{.group = made.group,
                        .group_number = groups.of(rank).value_or(0),
                        .rank = tare::rank_in(made.group),
                        .ranks = groups.group_ranks()};
    const Places places = find_places(made.active, made.group);
    std::vector<Measured> all;
    for (const Point& point : options.points) {
        const Measured measured = measure(options.benchmark, member, point, made.active);
        if (measured.wrong_ranks != 0) {
            if (rank == 0) {
                complain_of(measured, groups);
            }
            return 1;
        }
        all.push_back(measured);
    }
    if (rank == 0) {
        report(options, groups, places, all);
    }
    return 0;
}

/// Waits for all ranks without taking a processor, in which MPI itself would spin.
void wait_for_all() {
    constexpr std::chrono::milliseconds look_every{10};
    MPI_Request all = MPI_REQUEST_NULL;
    MPI_Ibarrier(MPI_COMM_WORLD, &all);
    int arrived = 0;
    MPI_Test(&all, &arrived, MPI_STATUS_IGNORE);
    while (arrived == 0) {
        std::this_thread::sleep_for(look_every);
        MPI_Test(&all, &arrived, MPI_STATUS_IGNORE);
    }
}

int run(std::span<char* const> arguments) {
    try {
        const Options options = parse_options(arguments);
        const Groups groups{tare::size_of(MPI_COMM_WORLD), options.group_ranks, options.mapping};
        const Communicators made = split(groups);
        const int code = made.active == MPI_COMM_NULL ? 0 : take_part(options, groups, made);
        wait_for_all();
        return code;
    } catch (const std::invalid_argument& error) {  // in all ranks alike
        if (tare::rank_in(MPI_COMM_WORLD) == 0) {
            tare::complain(program, error.what());
        }
        return tare::exit_wrong_use;
    } catch (const std::exception& error) {
        tare::complain(program, error.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
        return 1;
    }
}

}  // namespace

int main(int argc, char** argv) {
    const tare::Mpi mpi{&argc, &argv};
    return run(std::span<char* const>{argv, static_cast<std::size_t>(argc)}.subspan(1));
}
