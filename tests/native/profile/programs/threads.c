// SPDX-License-Identifier: Apache-2.0
// Four threads of each of two ranks send and receive 2000 messages each, all at once.
#include <mpi.h>
#include <pthread.h>

enum { threads = 4, messages = 2000 };

static int rank;

static void* exchange(void* argument) {
    const int tag = *(const int*)argument;
    char data[64] = {0};
    for (int message = 0; message < messages; ++message) {
        MPI_Request request;
        MPI_Irecv(data, sizeof data, MPI_CHAR, 1 - rank, tag, MPI_COMM_WORLD, &request);
        char sent[64] = {0};
        MPI_Send(sent, 1 + tag, MPI_CHAR, 1 - rank, tag, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    return NULL;
}

int main(int argc, char** argv) {
    int provided = 0;
    pthread_t running[threads];
    int tags[threads];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided != MPI_THREAD_MULTIPLE) {
        MPI_Finalize();
        return 3;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int thread = 0; thread < threads; ++thread) {
        tags[thread] = thread;
        pthread_create(&running[thread], NULL, exchange, &tags[thread]);
    }
    for (int thread = 0; thread < threads; ++thread) {
        pthread_join(running[thread], NULL);
    }
    MPI_Finalize();
    return 0;
}
