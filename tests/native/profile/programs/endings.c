// SPDX-License-Identifier: Apache-2.0
// endings abort|exit|kill|segv: rank 1 ends that way, while rank 0 waits for a message that never comes.
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int main(int argc, char** argv) {
    int rank = 0;
    char data[100] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Send(data, 77, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(data, 100, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(data, 100, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        const struct timespec span = {.tv_sec = 0, .tv_nsec = 300000000};
        nanosleep(&span, NULL);
        if (strcmp(argv[1], "abort") == 0) {
            MPI_Abort(MPI_COMM_WORLD, 42);
        } else if (strcmp(argv[1], "exit") == 0) {
            exit(3);
        } else if (strcmp(argv[1], "kill") == 0) {
            raise(SIGKILL);
        } else {
            raise(SIGSEGV);
        }
    }
    MPI_Finalize();
    return 0;
}
