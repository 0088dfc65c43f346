// SPDX-License-Identifier: Apache-2.0
// A program with a measuring layer of its own: its MPI_Send calls PMPI_Send.
#include <mpi.h>
#include <stdio.h>

static int seen;

int MPI_Send(const void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm communicator) {
    ++seen;
    return PMPI_Send(buffer, count, type, peer, tag, communicator);
}

int main(int argc, char** argv) {
    int rank = 0;
    char data[10] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int message = 0; message < 3; ++message) {
        if (rank == 0) {
            MPI_Send(data, 10, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
        } else {
            MPI_Recv(data, 10, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    if (rank == 0) {
        printf("%d\n", seen);
    }
    MPI_Finalize();
    return 0;
}
