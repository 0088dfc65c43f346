/* SPDX-License-Identifier: Apache-2.0 */
/* Two functions that send, of which one does so from two lines; rank 1 receives all, the last by requests. */
#include <mpi.h>
#include <stdio.h>

enum { FROM_LOOP = 5, FROM_FIRST = 3, BYTE = 16 };

static char data[BYTE];

__attribute__((noinline)) static void send_often(void) {
    for (int message = 0; message < FROM_LOOP; ++message) {
        MPI_Send(data, BYTE, MPI_BYTE, 1, 0, MPI_COMM_WORLD); /* the loop's */
    }
}

__attribute__((noinline)) static void send_twice(void) {
    MPI_Send(data, FROM_FIRST, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    MPI_Send(data, 1, MPI_BYTE, 1, 0, MPI_COMM_WORLD); /* the second */
}

__attribute__((noinline)) static void receive_all(void) {
    MPI_Request last;
    for (int message = 0; message <= FROM_LOOP; ++message) {
        MPI_Recv(data, BYTE, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Irecv(data, BYTE, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &last);
    MPI_Wait(&last, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        send_often();
        send_twice();
    } else {
        receive_all();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
