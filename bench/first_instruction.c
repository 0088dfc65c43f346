/* SPDX-License-Identifier: Apache-2.0 */
/* Prints what CLOCK_MONOTONIC_RAW says when it begins, in nanoseconds. Linked statically its main is a few
 * microseconds from its first instruction. */
#include <stdio.h>
#include <time.h>

int main(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return printf("%lld\n", now.tv_sec * 1000000000LL + now.tv_nsec) < 0;
}
