/* SPDX-License-Identifier: Apache-2.0 */
/* no_op RESOURCE COUNT: uses a resource so many times in each turn; for bench/no_op.py. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tare_turn.h"

enum { PAGE = 4096 };

static void must(int holds, const char* what) {
    if (!holds) {
        perror(what);
        exit(1);
    }
}

static void compute(long count) {
    static volatile uint64_t kept = 88172645463325252ULL;
    uint64_t state = kept;
    for (long i = 0; i < count; ++i) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
    kept = state;
}

static void fault(long count) {
    char* pages =
        mmap(NULL, (size_t)count * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    must(pages != MAP_FAILED, "mmap");
    for (long i = 0; i < count; ++i) pages[i * PAGE] = 1;
    must(munmap(pages, (size_t)count * PAGE) == 0, "munmap");
}

static void call(long count) {
    for (long i = 0; i < count; ++i) syscall(SYS_getppid);
}

static void use_files(long count) {
    char text[PAGE] = {0};
    for (long i = 0; i < count; ++i) {
        int file = open("file", O_RDWR | O_CREAT | O_EXCL, 0600);
        must(file >= 0, "open");
        must(write(file, text, sizeof text) == PAGE && pread(file, text, sizeof text, 0) == PAGE,
             "write and read");
        must(close(file) == 0 && unlink("file") == 0, "close and unlink");
    }
}

int main(int words, char** word) {
    static const struct {
        const char* name;
        void (*use)(long);
    } resources[] = {
        {"compute", compute}, {"page-faults", fault}, {"system-calls", call}, {"files", use_files}};
    for (size_t i = 0; words == 3 && i < sizeof resources / sizeof *resources; ++i) {
        if (strcmp(word[1], resources[i].name) == 0) {
            TARE_TURNS { resources[i].use(atol(word[2])); }
            return 0;
        }
    }
    fputs("write: no_op compute|page-faults|system-calls|files COUNT\n", stderr);
    return 2;
}
