/* SPDX-License-Identifier: Apache-2.0 */
/* The loop that anybody would write to time a call of MPI: mpirun -np N messages CALL SIZE:COUNT ...
 *
 * Prints "SIZE SECONDS" a line: the mean over the ranks of each one's mean time for one of COUNT calls, after
 * as many calls to warm up as are a tenth of it. The calls are those that the Intel MPI Benchmarks' user
 * guide defines: allreduce sums floats, bcast changes its root, and exchange is with both neighbours of a
 * closed chain. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PAGE_BYTE = 4096
}; /* where each buffer begins: places within a page decide over a quarter of a time */

static int rank, ranks;

static void allreduce(char* out, char* in, int size, long turn) {
    (void)turn;
    MPI_Allreduce(out, in, size / (int)sizeof(float), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

static void bcast(char* out, char* in, int size, long turn) {
    const int root = (int)(turn % ranks);
    MPI_Bcast(root == rank ? out : in, size, MPI_BYTE, root, MPI_COMM_WORLD);
}

static void exchange(char* out, char* in, int size, long turn) {
    (void)turn;
    const int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    MPI_Request sent[2];
    MPI_Isend(out, size, MPI_BYTE, right, 1, MPI_COMM_WORLD, &sent[0]);
    MPI_Isend(out, size, MPI_BYTE, left, 2, MPI_COMM_WORLD, &sent[1]);
    MPI_Recv(in, size, MPI_BYTE, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(in + (size / PAGE_BYTE + 1) * PAGE_BYTE, size, MPI_BYTE, right, 2, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    MPI_Waitall(2, sent, MPI_STATUSES_IGNORE);
}

static const struct {
    const char* name;
    void (*call)(char*, char*, int, long);
} calls[] = {{"allreduce", allreduce}, {"bcast", bcast}, {"exchange", exchange}};

static void measure(void (*call)(char*, char*, int, long), int size, long count) {
    const size_t room = ((size_t)size / PAGE_BYTE + 1) * PAGE_BYTE;
    char *out = aligned_alloc(PAGE_BYTE, room), *in = aligned_alloc(PAGE_BYTE, 2 * room);
    memset(out, 1, room); /* what was never written is one page of zeros, in the first cache */
    for (long turn = 0; turn < count / 10 + 4; ++turn) {
        call(out, in, size, turn);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin_s = MPI_Wtime();
    for (long turn = 0; turn < count; ++turn) {
        call(out, in, size, turn);
    }
    double own_s = (MPI_Wtime() - begin_s) / (double)count, sum_s = 0;
    MPI_Reduce(&own_s, &sum_s, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%d %.12f\n", size, sum_s / ranks);
    }
    free(out);
    free(in);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (size_t place = 0; argc > 1 && place < sizeof calls / sizeof *calls; ++place) {
        if (strcmp(calls[place].name, argv[1]) == 0) {
            for (int argument = 2; argument < argc; ++argument) {
                const char* colon = strchr(argv[argument], ':');
                measure(calls[place].call, atoi(argv[argument]), colon ? atol(colon + 1) : 1);
            }
        }
    }
    MPI_Finalize();
    return 0;
}
