/* SPDX-License-Identifier: Apache-2.0 */
/* Stands before the profiler (LD_PRELOAD=this:libtareprof.so) and hands the program's MPI calls to it or past
 * it, in blocks of equally many calls, two by two in random order: what the profiler costs is then seen
 * within one run, where two runs differ by more than that. The order is the same in all ranks. The calls are
 * those that the NAS Parallel Benchmarks of Tare make.
 *
 * SWITCH_CALLS: calls before the first block and calls of a block, for each rank: "70:200,70:204". Without it
 *               all calls go to the profiler.
 * SWITCH_SEED:  of the order.
 * SWITCH_FILE:  each rank writes FILE.RANK: the number of its calls, then a line for each block, "1
 * NANOSECONDS" for the profiler's, "0 NANOSECONDS" for those past it. What came before the first, all of it
 * the profiler's, and after the last is left out. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_BLOCKS = 1 << 16, FIRST_BLOCKS = 1 };

static struct {
    void* mpi;
    uint64_t calls, every, next, order;
    int64_t began_ns;
    int blocks;
    /* Whether calls go to the profiler, and whether those of the other block of the pair do. */
    char through, other;
    char of_block[MOST_BLOCKS];
    int64_t spent_ns[MOST_BLOCKS];
} now = {.through = 1};

static int64_t clock_ns(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec * INT64_C(1000000000) + at.tv_nsec;
}

static void fail(const char* what) {
    fprintf(stderr, "profiler_switch: %s\n", what);
    abort();
}

/* xorshift64, its highest bit. */
static char coin(void) {
    now.order ^= now.order << 13;
    now.order ^= now.order >> 7;
    now.order ^= now.order << 17;
    return (char)(now.order >> 63);
}

static void end_block(void) {
    const int64_t ends_ns = clock_ns();
    if (now.blocks >= MOST_BLOCKS) {
        fail("more blocks than it can hold");
    }
    now.of_block[now.blocks] = now.through;
    now.spent_ns[now.blocks++] = ends_ns - now.began_ns;
    now.through = now.blocks % 2 == FIRST_BLOCKS % 2 ? coin() : !now.through;
    now.next += now.every;
    now.began_ns = clock_ns();
}

static void count_call(void) {
    if (++now.calls == now.next) {
        end_block();
    }
}

static void start(int rank) {
    const char* text = getenv("SWITCH_CALLS");
    for (int before = 0; text != NULL && before < rank; ++before) {
        text = strchr(text, ',');
        text = text == NULL ? NULL : text + 1;
    }
    char* end = NULL;
    now.next = text == NULL ? UINT64_MAX : strtoull(text, &end, 10);
    now.every = text == NULL ? 0 : strtoull(end + 1, NULL, 10);
    now.order = UINT64_C(0x9E3779B97F4A7C15) ^ strtoull(getenv("SWITCH_SEED"), NULL, 10);
    now.began_ns = clock_ns();
}

static void finish(int rank) {
    char path[4096];
    snprintf(path, sizeof path, "%s.%d", getenv("SWITCH_FILE"), rank);
    FILE* const file = fopen(path, "w");
    if (file == NULL) {
        fail("cannot write SWITCH_FILE");
    }
    fprintf(file, "%llu\n", (unsigned long long)now.calls);
    for (int block = FIRST_BLOCKS; block + 1 < now.blocks; ++block) {
        fprintf(file, "%d %lld\n", now.of_block[block], (long long)now.spent_ns[block]);
    }
    if (fclose(file) != 0) {
        fail("cannot write SWITCH_FILE");
    }
}

/* The function of the profiler, which is loaded next, or of MPI itself. */
static void* found(int through, const char* name) {
    if (now.mpi == NULL) {
        now.mpi = dlopen("libmpi.so.40", RTLD_LAZY | RTLD_NOLOAD);
    }
    void* const function = through ? dlsym(RTLD_NEXT, name) : dlsym(now.mpi, name);
    if (now.mpi == NULL || function == NULL) {
        fail(name);
    }
    return function;
}

#define HANDED_ON(name, parameters, arguments)                   \
    int MPI_##name parameters {                                  \
        static int(*ways[2]) parameters;                         \
        if (ways[0] == NULL) {                                   \
            ways[0] = (int(*) parameters)found(0, "MPI_" #name); \
            ways[1] = (int(*) parameters)found(1, "MPI_" #name); \
        }                                                        \
        count_call();                                            \
        return ways[(int)now.through] arguments;                 \
    }

HANDED_ON(Isend,
          (const void* data, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm,
           MPI_Request* request),
          (data, count, type, rank, tag, comm, request))
HANDED_ON(Irecv,
          (void* data, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm, MPI_Request* request),
          (data, count, type, rank, tag, comm, request))
HANDED_ON(Recv, (void* data, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm, MPI_Status* status),
          (data, count, type, rank, tag, comm, status))
HANDED_ON(Wait, (MPI_Request * request, MPI_Status* status), (request, status))
HANDED_ON(Waitall, (int count, MPI_Request requests[], MPI_Status statuses[]), (count, requests, statuses))
HANDED_ON(Test, (MPI_Request * request, int* flag, MPI_Status* status), (request, flag, status))
HANDED_ON(Testall, (int count, MPI_Request requests[], int* flag, MPI_Status statuses[]),
          (count, requests, flag, statuses))
HANDED_ON(Allreduce,
          (const void* sent, void* received, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm comm),
          (sent, received, count, type, operation, comm))
HANDED_ON(Alltoall,
          (const void* sent, int sent_count, MPI_Datatype sent_type, void* received, int received_count,
           MPI_Datatype received_type, MPI_Comm comm),
          (sent, sent_count, sent_type, received, received_count, received_type, comm))
HANDED_ON(Alltoallv,
          (const void* sent, const int sent_counts[], const int sent_starts[], MPI_Datatype sent_type,
           void* received, const int received_counts[], const int received_starts[],
           MPI_Datatype received_type, MPI_Comm comm),
          (sent, sent_counts, sent_starts, sent_type, received, received_counts, received_starts,
           received_type, comm))
HANDED_ON(Ialltoallv,
          (const void* sent, const int sent_counts[], const int sent_starts[], MPI_Datatype sent_type,
           void* received, const int received_counts[], const int received_starts[],
           MPI_Datatype received_type, MPI_Comm comm, MPI_Request* request),
          (sent, sent_counts, sent_starts, sent_type, received, received_counts, received_starts,
           received_type, comm, request))
HANDED_ON(Iallgatherv,
          (const void* sent, int sent_count, MPI_Datatype sent_type, void* received,
           const int received_counts[], const int received_starts[], MPI_Datatype received_type,
           MPI_Comm comm, MPI_Request* request),
          (sent, sent_count, sent_type, received, received_counts, received_starts, received_type, comm,
           request))
HANDED_ON(Reduce_scatter,
          (const void* sent, void* received, const int counts[], MPI_Datatype type, MPI_Op operation,
           MPI_Comm comm),
          (sent, received, counts, type, operation, comm))

/* These two always go to the profiler, which measures from the one to the other. */
int MPI_Init_thread(int* argument_count, char*** arguments, int wanted, int* provided) {
    int (*const next)(int*, char***, int, int*) =
        (int (*)(int*, char***, int, int*))found(1, "MPI_Init_thread");
    const int code = next(argument_count, arguments, wanted, provided);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    start(rank);
    return code;
}

int MPI_Finalize(void) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    finish(rank);
    int (*const next)(void) = (int (*)(void))found(1, "MPI_Finalize");
    return next();
}
