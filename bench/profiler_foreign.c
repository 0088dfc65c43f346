/* SPDX-License-Identifier: Apache-2.0 */
/* Stands before the profiler in any MPI program (LD_PRELOAD=this:libtareprof.so), and hands the program's calls to it
 * or past it, in blocks of calls. Each function that the profiler has is a jump, so none of their arguments need be
 * known, and the profiler sees the caller; "switched.inc" lists them. For x86-64 and Open MPI.
 *
 * SWITCH_PLAN: each rank reads FILE.RANK: lines "CALL THROUGH", at which call a block begins and whether it goes to
 *              the profiler (1) or past it (0). Without it all calls go to the profiler, and each is a block.
 * SWITCH_FILE: each rank writes FILE.RANK: 64-bit numbers, of its calls and then when each block began, in ns. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

enum { MOST_BLOCKS = 1 << 26 };

struct block {
    int64_t call;
    int through;
};

/* What the jumps read: calls until the next block, which way, and both ways of each function. */
#define OF_JUMPS __attribute__((visibility("hidden")))
OF_JUMPS int64_t switch_left = INT64_MAX;
OF_JUMPS int switch_through = 1;
OF_JUMPS void* switch_ways[512][2];
OF_JUMPS void switch_turn(void);

static struct {
    int has_plan;
    int64_t blocks, planned, left_at_turn;
    int64_t* began_ns;
    struct block* plan;
} now;

static void fail(const char* what) {
    fprintf(stderr, "profiler_foreign: %s\n", what);
    abort();
}

static void* room(size_t byte) {
    void* const memory =
        mmap(NULL, byte, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        fail("no memory");
    }
    return memory;
}

static FILE* opened(const char* variable, const char* mode) {
    char path[4096];
    snprintf(path, sizeof path, "%s.%s", getenv(variable), getenv("OMPI_COMM_WORLD_RANK"));
    FILE* const file = fopen(path, mode);
    if (file == NULL) {
        fail(path);
    }
    return file;
}

static void read_plan(void) {
    FILE* const file = opened("SWITCH_PLAN", "r");
    now.plan = room(sizeof(struct block) * MOST_BLOCKS);
    struct block* next = now.plan;
    while (fscanf(file, "%ld %d", &next->call, &next->through) == 2) {
        ++next;
    }
    now.planned = next - now.plan;
    fclose(file);
}

/* Calls until the block that begins next. */
static int64_t until_next(int64_t calls) {
    if (!now.has_plan) {
        return 1;
    }
    return now.blocks < now.planned ? now.plan[now.blocks].call - calls : INT64_MAX;
}

void switch_turn(void) {
    if (now.blocks >= MOST_BLOCKS) {
        fail("more blocks than it can hold");
    }
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    const int64_t calls = now.has_plan ? now.plan[now.blocks].call : now.blocks + 1;
    switch_through = now.has_plan ? now.plan[now.blocks].through : 1;
    now.began_ns[now.blocks++] = at.tv_sec * INT64_C(1000000000) + at.tv_nsec;
    switch_left = now.left_at_turn = until_next(calls);
}

static int64_t calls_made(void) {
    const int64_t before = now.blocks == 0 ? 0 : now.has_plan ? now.plan[now.blocks - 1].call : now.blocks;
    return before + now.left_at_turn - switch_left;
}

/* The registers of six arguments are kept, as a turn may happen in any call. */
__asm__(
    ".text\n"
    "switch_turn_saved:\n"
    "  push %rdi\n  push %rsi\n  push %rdx\n  push %rcx\n  push %r8\n  push %r9\n  push %rax\n  sub $8, %rsp\n"
    "  call switch_turn\n"
    "  add $8, %rsp\n  pop %rax\n  pop %r9\n  pop %r8\n  pop %rcx\n  pop %rdx\n  pop %rsi\n  pop %rdi\n  ret\n");

#define COUNTED "  subq $1, switch_left(%rip)\n  jne 1f\n  call switch_turn_saved\n1:\n"
#define UNCOUNTED ""
#define SWITCHED(number, name, counted)                                                                  \
    __asm__(".text\n.globl " #name "\n.type " #name ", @function\n" #name ":\n" counted                  \
            "  movl switch_through(%rip), %r11d\n  leaq switch_ways+16*" #number                         \
            "(%rip), %r10\n"                                                                             \
            "  jmp *(%r10,%r11,8)\n.size " #name ", .-" #name "\n");
#include "switched.inc"
#undef SWITCHED

static void* in_mpi(const char* name) {
    void* const mpi = dlopen("libmpi.so.40", RTLD_LAZY | RTLD_NOLOAD);
    void* const function = mpi == NULL ? NULL : dlsym(mpi, name);
    if (function == NULL) {
        fail(name);
    }
    return function;
}

/* The profiler's function; without a profiler, to see that the switch itself costs the same both ways, MPI's. */
static void* profilers(const char* name) {
    void* const function = dlsym(RTLD_NEXT, name);
    return function == NULL ? in_mpi(name) : function;
}

static void find_ways(void) {
#define SWITCHED(number, name, counted)       \
    switch_ways[number][0] = in_mpi(#name);   \
    switch_ways[number][1] = profilers(#name);
#include "switched.inc"
}

static void start(void) {
    now.has_plan = getenv("SWITCH_PLAN") != NULL;
    if (now.has_plan) {
        read_plan();
    }
    now.began_ns = room(sizeof(int64_t) * MOST_BLOCKS);
    switch_left = now.left_at_turn = until_next(0);
}

static void finish(void) {
    FILE* const file = opened("SWITCH_FILE", "wb");
    const int64_t calls = calls_made();
    switch_left = INT64_MAX;
    switch_through = 1;
    if (fwrite(&calls, sizeof calls, 1, file) != 1 ||
        fwrite(now.began_ns, sizeof calls, (size_t)now.blocks, file) != (size_t)now.blocks || fclose(file) != 0) {
        fail("cannot write SWITCH_FILE");
    }
}

/* These always go to the profiler, which measures from the one to the other. */
#define STARTS(name, parameters, arguments)                                  \
    int name parameters {                                                    \
        find_ways();                                                         \
        const int code = ((int(*) parameters)profilers(#name))arguments;     \
        start();                                                             \
        return code;                                                         \
    }
STARTS(MPI_Init, (int* count, char*** words), (count, words))
STARTS(PMPI_Init, (int* count, char*** words), (count, words))
STARTS(MPI_Init_thread, (int* count, char*** words, int wanted, int* provided), (count, words, wanted, provided))
STARTS(PMPI_Init_thread, (int* count, char*** words, int wanted, int* provided), (count, words, wanted, provided))

#define ENDS(name)                                     \
    int name(void) {                                   \
        finish();                                      \
        return ((int (*)(void))profilers(#name))();    \
    }
ENDS(MPI_Finalize)
ENDS(PMPI_Finalize)
