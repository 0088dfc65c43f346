# SPDX-License-Identifier: Apache-2.0
"""What a load of others costs programs, beside what it takes: the factor that ``tare.analyze.load_effect`` bounds.

    python -m bench.load_cost [--programs compute memory barrier cg lu is] [--duties 0.15 0.3 0.5 1.0] [--rounds 8]
                              [--seconds 1.0]

Each program runs on the first two processors of this machine, without and with a loop that is busy for a part of each
20 ms, its duty: pinned to the first of them (``pinned``), or free on both (``free``). All cases of a program take turns
in random order, ``--rounds`` times. A row gives the slowdown in the median over rounds with its interval, and kappa:
the part of its time that the program lost, divided by what the load took in processors' worth, by the load's own CPU
time. A program of one process that shares its processor evenly loses about what was taken, kappa = 1; one whose
processes wait for each other may lose more. The medians are what ``tare.analyze.load_effect.KAPPA`` must not fall
below. ``compute``, ``memory`` and ``barrier`` are written here in Python; ``cg``, ``lu`` and ``is`` are the NPB as Tare
builds them, class W on two ranks, and are left out where they are not built or there is no mpirun.
"""

import argparse
import math
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.npb import PROGRAMS
from tare.statistics.signed_rank import hodges_lehmann

PERIOD_S = 0.02
NPB = ("cg", "lu", "is")
LOAD = """
import sys, time
duty, period = float(sys.argv[1]), float(sys.argv[2])
start = time.perf_counter()
for number in range(1, 10**9):
    until = time.process_time() + duty * period
    while time.process_time() < until:
        pass
    time.sleep(max(0.0, start + number * period - time.perf_counter()))
"""
"""Uses its duty's worth of CPU time in each period, however long it waits for a processor."""
COMPUTE = """
import sys
for _ in range(int(sys.argv[1])):
    total = 0
    for number in range(100_000):
        total += number * number
"""
MEMORY = """
import sys
source, target = bytearray(64 << 20), bytearray(64 << 20)
for _ in range(int(sys.argv[1])):
    target[:] = source
"""
BARRIER = """
import mmap, os, sys
shared = memoryview(mmap.mmap(-1, 4096)).cast("q")
own = 1 if os.fork() == 0 else 0
os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[own]})
for step in range(1, int(sys.argv[1]) + 1):
    total = 0
    for number in range(2_000):
        total += number * number
    shared[own] = step
    while shared[1 - own] < step:
        pass
if own == 0:
    os.wait()
"""
"""Two processes, each on a processor, that spin until the other has come as far, as MPI processes do."""
SCRIPTS = {"compute": COMPUTE, "memory": MEMORY, "barrier": BARRIER}


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One program beside one load."""

    duty: float
    pinned: bool

    @property
    def said(self) -> str:
        where = "pinned" if self.pinned else "free"
        return f"{self.duty:.2f} {where}" if self.duty else "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run of a program."""

    wall_s: float
    taken: float
    """Processors' worth that the load used meanwhile, by its own CPU time."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", nargs="*", default=[*SCRIPTS, *NPB], choices=[*SCRIPTS, *NPB])
    parser.add_argument("--duties", nargs="*", type=float, default=[0.15, 0.3, 0.5, 1.0])
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=1.0, help="about what a run without load takes")
    chosen = parser.parse_args()
    processors = sorted(os.sched_getaffinity(0))[:2]
    if len(processors) < 2:  # noqa: PLR2004 - a program of two processes needs them
        print("two processors are needed", file=sys.stderr)
        return 1
    os.sched_setaffinity(0, processors)
    cases = [Case(duty=0.0, pinned=False)]
    cases += [Case(duty=duty, pinned=pinned) for duty in chosen.duties for pinned in (True, False)]
    print(f"{'program':9} {'load':12} {'taken':>6} {'slowdown':>24} {'kappa':>22}")
    for program in chosen.programs:
        argv = command(program, chosen.seconds)
        if argv is None:
            print(f"{program:9} is not built here, or there is no mpirun")
            continue
        for line in rows(program, measured(argv, cases, chosen.rounds, processors[0])):
            print(line, flush=True)
    return 0


def command(program: str, seconds: float) -> Sequence[str] | None:
    """The program of about so many seconds without load; ``None``: it cannot be run here."""
    if program in SCRIPTS:
        script = [sys.executable, "-c", SCRIPTS[program]]
        count = 1
        while (took_s := wall_s([*script, str(count)])) < seconds / 2:
            count = math.ceil(count * min(20.0, max(2.0, 0.8 * seconds / took_s)))
        return [*script, str(max(1, round(count * seconds / took_s)))]
    binary, mpirun = PROGRAMS / f"npb-{program}", shutil.which("mpirun")
    if mpirun is None or not binary.exists():
        return None
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    return [mpirun, *root, "--bind-to", "core", "-np", "2", str(binary), "--class", "W", "--json"]


def measured(
    argv: Sequence[str], cases: Sequence[Case], rounds: int, first_processor: int
) -> dict[Case, list[Run]]:
    """All cases once in each round, in random order, after one run that is not kept."""
    wall_s(argv)
    order = random.Random(46)  # noqa: S311 - no secret
    runs: dict[Case, list[Run]] = {case: [] for case in cases}
    for _ in range(rounds):
        for case in order.sample(cases, len(cases)):
            with loaded(case, first_processor) as pid:
                before_s = cpu_s(pid)
                took_s = wall_s(argv)
                taken = 0.0 if pid is None else (cpu_s(pid) - before_s) / took_s
            runs[case].append(Run(wall_s=took_s, taken=taken))
    return runs


def wall_s(argv: Sequence[str]) -> float:
    begun_s = time.perf_counter()
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL, timeout=600)
    return time.perf_counter() - begun_s


@contextmanager
def loaded(case: Case, first_processor: int) -> Iterator[int | None]:
    """The load's PID while it runs; ``None`` without one."""
    if not case.duty:
        yield None
        return
    argv = [sys.executable, "-c", LOAD, str(case.duty), str(PERIOD_S)]
    with subprocess.Popen(argv) as process:
        try:
            if case.pinned:
                os.sched_setaffinity(process.pid, {first_processor})
            time.sleep(5 * PERIOD_S)
            yield process.pid
        finally:
            process.kill()


def cpu_s(pid: int | None) -> float:
    """CPU time that a process has used, in steps of a tick."""
    if pid is None:
        return 0.0
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def rows(program: str, runs: Mapping[Case, Sequence[Run]]) -> Iterator[str]:
    """A row for each load: what was taken, the slowdown against the same round without load, and kappa."""
    quiet = next(own for case, own in runs.items() if not case.duty)
    for case, own in runs.items():
        if not case.duty:
            continue
        taken = math.fsum(run.taken for run in own) / len(own)
        ratio = hodges_lehmann(
            [math.log(run.wall_s / base.wall_s) for run, base in zip(own, quiet, strict=True)]
        )
        ends = [ratio.point, ratio.low, ratio.high]
        slower = [None if end is None else math.exp(end) for end in ends]
        kappas = [None if end is None else -math.expm1(-end) / taken for end in ends]
        yield f"{program:9} {case.said:12} {taken:6.2f} {_span(slower):>24} {_span(kappas):>22}"


def _span(values: Sequence[float | None]) -> str:
    point, low, high = ("-" if value is None else f"{value:.2f}" for value in values)
    return f"{point} [{low} to {high}]"


if __name__ == "__main__":
    raise SystemExit(main())
