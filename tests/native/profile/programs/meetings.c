// SPDX-License-Identifier: Apache-2.0
// Three ranks come to collective calls at different times; each prints when it came to those that wait, and
// left.
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdio.h>
#include <time.h>

enum { root = 1 };

static int rank;

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void rest(long milliseconds) {
    const struct timespec span = {.tv_sec = 0, .tv_nsec = milliseconds * 1000000};
    nanosleep(&span, NULL);
}

static void say(const char* call, double begin_s) {
    printf("%s %d %.9f %.9f\n", call, rank, begin_s, now_s());
}

int main(int argc, char** argv) {
    int number = 1;
    int sum = 0;
    MPI_Comm reversed;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);

    rest(100 * rank);
    double begin_s = now_s();
    MPI_Barrier(MPI_COMM_WORLD);
    say("barrier", begin_s);

    // Begun by all, and waited for elsewhere: it has its place in the order of calls, but is no waiting.
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);

    rest(rank == root ? 100 : 0);
    begin_s = now_s();
    MPI_Bcast(&number, 1, MPI_INT, root, MPI_COMM_WORLD);
    say("broadcast", begin_s);

    rest(rank == 0 ? 100 : 0);
    begin_s = now_s();
    MPI_Reduce(&number, &sum, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
    say("reduce", begin_s);

    MPI_Barrier(MPI_COMM_SELF);
    rest(rank == 2 ? 100 : 0);
    begin_s = now_s();
    MPI_Allreduce(&number, &sum, 1, MPI_INT, MPI_SUM, reversed);
    say("allreduce", begin_s);

    MPI_Comm_free(&reversed);
    MPI_Finalize();
    return 0;
}
