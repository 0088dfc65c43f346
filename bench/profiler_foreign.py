# SPDX-License-Identifier: Apache-2.0
"""What the MPI profiler costs programs, above all foreign programs, measured within runs.

    python -m bench.profiler_foreign [NPB] [--minutes 9] [--block-ms 20] [--profiler FILE]
                                     [--only hpcc mpi4py cg.A.x] [--null]

NPB is a folder of anyone's NAS Parallel Benchmarks (``cg.A.x``), or of Tare's own (``build/native/bin``); Debian's hpcc
and a program of mpi4py are run too, where these are installed. A first run shows when each rank makes its calls, and
cuts the run into blocks of equal time. Then runs come in twos: of each two neighbouring blocks of the first run,
``profiler_foreign.c`` hands the calls of one to the profiler and the other's past it, in random order; the
second run does the opposite. So a pair gives one cost, in which the blocks' different work and the two runs' different
speed cancel. Its interval is that of Hodges and Lehmann. The work must not depend on time: where runs differ in their
calls, that is said, and the pairs are of unequal work, which widens the interval and shifts nothing.

``--null`` leaves the profiler out of the runs in twos, so that both ways are alike: every interval should then have 0
in it, but for one in twenty.

What is left out: what the profiler does at the start and the end. A program without calls in most blocks, such as EP,
has no pairs. The claim is that a program takes less than 1 % longer: it holds where the whole interval is below.
"""

import argparse
import json
import math
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.npb import KERNELS, LEVEL, LIMIT_S, PROGRAMS
from tare.records import Estimate
from tare.statistics.signed_rank import hodges_lehmann
from tare.workloads.hpcc.input import input_text, process_grid
from tare.workloads.npb.problems import SQUARES

MOST_COST = 0.01
LEAST_PAIRS = 6
"""With fewer no interval of signed ranks reaches ``LEVEL``."""
CLASSES = {"bt": "W", "sp": "W"}
"""Of the others, which take a second or some, A."""
SQUARE_RANKS = 4
MATRIX, PANEL = 2000, 192
"""hpcc's N and NB: some seconds."""
STEPS = 20_000
PYTHON = "/usr/bin/python3"
"""Debian's, which has Debian's mpi4py."""
_STATEFUL = re.compile(
    r"P?MPI_(Comm|Cart|Graph|Dist_graph|Intercomm|Win|File|Init|Finalize|Abort|Pcontrol)(_|$)|.*_init$"
)
"""What the profiler must see to know a handle later: never handed past it."""
_POLLS = re.compile(r"P?MPI_(Test|Iprobe|Improbe)")
"""Called as often as there is time, so that they are in no block's count."""
Times = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """One row of the table."""

    name: str
    argv: Sequence[str]
    ranks: int
    files: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RankRun:
    """What one rank's switch saw."""

    calls: int
    began_ns: Times


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Of one program."""

    measured: Estimate | None
    """The logarithm of how many times as long it takes under the profiler."""
    pairs: int
    call_per_s: float
    """Of the rank that calls most, after MPI_Init."""
    communication: float
    """Mean share of the ranks' time between MPI_Init and MPI_Finalize."""
    block_call_ns: float | None
    """A block's time by the calls that a rank makes in it."""
    calls_differ: float
    """By how much of their number two runs differ at most."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("npb", type=Path, nargs="?")
    parser.add_argument("--minutes", type=float, default=9.0)
    parser.add_argument("--block-ms", type=float, default=20.0)
    parser.add_argument("--profiler", type=Path, default=PROGRAMS / "libtareprof.so")
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--null", action="store_true")
    chosen = parser.parse_args()
    programs = [
        program for program in [*npb(chosen.npb), *others()] if not chosen.only or program.name in chosen.only
    ]
    columns = ["program", "ranks", "calls/s", "communication in %", "cost in % [95 %]", "pairs"]
    columns += ["ns for each call [95 %]", f"below {MOST_COST:.0%}"]
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    ends_s = time.monotonic() + 60 * chosen.minutes
    verdicts: dict[str, str] = {}
    with tempfile.TemporaryDirectory(prefix="profiler-foreign-") as folder:
        switch = compiled(Path(folder), chosen.profiler)
        for number, program in enumerate(programs):
            left_s = ends_s - time.monotonic()
            launch = Launch(program, (switch, chosen.profiler), Path(folder))
            ends = time.monotonic() + left_s / (len(programs) - number)
            cost = cost_of(launch, chosen.block_ms, ends, null=chosen.null)
            verdicts[program.name] = verdict(cost.measured)
            print(row(program, cost), flush=True)
    print("\n" + summary(verdicts))
    return 1 if "does not hold" in verdicts.values() else 0


def npb(folder: Path | None) -> Iterator[Program]:
    """Those that are there, on two ranks, or four where they need a square."""
    for kernel in KERNELS if folder else ():
        size = CLASSES.get(kernel, "A")
        own, path = (folder or Path()) / f"npb-{kernel}", (folder or Path()) / f"{kernel}.{size}.x"
        ranks = SQUARE_RANKS if kernel in SQUARES else 2
        if own.exists():
            yield Program(name=own.name, argv=[str(own.absolute()), "--class", size], ranks=ranks)
        elif path.exists():
            yield Program(name=path.name, argv=[str(path.absolute())], ranks=ranks)
        else:
            print(f"left out: {path} is not there", file=sys.stderr)


def others() -> Iterator[Program]:
    """hpcc and the program in Python, where they can run."""
    if shutil.which("hpcc"):
        yield Program(
            name="hpcc",
            argv=["hpcc"],
            ranks=2,
            files={"hpccinf.txt": input_text(MATRIX, PANEL, process_grid(2))},
            variables={"OPENBLAS_NUM_THREADS": "1"},
        )
    else:
        print("left out: hpcc; apt-get install hpcc", file=sys.stderr)
    script = Path(__file__).with_name("halo_mpi4py.py")
    if subprocess.run([PYTHON, "-c", "import mpi4py"], capture_output=True, check=False).returncode == 0:
        yield Program(name="mpi4py", argv=[PYTHON, str(script), str(STEPS)], ranks=2)
    else:
        print("left out: mpi4py; apt-get install python3-mpi4py", file=sys.stderr)


def compiled(folder: Path, profiler: Path) -> Path:
    """The switch for this profiler's functions; by its name the profiler takes it for a twin, and never calls it."""
    listed = subprocess.run(
        ["nm", "-D", "--defined-only", profiler], capture_output=True, text=True, check=True
    )
    names = [line.split()[-1] for line in listed.stdout.splitlines()]
    (folder / "switched.inc").write_text("\n".join(switched(names)) + "\n")
    library = folder / "libtareprof-switch.so"
    source = Path(__file__).with_suffix(".c")
    argv = ["gcc", "-O2", "-Wall", "-Werror", "-shared", "-fPIC", f"-I{folder}", "-o", str(library)]
    subprocess.run([*argv, str(source), "-ldl"], check=True)
    return library


def switched(names: Iterable[str]) -> list[str]:
    """A line for each function that may be handed past the profiler."""
    own = sorted(name for name in names if re.match("P?MPI_", name) and not _STATEFUL.match(name))
    return [
        f"SWITCHED({number}, {name}, {'UNCOUNTED' if _POLLS.match(name) else 'COUNTED'})"
        for number, name in enumerate(own)
    ]


@dataclass(frozen=True, slots=True)
class Launch:
    """How a program is run, and where its ranks write."""

    program: Program
    libraries: Sequence[Path]
    folder: Path

    @property
    def profile(self) -> Path:
        return self.folder / "profile.json"

    def run(self, plans: Sequence[str] = ()) -> list[RankRun]:
        """By each rank's plan; without, all calls are blocks. ``SystemExit`` with what it said if it fails."""
        for name, text in self.program.files.items():
            (self.folder / name).write_text(text)
        for rank, text in enumerate(plans):
            (self.folder / f"plan.{rank}").write_text(text)
        exported = {
            "LD_PRELOAD": ":".join(map(str, self.libraries)),
            "TARE_PROFILE": str(self.profile),
            "SWITCH_FILE": str(self.folder / "blocks"),
            **({"SWITCH_PLAN": str(self.folder / "plan")} if plans else {}),
            **self.program.variables,
        }
        enough = self.program.ranks <= (os.cpu_count() or 1)
        words = ["mpirun", "--allow-run-as-root"]
        words += ["--bind-to", "core"] if enough else ["--bind-to", "none", "--oversubscribe"]
        words += [part for name, value in exported.items() for part in ("-x", f"{name}={value}")]
        words += ["-np", str(self.program.ranks), *self.program.argv]
        done = subprocess.run(
            words, cwd=self.folder, capture_output=True, text=True, check=False, timeout=LIMIT_S
        )
        if done.returncode or "tareprof" in done.stderr:
            sys.exit(
                f"{' '.join(words)}: exit code {done.returncode}:\n{(done.stdout + done.stderr)[-2000:]}"
            )
        return [read_run(self.folder / f"blocks.{rank}") for rank in range(self.program.ranks)]


def read_run(path: Path) -> RankRun:
    calls, *_ = numbers = np.fromfile(path, dtype=np.int64)
    return RankRun(int(calls), numbers[1:])


def cost_of(launch: Launch, block_ms: float, ends_s: float, *, null: bool = False) -> Cost:
    """Run in twos until that time of the monotonic clock, once at least."""
    first = launch.run()
    ranks = json.loads(launch.profile.read_text())["profile"]
    launch = replace(launch, libraries=launch.libraries[:1]) if null else launch
    began = cut([rank.began_ns for rank in first], block_ms * 1e6)
    blocks = max(0, len(began[0]) - 1)
    blocks -= blocks % 2
    logs: list[float] = []
    blocks_ns: list[float] = []
    differ = 0.0
    took_s = 0.0
    while blocks and (not logs or time.monotonic() + took_s < ends_s):
        run_s = time.monotonic()
        order = [random.choice((False, True)) for _ in range(blocks // 2)]  # noqa: S311 - no secret
        two = [launch.run(plans(began, order, opposite=opposite)) for opposite in (False, True)]
        logs += crossed(two[0], two[1], order)
        blocks_ns += [float(np.mean(np.diff(rank.began_ns))) for run in two for rank in run]
        differ = max(differ, differing([first, *two]))
        took_s = time.monotonic() - run_s
    calls = statistics.fmean((rank[-1] - rank[0]) / (len(rank) - 1) for rank in began) if blocks else 0
    return Cost(
        measured=hodges_lehmann(logs, LEVEL) if len(logs) >= LEAST_PAIRS else None,
        pairs=len(logs),
        call_per_s=max(calls_of(rank) / (rank["wall_s"] - rank["init_s"]) for rank in ranks),
        communication=statistics.fmean(rank["communication_s"] / rank["wall_s"] for rank in ranks),
        block_call_ns=statistics.fmean(blocks_ns) / calls if blocks_ns else None,
        calls_differ=differ,
    )


def cut(began_ns: Sequence[Times], block_ns: float) -> list[list[int]]:
    """At which of its calls each rank begins its blocks: at the same times in all ranks, and with a call in each.

    The program's first and last calls, where some ranks wait for others to start or to end, are in no block.
    """
    if any(not len(rank) for rank in began_ns):
        return [[] for _ in began_ns]
    first, last = max(rank[0] for rank in began_ns), min(rank[-1] for rank in began_ns)
    grid = np.arange(first, last, block_ns)
    places = [np.searchsorted(rank, grid) + 1 for rank in began_ns]
    kept: list[tuple[int, ...]] = []
    for at in zip(*(rank.tolist() for rank in places), strict=True):
        if not kept or all(new > old for new, old in zip(at, kept[-1], strict=True)):
            kept.append(at)
    return [[at[rank] for at in kept] for rank in range(len(began_ns))]


def plans(began: Sequence[Sequence[int]], order: Sequence[bool], *, opposite: bool) -> list[str]:
    """Each rank's: of every two blocks the first goes through where ``order`` says so, and the other does not."""
    through = [first ^ second ^ opposite for first in order for second in (False, True)]
    return [
        "".join(f"{call} {int(way)}\n" for call, way in zip(rank, [*through, True], strict=False))
        for rank in began
    ]


def crossed(first: Sequence[RankRun], second: Sequence[RankRun], order: Sequence[bool]) -> Iterator[float]:
    """The cost's logarithm by each pair of blocks; a block's time is the mean of its ranks'."""
    blocks = min(len(rank.began_ns) - 1 for rank in (*first, *second))
    spent = [np.mean([np.diff(rank.began_ns)[:blocks] for rank in run], axis=0) for run in (first, second)]
    for pair, begins in enumerate(order[: blocks // 2]):
        logs = [math.log(spent[0][block] / spent[1][block]) for block in (2 * pair, 2 * pair + 1)]
        yield (logs[0] - logs[1]) / 2 * (1 if begins else -1)


def differing(runs: Sequence[Sequence[RankRun]]) -> float:
    """The largest difference of a rank's calls between runs, as a share."""
    ranks = [[rank.calls for rank in own] for own in zip(*runs, strict=True)]
    return float(max(1 - min(calls) / max(calls) for calls in ranks))


def calls_of(rank: Mapping[str, Any]) -> int:
    return sum(call["count"] for call in rank["calls"])


def verdict(measured: Estimate | None) -> str:
    if measured is None or measured.low is None or measured.high is None:
        return "not measured"
    if math.expm1(measured.high) < MOST_COST:
        return "holds"
    return "does not hold" if math.expm1(measured.low) > MOST_COST else "undecided"


def row(program: Program, cost: Cost) -> str:
    name = program.name
    if cost.calls_differ:
        name += f" (calls differ by {cost.calls_differ:.1%})"
    cells = [name, str(program.ranks), f"{cost.call_per_s:.0f}", f"{100 * cost.communication:.0f}"]
    cells += [interval(cost.measured, 100, 2), str(cost.pairs)]
    cells += [interval(cost.measured, cost.block_call_ns or 0, 0), verdict(cost.measured)]
    return f"| {' | '.join(cells)} |"


def interval(measured: Estimate | None, factor: float, digits: int) -> str:
    """Of the share that it costs, times a factor."""
    if measured is None or measured.low is None or measured.high is None:
        return ""
    point, low, high = (
        f"{factor * math.expm1(value):.{digits}f}" for value in (measured.point, measured.low, measured.high)
    )
    return f"{point} [{low} to {high}]"


def summary(verdicts: Mapping[str, str]) -> str:
    """Of all programs, which are below, which are not, and which cannot be told."""
    kinds = ("holds", "does not hold", "undecided", "not measured")
    return "\n".join(
        f"{kind}: the profiler costs {', '.join(names)} less than {MOST_COST:.0%}"
        for kind in kinds
        if (names := [name for name, seen in verdicts.items() if seen == kind])
    )


if __name__ == "__main__":
    sys.exit(main())
