/* SPDX-License-Identifier: Apache-2.0 */
/* Loops over operations of the system, each as the text of McVoy and Staelin's "lmbench: portable tools for
 * performance analysis" (USENIX 1996) describes how it is measured: written from that text alone.
 *
 *     operations NAME COUNT LOOPS [ARGUMENT [ARGUMENT]]
 *
 * Prints the nanoseconds of each of LOOPS loops of COUNT operations, one a line; the caller drops the first.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_RING = 64, MOST_FILES = 100000, NAME_BYTE = 8 };

static char** argument;
static volatile sig_atomic_t handled;

static void require(int well, const char* what) {
    if (!well) {
        perror(what);
        _exit(1);
    }
}

static int64_t clock_ns(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec * INT64_C(1000000000) + at.tv_nsec;
}

static void forks(long count, const char* const* command) {
    for (long done = 0; done < count; ++done) {
        const pid_t child = fork();
        require(child >= 0, "fork");
        if (child == 0) {
            if (command) {
                execve(command[0], (char* const*)command, (char*[]){NULL});
            }
            _exit(command ? 127 : 0);
        }
        int status = 0;
        require(waitpid(child, &status, 0) == child && status == 0, "a child");
    }
}

static void fork_exit(long count) { forks(count, NULL); }

/* ARGUMENT: what is executed, which must end at once. */
static void fork_exec(long count) { forks(count, (const char*[]){argument[0], "--exit", NULL}); }

static void fork_shell(long count) {
    forks(count, (const char*[]){"/bin/sh", "-c", "\"$0\" --exit", argument[0], NULL});
}

static void handle(int number) { handled += number == SIGUSR1; }

static void install(long count) {
    const struct sigaction action = {.sa_handler = handle};
    for (long done = 0; done < count; ++done) {
        require(sigaction(SIGUSR1, &action, NULL) == 0, "sigaction");
    }
}

static void deliver(long count) {
    install(1);
    handled = 0;
    const pid_t self = getpid();
    for (long done = 0; done < count; ++done) {
        kill(self, SIGUSR1);
    }
    require(handled == count, "a signal");
}

/* A token of one word: whoever has it sums its working set, then writes it to the next. */
static struct {
    int from[MOST_RING], to[MOST_RING], members;
    unsigned words;
} ring;

/* Written, as the kernel shows one page of zeros for all that was never written. */
static uint32_t* working_set(void) {
    uint32_t* words = malloc((ring.words + 1) * sizeof *words);
    require(words != NULL, "a working set");
    for (unsigned place = 0; place < ring.words; ++place) {
        words[place] = place;
    }
    return words;
}

static uint64_t sum_of(const uint32_t* words) {
    uint64_t sum = 0;
    for (unsigned place = 0; place < ring.words; ++place) {
        sum += words[place];
    }
    return sum;
}

static volatile uint64_t summed;

static int partner(void) {
    const pid_t parent = getpid();
    const pid_t child = fork();
    require(child >= 0, "fork");
    require(child > 0 || (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent), "prctl");
    return child == 0;
}

static void pass_on(int from, int to) {
    const uint32_t* words = working_set();
    uint64_t token = 0;
    while (read(from, &token, sizeof token) == sizeof token) {
        summed += sum_of(words);
        ++token;
        require(write(to, &token, sizeof token) == sizeof token, "write");
    }
    _exit(0);
}

/* ARGUMENTS: processes, this one among them, and bytes of the working set. COUNT: hops, a multiple of the
 * processes. */
static void context_switch(long count) {
    static const uint32_t* words;
    if (ring.members == 0) {
        ring.members = atoi(argument[0]);
        ring.words = (unsigned)atoi(argument[1]) / sizeof *words;
        words = working_set();
        require(ring.members > 0 && ring.members <= MOST_RING, "a ring");
        for (int place = 0; place < ring.members; ++place) {
            int ends[2];
            require(pipe2(ends, O_CLOEXEC) == 0, "pipe");
            ring.from[(place + 1) % ring.members] = ends[0];
            ring.to[place] = ends[1];
        }
        for (int place = 1; place < ring.members; ++place) {
            if (partner()) {
                pass_on(ring.from[place], ring.to[place]);
            }
        }
    }
    uint64_t token = 0;
    for (long done = 0; done < count; done += ring.members) {
        summed += sum_of(words);
        ++token;
        require(write(ring.to[0], &token, sizeof token) == sizeof token &&
                    read(ring.from[0], &token, sizeof token) == sizeof token,
                "a token");
    }
    require(token == (uint64_t)count, "the number of hops");
}

static void round_trips(long count, int from, int to) {
    for (uint64_t word = 0; word < (uint64_t)count; ++word) {
        uint64_t answer = 0;
        require(write(to, &word, sizeof word) == sizeof word &&
                    read(from, &answer, sizeof answer) == sizeof answer && answer == word + 1,
                "a word");
    }
}

static void round_trip_pipe(long count) {
    static int there[2], back[2];
    if (there[0] == 0) {
        require(pipe2(there, O_CLOEXEC) == 0 && pipe2(back, O_CLOEXEC) == 0, "pipe");
        if (partner()) {
            pass_on(there[0], back[1]);
        }
    }
    round_trips(count, back[0], there[1]);
}

static void round_trip_tcp(long count) {
    static int caller;
    if (caller == 0) {
        const int yes = 1, door = socket(AF_INET, SOCK_STREAM, 0);
        struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        socklen_t size = sizeof address;
        caller = socket(AF_INET, SOCK_STREAM, 0);
        require(bind(door, (struct sockaddr*)&address, size) == 0 && listen(door, 1) == 0 &&
                    getsockname(door, (struct sockaddr*)&address, &size) == 0 &&
                    connect(caller, (struct sockaddr*)&address, size) == 0,
                "a connection");
        const int called = accept(door, NULL, NULL);
        setsockopt(caller, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        setsockopt(called, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        if (partner()) {
            pass_on(called, called);
        }
    }
    round_trips(count, caller, caller);
}

/* Names as short as lmbench's. Made once, and for files alone: a fork copies the tables of every page in use.
 */
static char names[MOST_FILES][NAME_BYTE];

static void name_files(long count) {
    require(count <= MOST_FILES, "so many files");
    for (long number = 0; number < count; ++number) {
        snprintf(names[number], NAME_BYTE, "%ld", number);
    }
}

static void create(long count) {
    static char content[1 << 20];
    const size_t size = (size_t)atoi(argument[0]);
    require(size <= sizeof content, "a file so large");
    memset(content, 'x', size);
    for (long number = 0; number < count; ++number) {
        const int file = open(names[number], O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        require(file >= 0 && (size == 0 || write(file, content, size) == (ssize_t)size), "a new file");
        close(file);
    }
}

static void remove_all(long count) {
    for (long number = 0; number < count; ++number) {
        require(unlink(names[number]) == 0, "unlink");
    }
}

static void name_and_create(long count) {
    name_files(count);
    create(count);
}

static void nothing(long count) { (void)count; }

static const struct {
    const char* name;
    void (*before)(long), (*timed)(long), (*after)(long);
} operations[] = {
    {"fork-exit", nothing, fork_exit, nothing},      {"fork-exec", nothing, fork_exec, nothing},
    {"fork-shell", nothing, fork_shell, nothing},    {"signal-install", nothing, install, nothing},
    {"signal-deliver", nothing, deliver, nothing},   {"context-switch", nothing, context_switch, nothing},
    {"pipe", nothing, round_trip_pipe, nothing},     {"tcp", nothing, round_trip_tcp, nothing},
    {"file-create", name_files, create, remove_all}, {"file-delete", name_and_create, remove_all, nothing},
};

int main(int argc, char** argv) {
    if (argc < 4) {
        return 2;
    }
    argument = argv + 4;
    const long count = atol(argv[2]), loops = atol(argv[3]);
    for (size_t place = 0; place < sizeof operations / sizeof *operations; ++place) {
        if (strcmp(operations[place].name, argv[1]) == 0) {
            for (long loop = 0; loop < loops; ++loop) {
                operations[place].before(count);
                const int64_t begin_ns = clock_ns();
                operations[place].timed(count);
                const int64_t taken_ns = clock_ns() - begin_ns;
                operations[place].after(count);
                printf("%lld\n", (long long)taken_ns);
            }
            return 0;
        }
    }
    return 2;
}
