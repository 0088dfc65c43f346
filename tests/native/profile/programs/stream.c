// SPDX-License-Identifier: Apache-2.0
// stream COUNT [kill]: rank 0 sends COUNT messages of 0, 1, ... 99, 0, 1, ... byte to rank 1, which always
// has 40 receives open and waits for them one by one, any one and all. To be killed, rank 1 ends so after the
// last, while rank 0 waits for an answer.
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

enum { OPEN = 40, MOST_BYTE = 100 };

static char places[OPEN][MOST_BYTE];
static MPI_Request requests[OPEN];

static void send_all(int count) {
    for (int message = 0; message < count; ++message) {
        MPI_Request request;
        MPI_Isend(places[0], message % MOST_BYTE, MPI_CHAR, 1, message % 3, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

static void receive(int place) {
    MPI_Irecv(places[place], MOST_BYTE, MPI_CHAR, place % 2 == 0 ? 0 : MPI_ANY_SOURCE, MPI_ANY_TAG,
              MPI_COMM_WORLD, &requests[place]);
}

static int wait_for_some(int turn) {
    int ended = turn % OPEN;
    if (turn % 2 == 0) {
        MPI_Waitany(OPEN, requests, &ended, MPI_STATUS_IGNORE);
    } else {
        MPI_Wait(&requests[ended], MPI_STATUS_IGNORE);
    }
    return ended;
}

static void receive_all(int count) {
    for (int place = 0; place < OPEN; ++place) {
        receive(place);
    }
    for (int turn = 0; turn < count - OPEN; ++turn) {
        receive(wait_for_some(turn));
    }
    MPI_Waitall(OPEN, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char** argv) {
    int rank = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int count = atoi(argv[1]);
    if (rank == 0) {
        send_all(count);
    } else {
        receive_all(count);
    }
    if (argc > 2 && rank == 1) {
        const struct timespec span = {.tv_sec = 0, .tv_nsec = 300000000};
        nanosleep(&span, NULL);
        raise(SIGKILL);
    }
    if (argc > 2) {
        MPI_Recv(places[0], 1, MPI_CHAR, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
