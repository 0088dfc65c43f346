# SPDX-License-Identifier: Apache-2.0
"""The host's time of day jumps while a campaign is measured, and between its sessions: forward, back, by years.

A library before the C library's own shifts what the runner reads of CLOCK_REALTIME by another amount at each reading.
Whatever the steps: the campaign ends well, each trial stands once, a second session continues the first, and no
duration differs, since none is taken from that clock.
"""

import argparse
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tare.journal.reader import read_journal
from tests.hostile.stage import LIMIT_S, Ran, Stage, staged

STEPS_S = (0, 1, -1, 3600, -3600, 86_400 * 400, -86_400 * 400)
SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
static int (*real)(clockid_t, struct timespec *);
static long step(void) {
    static const long steps[] = {STEPS};
    static unsigned drawn, begun;
    if (!begun) { begun = 1; drawn = (unsigned)atol(getenv("STEPS_SEED")); }
    drawn = drawn * 1664525u + 1013904223u;
    return steps[(drawn >> 16) % (sizeof steps / sizeof *steps)];
}
int clock_gettime(clockid_t clock, struct timespec *now) {
    if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(clock, now);
    if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) now->tv_sec += step();
    return result;
}
time_t time(time_t *where) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (where) *where = now.tv_sec;
    return now.tv_sec;
}
int gettimeofday(struct timeval *now, void *zone) {
    struct timespec read;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &read);
    now->tv_sec = read.tv_sec;
    now->tv_usec = read.tv_nsec / 1000;
    return 0;
}
"""


def build_library(folder: Path) -> Path:
    """Compile it with the host's C compiler."""
    source, library = folder / "steps.c", folder / "steps.so"
    source.write_text(SOURCE.replace("STEPS}", f"{', '.join(map(str, STEPS_S))}}}"))
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True, timeout=60)
    return library


def run_stepping(stage: Stage, library: Path, seed: int, limit_s: float = LIMIT_S) -> Ran:
    return stage.run("env", f"LD_PRELOAD={library}", f"STEPS_SEED={seed}", limit_s=limit_s)


def attack(stage: Stage, library: Path, seed: int) -> Iterator[str]:
    """Cut a run off in the middle, continue it; what is wrong with the result."""
    stage.begin_anew()
    drawn = random.Random(seed)  # noqa: S311 - a moment, not a secret
    first = run_stepping(stage, library, seed, limit_s=drawn.uniform(0.8, 3.0))
    second = run_stepping(stage, library, seed + 1)
    for ran in (first, second):
        if ran.exit_code != -1 and (fault := ran.fault()):
            yield f"{fault}: {ran.said[-600:]}"
    if second.exit_code != 0:
        yield f"cannot be continued (exit code {second.exit_code}): {second.said[-600:]}"
        return
    yield from stage.lost()
    outcomes = read_journal(stage.result / "journal").outcomes
    wild = [outcome.elapsed_s for outcome in outcomes if not 0 < outcome.elapsed_s < LIMIT_S]
    if wild:
        yield f"durations follow the steps: {wild}"
    if failed := [outcome.reason for outcome in outcomes if outcome.reason]:
        yield f"trials failed: {failed[0]}"


@contextmanager
def prepared() -> Iterator[tuple[Stage, Path]]:
    with staged() as stage:
        yield stage, build_library(stage.folder)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    faults = []
    with prepared() as (stage, library):
        for seed in range(asked.seed, asked.seed + asked.count):
            faults += [f"seed {seed}: {fault}" for fault in attack(stage, library, seed)]
    print("\n".join(faults))
    print(f"clock steps: {asked.count} campaigns (seeds from {asked.seed}), {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
