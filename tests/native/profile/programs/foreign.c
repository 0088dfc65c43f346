// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

int MPI_Init(int* argc, char*** argv);
int MPI_Send(const void* buffer, int count, int type, int peer, int tag, int communicator);
int MPI_Wait(int* request, int* status);
int MPI_Finalize(void);

int main(int argc, char** argv) {
    int request = 0;
    int status = 0;
    MPI_Init(&argc, &argv);
    MPI_Send("", 1, 0x4c000101, 0, 5, 0x44000000);
    MPI_Wait(&request, &status);
    MPI_Finalize();
    printf("%x %d\n", (unsigned)request, status);
    return 0;
}
