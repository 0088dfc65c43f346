// SPDX-License-Identifier: Apache-2.0
// Stands for the MPI of others: handles are numbers, not pointers, as those of MPICH and its like.
static int balance;

#ifdef OF_STANDARD_INTERFACE
int ompi_mpi_comm_world;  // comes along with Open MPI's library for MPI 5's own binary interface
#endif

int PMPI_Init(int* argc, char*** argv) {
    (void)argc;
    (void)argv;
    return 0;
}
int MPI_Init(int* argc, char*** argv) { return PMPI_Init(argc, argv); }
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
