// SPDX-License-Identifier: Apache-2.0
// Every collective call, waiting and begun, each with a size of its own; three ranks, root 1.
#include <mpi.h>
#include <stddef.h>

enum { root = 1 };

static char sent[100000];
static char received[100000];
static int place[] = {0, 1000, 2000};
static int counts[] = {10, 20, 30};

static MPI_Request request;

static void wait(void) { MPI_Wait(&request, MPI_STATUS_IGNORE); }

static void from_and_to_root(int rank) {
    MPI_Bcast(sent, 5, MPI_INT, root, MPI_COMM_WORLD);
    MPI_Ibcast(sent, 6, MPI_INT, root, MPI_COMM_WORLD, &request);
    wait();
    MPI_Gather(sent, 7, MPI_CHAR, received, 7, MPI_CHAR, root, MPI_COMM_WORLD);
    MPI_Igather(rank == root ? MPI_IN_PLACE : sent, 8, MPI_CHAR, received, 8, MPI_CHAR, root, MPI_COMM_WORLD,
                &request);
    wait();
    // What means nothing at other ranks may point nowhere.
    MPI_Gatherv(sent, counts[rank], MPI_CHAR, received, rank == root ? counts : NULL, rank == root ? place : NULL,
                MPI_CHAR, root, MPI_COMM_WORLD);
    MPI_Igatherv(rank == root ? MPI_IN_PLACE : sent, counts[rank], MPI_CHAR, received,
                 rank == root ? counts : NULL, rank == root ? place : NULL, MPI_CHAR, root, MPI_COMM_WORLD,
                 &request);
    wait();
    MPI_Scatter(sent, 9, MPI_CHAR, received, 9, MPI_CHAR, root, MPI_COMM_WORLD);
    MPI_Iscatter(sent, 10, MPI_CHAR, rank == root ? MPI_IN_PLACE : received, 10, MPI_CHAR, root, MPI_COMM_WORLD,
                 &request);
    wait();
    MPI_Scatterv(sent, rank == root ? counts : NULL, rank == root ? place : NULL, MPI_CHAR, received, counts[rank],
                 MPI_CHAR, root, MPI_COMM_WORLD);
    MPI_Reduce(sent, received, 11, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
    MPI_Ireduce(rank == root ? MPI_IN_PLACE : sent, received, 12, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD, &request);
    wait();
}

static void to_all(int rank) {
    int send_counts[] = {1 + rank, 2 + rank, 3 + rank};
    int receive_counts[] = {1 + rank, 1 + rank, 1 + rank};
    MPI_Datatype types[] = {MPI_CHAR, MPI_CHAR, MPI_CHAR};
    for (int other = 0; other < 3; ++other) {
        send_counts[other] = 1 + other;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    wait();
    MPI_Allgather(sent, 13, MPI_CHAR, received, 13, MPI_CHAR, MPI_COMM_WORLD);
    MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, received, 14, MPI_CHAR, MPI_COMM_WORLD, &request);
    wait();
    MPI_Allgatherv(sent, counts[rank], MPI_CHAR, received, counts, place, MPI_CHAR, MPI_COMM_WORLD);
    MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, received, counts, place, MPI_CHAR, MPI_COMM_WORLD, &request);
    wait();
    MPI_Alltoall(sent, 15, MPI_CHAR, received, 15, MPI_CHAR, MPI_COMM_WORLD);
    MPI_Ialltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, received, 16, MPI_CHAR, MPI_COMM_WORLD, &request);
    wait();
    MPI_Alltoallv(sent, send_counts, place, MPI_CHAR, received, receive_counts, place, MPI_CHAR, MPI_COMM_WORLD);
    MPI_Alltoallw(sent, send_counts, place, types, received, receive_counts, place, types, MPI_COMM_WORLD);
    MPI_Allreduce(sent, received, 17, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Iallreduce(MPI_IN_PLACE, received, 18, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    wait();
    MPI_Reduce_scatter(sent, received, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Reduce_scatter_block(sent, received, 19, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Scan(sent, received, 20, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Exscan(sent, received, 21, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void to_neighbours(void) {
    const int length = 3;
    const int periodic = 1;
    MPI_Comm ring;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &length, &periodic, 0, &ring);
    MPI_Neighbor_allgather(sent, 22, MPI_CHAR, received, 22, MPI_CHAR, ring);
    MPI_Neighbor_alltoall(sent, 23, MPI_CHAR, received, 23, MPI_CHAR, ring);
    MPI_Ineighbor_alltoallv(sent, counts, place, MPI_CHAR, received, (int[]){20, 10}, place, MPI_CHAR, ring,
                            &request);
    wait();
    MPI_Comm_free(&ring);
}

static void to_memory(int rank) {
    MPI_Win window;
    char* memory = NULL;
    MPI_Win_allocate(4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    MPI_Win_fence(0, window);
    if (rank == 0) {
        MPI_Put(sent, 1000, MPI_CHAR, 1, 0, 1000, MPI_CHAR, window);
        MPI_Get(sent, 500, MPI_CHAR, 2, 0, 500, MPI_CHAR, window);
    }
    MPI_Win_fence(0, window);
    MPI_Accumulate(sent, 6, MPI_INT, 0, 40, 6, MPI_INT, MPI_SUM, window);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
}

int main(int argc, char** argv) {
    int rank = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    from_and_to_root(rank);
    to_all(rank);
    to_neighbours();
    to_memory(rank);
    MPI_Finalize();
    return 0;
}
