// SPDX-License-Identifier: Apache-2.0
// shares FILE: spends known times computing, communicating and in MPI-IO, and prints what its own clock says.
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdio.h>
#include <time.h>

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void compute(double limit_s) {
    const double end_s = now_s() + limit_s;
    while (now_s() < end_s) {
    }
}

// Most of it is waiting for the rank that computes longest.
static double communicate(int rank, int ranks) {
    const double start_s = now_s();
    static char data[1 << 20];
    for (int round = 0; round < 20; ++round) {
        MPI_Sendrecv_replace(data, sizeof data, MPI_CHAR, (rank + 1) % ranks, 0, (rank + ranks - 1) % ranks, 0,
                             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return now_s() - start_s;
}

static double write_file(const char* path, int rank) {
    const double start_s = now_s();
    static char data[1 << 20];
    MPI_File file;
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    for (int round = 0; round < 8; ++round) {
        MPI_File_write_at_all(file, (MPI_Offset)(rank * 8 + round) << 20, data, sizeof data, MPI_CHAR,
                              MPI_STATUS_IGNORE);
    }
    MPI_File_close(&file);
    return now_s() - start_s;
}

int main(int argc, char** argv) {
    int rank = 0;
    int ranks = 0;
    const double start_s = now_s();
    MPI_Init(&argc, &argv);
    const double init_s = now_s() - start_s;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const double computing_s = now_s();
    compute(0.8 + 0.4 * rank);
    const double compute_s = now_s() - computing_s;
    const double communication_s = communicate(rank, ranks);
    const double io_s = write_file(argv[1], rank);
    MPI_Barrier(MPI_COMM_WORLD);
    const double wall_s = now_s() - start_s;
    printf("%d %.9f %.9f %.9f %.9f %.9f\n", rank, wall_s, init_s, compute_s, communication_s, io_s);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
