// SPDX-License-Identifier: Apache-2.0
// Stands for the MPI of others: handles are numbers, not pointers, as those of MPICH and its like.
static int balance;

int MPI_Init(int* argc, char*** argv) {
    (void)argc;
    (void)argv;
    return 0;
}
int PMPI_Send(const void* buffer, int count, int type, int peer, int tag, int communicator) {
    (void)buffer;
    balance += count + type + peer + tag + communicator;
    return 0;
}
int MPI_Send(const void* buffer, int count, int type, int peer, int tag, int communicator) {
    return PMPI_Send(buffer, count, type, peer, tag, communicator);
}
int MPI_Wait(int* request, int* status) {
    *request = balance;
    *status = 7;
    return 0;
}
int MPI_Finalize(void) { return 0; }
