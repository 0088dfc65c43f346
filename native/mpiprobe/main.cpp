// SPDX-License-Identifier: Apache-2.0
// Can these MPI processes reach each other, and does MPI's clock run? Answers in less than a second, before
// anything is measured by that clock: a wrong MPI_Wtime would pass as a superb result.
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "common/json.hpp"
#include "common/system.hpp"

namespace {

using namespace std::chrono_literals;

constexpr int exit_clock_fault = 3;
constexpr auto stretch = 50ms;
constexpr double tolerance_s = 0.001;
constexpr double tolerance_share = 0.01;
constexpr int message_byte = 8192;

/// One stretch of time by two clocks, the system's read before and after each reading of MPI's: a process
/// that waits for its processor between two readings makes the bracket wider, and no clock wrong.
struct Stretch {
    double mpi_s;
    double least_s;
    double most_s;

    /// How far MPI's clock is outside of what the system's allows.
    [[nodiscard]] double difference_s() const { return std::max({0.0, least_s - mpi_s, mpi_s - most_s}); }
    [[nodiscard]] bool agrees() const { return difference_s() <= tolerance_s + tolerance_share * least_s; }
};

/// MPI's clock between two readings of the system's.
struct Reading {
    double before_s;
    double mpi_s;
    double after_s;
};

double system_s() {
    constexpr double second_per_nanosecond = 1e-9;
    return static_cast<double>(tare::monotonic_raw_ns()) * second_per_nanosecond;
}

Reading read_clocks() {
    const double before_s = system_s();
    const double mpi_s = MPI_Wtime();
    return {.before_s = before_s, .mpi_s = mpi_s, .after_s = system_s()};
}

Stretch measure_stretch() {
    const Reading start = read_clocks();
    std::this_thread::sleep_for(stretch);
    const Reading end = read_clocks();
    return {.mpi_s = end.mpi_s - start.mpi_s,
            .least_s = end.before_s - start.after_s,
            .most_s = end.after_s - start.before_s};
}

/// Every process sends to every other one, so that every connection is made now.
void exchange_with_all(int processes) {
    const auto total = static_cast<std::size_t>(processes) * message_byte;
    std::vector<char> sent(total, 'x');
    std::vector<char> received(total);
    MPI_Alltoall(sent.data(), message_byte, MPI_CHAR, received.data(), message_byte, MPI_CHAR,
                 MPI_COMM_WORLD);
}

int report(int processes, double worst_s) {
    std::string version(MPI_MAX_LIBRARY_VERSION_STRING, '\0');
    int length = 0;
    MPI_Get_library_version(version.data(), &length);
    version.resize(static_cast<std::size_t>(length));
    const auto line = tare::JsonObject{}
                          .add("processes", processes)
                          .add("library", version.substr(0, version.find(',')))
                          .add("clock_difference_s", worst_s)
                          .text();
    std::puts(line.c_str());
    return 0;
}

int probe() {
    int rank = 0;
    int processes = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    const Stretch seen = measure_stretch();
    exchange_with_all(processes);
    const double difference_s = seen.difference_s();
    double worst_s = 0;
    MPI_Allreduce(&difference_s, &worst_s, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (!seen.agrees()) {
        tare::complain("mpiprobe", "MPI_Wtime of process " + std::to_string(rank) + " counted " +
                                       std::to_string(seen.mpi_s) + " s while " +
                                       std::to_string(seen.least_s) + " s to " + std::to_string(seen.most_s) +
                                       " s went by");
        return exit_clock_fault;
    }
    return rank == 0 ? report(processes, worst_s) : 0;
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const int code = probe();
    MPI_Finalize();
    return code;
}
