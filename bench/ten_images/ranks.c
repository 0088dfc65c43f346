// SPDX-License-Identifier: Apache-2.0
// ranks COUNT: ends with 0 only if it runs with so many MPI processes that can add their numbers.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank = 0, size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    long sum = 0;
    for (int round = 0; round < 2000; ++round) {
        const long own = rank;
        MPI_Allreduce(&own, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    if (argc < 2 || size != atoi(argv[1]) || sum != (long)size * (size - 1) / 2) {
        fprintf(stderr, "ranks: rank %d of %d, sum %ld\n", rank, size, sum);
        return 1;
    }
    return 0;
}
