/* SPDX-License-Identifier: Apache-2.0 */
/* For a program that Tare is to weigh in turns, in C or C++: do an iteration whenever it is its turn.
 *
 *     #include "tare_turn.h"
 *     int main(void) {
 *         prepare();
 *         TARE_TURNS { iterate(); }
 *         return 0;
 *     }
 *
 * Each turn is a line on standard input; the program sleeps until it comes. Its answer is a line on what was
 * the standard output, `slice WALL_NS CPU_NS WAITED_NS -`: the time of the iteration by CLOCK_MONOTONIC_RAW,
 * this process's CPU time, and how long it was ready to run without a processor ("-" where Linux does not
 * count that). What the program itself prints to standard output goes to standard error from the first turn
 * on, so that it cannot be taken for an answer. The end of the input ends the loop. Include it in one file;
 * not for several threads.
 */
#ifndef TARE_TURN_H
#define TARE_TURN_H

#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define TARE_TURNS while (tare_turn())

static inline long long tare_clock_ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* The second figure of /proc/self/schedstat; -1 where there is none. */
static inline long long tare_waited_ns(void) {
    static int file = -2;
    char text[128];
    long long waited_ns = -1;
    if (file == -2) file = open("/proc/self/schedstat", O_RDONLY | O_CLOEXEC);
    ssize_t count = file < 0 ? -1 : pread(file, text, sizeof text - 1, 0);
    if (count <= 0) return -1;
    text[count] = '\0';
    return sscanf(text, "%*d %lld", &waited_ns) == 1 ? waited_ns : -1;
}

/* Answers the turn before, if there was one, and waits for the next; 0 when there are no more. */
static inline int tare_turn(void) {
    static int answers = -1;
    static long long wall_ns, cpu_ns, waited_ns;
    long long end_ns = tare_clock_ns(CLOCK_MONOTONIC_RAW);
    if (answers < 0) {
        fflush(stdout);
        answers = dup(STDOUT_FILENO);
        if (answers < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return 0;
    } else {
        long long used_ns = tare_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_ns,
                  now_waited_ns = tare_waited_ns();
        if (now_waited_ns < 0 || waited_ns < 0)
            dprintf(answers, "slice %lld %lld - -\n", end_ns - wall_ns, used_ns);
        else
            dprintf(answers, "slice %lld %lld %lld -\n", end_ns - wall_ns, used_ns,
                    now_waited_ns - waited_ns);
    }
    for (char byte = 0; byte != '\n';)
        if (read(STDIN_FILENO, &byte, 1) != 1) return 0;
    waited_ns = tare_waited_ns();
    cpu_ns = tare_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    wall_ns = tare_clock_ns(CLOCK_MONOTONIC_RAW);
    return 1;
}

#endif
