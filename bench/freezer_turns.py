# SPDX-License-Identifier: Apache-2.0
"""Do turns by the freezer harm programs, and what do they gain? Programs of others, native against native.

    python -m bench.freezer_turns [--minutes 4] [--turn-ms 80] [--no-whole] (as root; builds nothing, needs no image)

A Python program, an MPI job of two ranks and a compiler run, each in a control group of its own: pairs that take
turns, and pairs of whole runs one after the other, in random order. Prints for each program whether output and exit
code stayed equal, CPU and wall time by turns against whole (mean log ratio, 95 % interval), and the standard deviation
of the log ratio of wall time within pairs, both ways. ``--no-whole`` spends all of the time on pairs that take turns
and runs two whole ones alone, to compare outputs with. Exit code 1 when an output or an exit code changed.
"""

import argparse
import math
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.measure.freezer_arms import arms_of

from tare.measure.freezer_turns import take_turns
from tare.measure.thawed import idle_share
from tare.records import InstanceRun

PROGRAMS = Path(__file__).resolve().parent.parent / "build" / "native" / "bin"
WHOLE_S = 1e5
"""A turn so long that a program never meets its end."""
PYTHON = """
table, total = {}, 0
for number in range(900_000):
    table[number % 5003] = total
    total = (total * 31 + number + len(table)) % 1_000_003
print(total)
"""
MPI = """
#include <mpi.h>
#include <stdio.h>
int main(int count, char** words) {
    MPI_Init(&count, &words);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double sum = 1.0 + rank;
    for (int step = 0; step < 400; ++step) {
        for (int turn = 0; turn < 400000; ++turn) sum = sum * 1.0000001 + 1e-9;
        double all = 0;
        MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        sum = all / 2;
    }
    if (rank == 0) printf("%.12f\\n", sum);
    MPI_Finalize();
}
"""
Key = tuple[int | None, str]


@dataclass(slots=True)
class Seen:
    """Of one program, in one way."""

    ratios: list[float] = field(default_factory=list)
    wall_s: list[float] = field(default_factory=list)
    cpu_s: list[float] = field(default_factory=list)
    ends: set[Key] = field(default_factory=set)
    latencies_s: list[float] = field(default_factory=list)
    idle: list[float] = field(default_factory=list)

    def learn(self, pair: Sequence[InstanceRun], ends: Sequence[Key]) -> None:
        first, second = pair
        self.ratios.append(math.log(first.clocks.wall_s / second.clocks.wall_s))
        self.wall_s += [run.clocks.wall_s for run in pair]
        self.cpu_s += [run.user_s + run.system_s for run in pair]
        self.ends.update(ends)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=4.0)
    parser.add_argument("--turn-ms", type=float, default=80.0)
    parser.add_argument("--no-whole", action="store_true", help="compare outputs alone with whole runs")
    chosen = parser.parse_args()
    draw = random.Random(1)  # noqa: S311 - an order, no secret
    with tempfile.TemporaryDirectory() as folder:
        commands = commands_in(Path(folder))
        seen = {name: {True: Seen(), False: Seen()} for name in commands}
        end_s = time.monotonic() + chosen.minutes * 60
        while time.monotonic() < end_s or _too_few(seen):
            for name, argv in commands.items():
                for by_turns in draw.sample([True, False], 2):
                    if by_turns or not chosen.no_whole or _too_few({name: seen[name]}):
                        measure(argv, draw, chosen.turn_ms / 1000 if by_turns else None, seen[name][by_turns])
    unharmed = [said(name, ways[True], ways[False]) for name, ways in seen.items()]
    return 0 if all(unharmed) else 1


def _too_few(seen: dict[str, dict[bool, Seen]]) -> bool:
    """Less than two pairs have no spread."""
    return any(len(way.ratios) < 2 for ways in seen.values() for way in ways.values())  # noqa: PLR2004 - two


def commands_in(folder: Path) -> dict[str, list[str]]:
    """Name → argv of what there is on this host."""
    (folder / "work.py").write_text(PYTHON)
    programs = {"python3": [sys.executable, "-S", str(folder / "work.py")]}
    if shutil.which("mpicc") and shutil.which("mpirun"):
        (folder / "work.c").write_text(MPI)
        program = str(folder / "work")
        subprocess.run(["mpicc", "-O1", "-o", program, str(folder / "work.c")], check=True)
        programs["MPI, two ranks"] = ["mpirun", "--oversubscribe", "-n", "2", program]
    if compiler := shutil.which("gcc") or shutil.which("clang"):
        (folder / "compiled.c").write_text(c_source(100))
        programs["compiler"] = [compiler, "-O2", "-S", "-o", "/dev/stdout", str(folder / "compiled.c")]
    return programs


def c_source(functions: int) -> str:
    body = (
        "{{ for (int i = 0; i < n; ++i) a[i] = a[(i * {0}) % n] * {0} + a[i] / ({0} + i); return a[n / 2]; }}"
    )
    return "\n".join(f"int f{number}(int* a, int n) {body.format(number + 1)}" for number in range(functions))


def measure(argv: Sequence[str], draw: random.Random, turn_s: float | None, seen: Seen) -> None:
    """Two runs of a program: by turns, or one after the other."""
    with tempfile.TemporaryDirectory() as folder:
        if turn_s is None:
            runs: list[InstanceRun] = []
            ends: list[Key] = []
            for number in range(2):
                alone, ended = run_arms(Path(folder, str(number)), [argv], draw, WHOLE_S, None)
                runs, ends = [*runs, *alone], [*ends, *ended]
        else:
            runs, ends = run_arms(Path(folder), [argv, argv], draw, turn_s, seen)
    seen.learn(runs, ends)


def run_arms(
    folder: Path, commands: Sequence[Sequence[str]], draw: random.Random, turn_s: float, seen: Seen | None
) -> tuple[list[InstanceRun], list[Key]]:
    with arms_of(PROGRAMS, folder, commands) as arms:
        taken = take_turns(arms, draw, turn_s)
    for arm in taken:
        if arm.error is not None:
            raise arm.error
        if seen is not None:
            seen.latencies_s += [(turn.frozen_ns - turn.freeze_asked_ns) * 1e-9 for turn in arm.turns]
            seen.idle.append(idle_share(arm.turns) or 0.0)
    printed = [(folder / str(number) / "stdout").read_text() for number in range(len(taken))]
    runs = [arm.runs[0] for arm in taken]
    return runs, [(run.exit_code, text) for run, text in zip(runs, printed, strict=True)]


def compared(first: Sequence[float], second: Sequence[float]) -> tuple[float, float]:
    """The mean log ratio of two samples, and half of its 95 % interval."""
    logs = [[math.log(value) for value in part] for part in (first, second)]
    error = math.sqrt(sum(statistics.variance(part) / len(part) for part in logs))
    return statistics.fmean(logs[0]) - statistics.fmean(logs[1]), 1.96 * error


def said(name: str, turns: Seen, whole: Seen) -> bool:
    """Print what was seen; whether nothing was harmed."""
    equal = len(turns.ends | whole.ends) == 1
    print(f"{name}: {len(turns.ratios)} pairs by turns, {len(whole.ratios)} pairs of whole runs")
    print(
        f"  outputs and exit codes {'all equal' if equal else f'DIFFER: {len(turns.ends | whole.ends)} kinds'}"
    )
    for label, sides in (
        ("CPU time", (turns.cpu_s, whole.cpu_s)),
        ("wall time", (turns.wall_s, whole.wall_s)),
    ):
        difference, half = compared(*sides)
        print(
            f"  {label} of a whole run {statistics.fmean(sides[1]):.3f} s; by turns {difference:+.2%} ± {half:.2%}"
        )
    for way, seen in (("by turns", turns), ("whole", whole)):
        spread = statistics.stdev(seen.ratios)
        mean, half = statistics.fmean(seen.ratios), 1.96 * spread / math.sqrt(len(seen.ratios))
        print(f"  {way}: standard deviation of the log ratio {spread:.2%}, its mean {mean:+.2%} ± {half:.2%}")
    ordered = sorted(turns.latencies_s)
    print(
        f"  freezing: {statistics.median(ordered) * 1e3:.2f} ms (median), {ordered[-1] * 1e3:.2f} ms at most, "
        f"{len(ordered)} freezes; idle {statistics.median(turns.idle):.1%} of the thawed time"
    )
    return equal


if __name__ == "__main__":
    if os.geteuid() != 0:
        sys.exit("run as root: the programs run in control groups")
    sys.exit(main())
