// SPDX-License-Identifier: Apache-2.0
// Rank 0 sends late, and in an order that only tags and communicators tell apart; rank 1 receives. Both print when.
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdio.h>
#include <time.h>

static char data[1 << 20];
static char large[1 << 20];

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void rest(long milliseconds) {
    const struct timespec span = {.tv_sec = 0, .tv_nsec = milliseconds * 1000000};
    nanosleep(&span, NULL);
}

static void send(int count, int tag, MPI_Comm communicator) {
    const double begin_s = now_s();
    MPI_Send(data, count, MPI_CHAR, 1, tag, communicator);
    printf("send %.9f\n", begin_s);
}

static void send_all(MPI_Comm twin) {
    rest(200);
    send(8, 1, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    send(8, 3, MPI_COMM_WORLD);
    rest(100);
    send(1 << 20, 2, twin);
    rest(100);
    send(8, 2, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    send(8, 4, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void receive_all(MPI_Comm twin) {
    MPI_Request requests[3];
    double begin_s = now_s();
    MPI_Recv(data, 8, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("receive %.9f %.9f\n", begin_s, now_s());
    MPI_Irecv(data, 8, MPI_CHAR, 0, 2, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(large, 1 << 20, MPI_CHAR, 0, 2, twin, &requests[1]);
    MPI_Irecv(data + 32, 8, MPI_CHAR, 0, 3, MPI_COMM_WORLD, &requests[2]);
    MPI_Barrier(MPI_COMM_WORLD);
    begin_s = now_s();
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    printf("receive %.9f %.9f\n", begin_s, now_s());
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    begin_s = now_s();
    MPI_Recv(data, 8, MPI_CHAR, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("receive %.9f %.9f\n", begin_s, now_s());
}

int main(int argc, char** argv) {
    int rank = 0;
    MPI_Comm twin;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        send_all(twin);
    } else {
        receive_all(twin);
    }
    MPI_Comm_free(&twin);
    MPI_Finalize();
    return 0;
}
