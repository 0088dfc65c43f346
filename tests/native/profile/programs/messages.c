// SPDX-License-Identifier: Apache-2.0
// Every way to send a message from one process to another, each with a size of its own; three ranks.
#include <mpi.h>
#include <stdlib.h>

static char sent[1 << 20];
static char received[1 << 20];

static void modes(int rank) {
    enum { most = 5000 };
    if (rank == 0) {
        char* const buffer = malloc(10000);
        MPI_Buffer_attach(buffer, 10000);
        MPI_Send(sent, 100, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
        MPI_Ssend(sent, 200, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
        MPI_Bsend(sent, 300, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Rsend(sent, 400, MPI_CHAR, 1, 2, MPI_COMM_WORLD);
        int size = 0;
        char* detached = NULL;
        MPI_Buffer_detach(&detached, &size);
        free(buffer);
    } else if (rank == 1) {
        MPI_Request request;
        MPI_Irecv(received, most, MPI_CHAR, 0, 2, MPI_COMM_WORLD, &request);
        for (int message = 0; message < 3; ++message) {
            MPI_Recv(received, most, MPI_CHAR, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

// Rank 0 sends two messages to rank 1, which ends the receives in each way that there is.
static void ends(int rank) {
    MPI_Request requests[2];
    for (int way = 0; way < 7; ++way) {
        if (rank == 0) {
            MPI_Isend(sent, 1000 + way, MPI_CHAR, 1, 10 + way, MPI_COMM_WORLD, &requests[0]);
            MPI_Isend(sent, 2000 + way, MPI_CHAR, 1, 10 + way, MPI_COMM_WORLD, &requests[1]);
            MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        } else if (rank == 1) {
            int done = 0;
            int index = 0;
            int indices[2];
            MPI_Status statuses[2];
            MPI_Irecv(received, 5000, MPI_CHAR, 0, 10 + way, MPI_COMM_WORLD, &requests[0]);
            MPI_Irecv(received + 5000, 5000, MPI_CHAR, 0, 10 + way, MPI_COMM_WORLD, &requests[1]);
            if (way == 0) {
                MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
            } else if (way == 1) {
                MPI_Waitall(2, requests, statuses);
            } else if (way == 2) {
                MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
                MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
            } else if (way == 3) {
                for (int left = 2; left > 0; left -= done) {
                    MPI_Waitsome(2, requests, &done, indices, MPI_STATUSES_IGNORE);
                }
            } else if (way == 4) {
                while (!done) {
                    MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE);
                }
            } else if (way == 5) {
                for (int left = 2; left > 0; left -= done) {
                    MPI_Testany(2, requests, &index, &done, MPI_STATUS_IGNORE);
                }
            } else {
                for (int left = 2; left > 0; left -= done) {
                    MPI_Testsome(2, requests, &done, indices, statuses);
                }
            }
        }
    }
}

static void persistent(int rank) {
    MPI_Request requests[2];
    if (rank == 2) {
        MPI_Send_init(sent, 512, MPI_CHAR, 0, 20, MPI_COMM_WORLD, &requests[0]);
        MPI_Ssend_init(sent, 600, MPI_CHAR, 0, 21, MPI_COMM_WORLD, &requests[1]);
    } else if (rank == 0) {
        MPI_Recv_init(received, 4096, MPI_CHAR, 2, 20, MPI_COMM_WORLD, &requests[0]);
        MPI_Recv_init(received + 4096, 4096, MPI_CHAR, 2, 21, MPI_COMM_WORLD, &requests[1]);
    }
    if (rank != 1) {
        for (int round = 0; round < 3; ++round) {
            MPI_Startall(2, requests);
            MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        }
        MPI_Start(&requests[0]);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        MPI_Request_free(&requests[0]);
        MPI_Request_free(&requests[1]);
    }
}

static void exchanges(int rank) {
    const int next = (rank + 1) % 3;
    const int previous = (rank + 2) % 3;
    MPI_Sendrecv(sent, 30 + rank, MPI_CHAR, next, 30, received, 1000, MPI_CHAR, previous, 30, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv_replace(sent, 44, MPI_CHAR, previous, 31, next, 31, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void matched(int rank) {
    if (rank == 1) {
        MPI_Send(sent, 61, MPI_CHAR, 2, 40, MPI_COMM_WORLD);
        MPI_Send(sent, 62, MPI_CHAR, 2, 41, MPI_COMM_WORLD);
    } else if (rank == 2) {
        MPI_Message message;
        MPI_Request request;
        int found = 0;
        MPI_Mprobe(1, 40, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        MPI_Mrecv(received, 100, MPI_CHAR, &message, MPI_STATUS_IGNORE);
        while (!found) {
            MPI_Improbe(MPI_ANY_SOURCE, 41, MPI_COMM_WORLD, &found, &message, MPI_STATUS_IGNORE);
        }
        MPI_Imrecv(received, 100, MPI_CHAR, &message, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

// In communicators whose ranks are not those of MPI_COMM_WORLD.
static void elsewhere(int rank) {
    MPI_Comm reversed;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    if (rank == 2) {
        MPI_Send(sent, 70, MPI_CHAR, 2, 50, reversed);  // the world's rank 0
    } else if (rank == 0) {
        MPI_Recv(received, 100, MPI_CHAR, 0, 50, reversed, MPI_STATUS_IGNORE);
    }
    MPI_Comm_free(&reversed);

    MPI_Comm side;
    MPI_Comm both;
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0, rank, &side);
    MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, rank == 0 ? 1 : 0, 51, &both);
    if (rank == 0) {
        MPI_Send(sent, 80, MPI_CHAR, 1, 52, both);  // the world's rank 2
    } else if (rank == 2) {
        MPI_Recv(received, 100, MPI_CHAR, 0, 52, both, MPI_STATUS_IGNORE);
    }
    MPI_Comm_free(&both);
    MPI_Comm_free(&side);
}

static void nothing_arrives(int rank) {
    MPI_Request request;
    MPI_Send(sent, 9999, MPI_CHAR, MPI_PROC_NULL, 60, MPI_COMM_WORLD);
    MPI_Recv(received, 9999, MPI_CHAR, MPI_PROC_NULL, 60, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Irecv(received, 9999, MPI_CHAR, MPI_PROC_NULL, 60, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Irecv(received, 9999, MPI_CHAR, (rank + 1) % 3, 61, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

// Data with gaps, and a message without data; to itself as well.
static void shapes(int rank) {
    MPI_Datatype sparse;
    MPI_Request request;
    MPI_Type_vector(4, 1, 2, MPI_DOUBLE, &sparse);
    MPI_Type_commit(&sparse);
    MPI_Irecv(received, 4, MPI_DOUBLE, rank, 70, MPI_COMM_WORLD, &request);
    MPI_Send(sent, 1, sparse, rank, 70, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Irecv(received, 4, MPI_DOUBLE, rank, 71, MPI_COMM_WORLD, &request);
    MPI_Send(NULL, 0, MPI_DOUBLE, rank, 71, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Type_free(&sparse);
}

int main(int argc, char** argv) {
    int rank = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    modes(rank);
    ends(rank);
    persistent(rank);
    exchanges(rank);
    matched(rank);
    elsewhere(rank);
    nothing_arrives(rank);
    shapes(rank);
    MPI_Finalize();
    return 0;
}
