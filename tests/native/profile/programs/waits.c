// SPDX-License-Identifier: Apache-2.0
// waits one|all: rank 1 makes 1600 calls, then waits a fifth of a second for a message that is longer than its
// place, prints 1 if that is the error that it gets, and is killed.
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { TO_ITSELF = 400, PLACE_BYTE = 4 };

static void send_to_itself(void) {
    char sent = 0;
    char received = 0;
    for (int message = 0; message < TO_ITSELF; ++message) {
        MPI_Request requests[2];
        MPI_Irecv(&received, 1, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(&sent, 1, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &requests[1]);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    }
}

static int error_of_wait(int is_one) {
    char place[PLACE_BYTE];
    MPI_Request request;
    MPI_Status status;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Irecv(place, PLACE_BYTE, MPI_CHAR, 0, 1, MPI_COMM_WORLD, &request);
    if (is_one) {
        status.MPI_ERROR = MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (MPI_Waitall(1, &request, &status) != MPI_ERR_IN_STATUS) {
        return -1;
    }
    int kind = 0;
    MPI_Error_class(status.MPI_ERROR, &kind);
    return kind == MPI_ERR_TRUNCATE && request == MPI_REQUEST_NULL;
}

int main(int argc, char** argv) {
    int rank = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        const struct timespec span = {.tv_sec = 0, .tv_nsec = 200000000};
        nanosleep(&span, NULL);
        char data[2 * PLACE_BYTE] = {0};
        MPI_Send(data, 2 * PLACE_BYTE, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
        MPI_Recv(data, 1, MPI_CHAR, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        send_to_itself();
        printf("%d\n", error_of_wait(strcmp(argv[1], "one") == 0));
        fflush(stdout);
        const struct timespec span = {.tv_sec = 0, .tv_nsec = 200000000};
        nanosleep(&span, NULL);
        raise(SIGKILL);
    }
    MPI_Finalize();
    return 0;
}
