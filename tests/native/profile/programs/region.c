// SPDX-License-Identifier: Apache-2.0
// Two ranks pass twice through the region that MPI_Pcontrol marks; set-up and output lie outside.
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <time.h>

static void rest(long milliseconds) {
    const struct timespec span = {.tv_sec = 0, .tv_nsec = milliseconds * 1000000};
    nanosleep(&span, NULL);
}

int main(int argc, char** argv) {
    int rank = 0;
    char data[64] = {0};
    char other[64];
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Bcast(data, 64, MPI_CHAR, 0, MPI_COMM_WORLD);
    rest(100);
    for (int passage = 0; passage < 2; ++passage) {
        MPI_Irecv(other, 64, MPI_CHAR, 1 - rank, 1, MPI_COMM_WORLD, &request);
        MPI_Pcontrol(1, "another tool's name");
        MPI_Pcontrol(1);
        MPI_Send(data, 10 + passage, MPI_CHAR, 1 - rank, 1, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        rest(50);
        MPI_Pcontrol(0);
        MPI_Pcontrol(0);
        MPI_Pcontrol(2);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
