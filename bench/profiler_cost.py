# SPDX-License-Identifier: Apache-2.0
"""What the MPI profiler costs the NAS Parallel Benchmarks, measured within runs.

    python -m bench.profiler_cost [--programs FOLDER] [--kernels cg lu] [--problem-class A] [--ranks 1 2 4] [--pairs N]
                                  [--iterations 1]

Two runs of a shared machine differ by ten times what is to be seen. So each run alternates: ``profiler_switch.c``
stands before the profiler and hands the calls of one iteration (or several) to it and those of the next past it, two by
two in random order. A pair's cost is the ratio of its two times, an interval that of all pairs (Hodges and Lehmann).
What is left out: what the profiler does at the start and the end, and caches that the next iteration finds disturbed.

An iteration's calls, and those before the first, are counted in two short runs. Kernels of few iterations make more of
them. One that calls nothing in an iteration has no pairs; the last column does without: the calls counted, at 100 ns
each. The claims: no interval lies above 1 %, the mean is below it. BT and SP, which need a square number of ranks, run
on one instead of two.
"""

import argparse
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.npb import KERNELS, LEVEL, LIMIT_S, PROGRAMS, said
from tare.records import Estimate
from tare.statistics.signed_rank import hodges_lehmann
from tare.workloads.npb.problems import SQUARES, active_ranks

MOST_COST = 0.01
LEAST_PAIRS = 6
"""With fewer no interval of signed ranks reaches ``LEVEL``."""
MOST_RUNS = 60
CALL_S = 1e-7
"""What a measured call takes at most, when the caches are the program's: docs/profiler.md."""
SHORT, LONGER = 3, 6
"""Iterations of the two runs that count calls: their difference has no set-up in it."""
UNVERIFIED = 3
STEPPED = {*SQUARES, "lu"}
"""They count in steps, the others in iterations."""
ITERATIONS = {"is": 100, "cg": 60, "mg": 60, "ft": 60}
"""Of the timed runs, where a class has few: an iteration is the same in all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One row of the table."""

    kernel: str
    ranks: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Of one kernel: how much longer an iteration takes under the profiler, as a share."""

    measured: Estimate | None
    pairs: int
    calls: int
    """Measured calls of the rank that has most."""
    communication: float
    """Mean share of the ranks' time between MPI_Init and MPI_Finalize."""
    counted: float
    """That number of calls at ``CALL_S`` each, as a share of the rank's time after MPI_Init."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=Path, default=PROGRAMS)
    parser.add_argument("--kernels", nargs="*", default=KERNELS, choices=KERNELS)
    parser.add_argument("--problem-class", default="A")
    parser.add_argument("--ranks", type=int, nargs="*", default=[1, 2, 4])
    parser.add_argument("--pairs", type=int, default=400)
    parser.add_argument("--iterations", type=int, default=1)
    chosen = parser.parse_args()
    columns = ["kernel", "ranks", "calls of a rank", "communication in %", "cost in % [95 %]", "pairs"]
    columns.append("calls at 100 ns in %")
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    costs: dict[Case, Cost] = {}
    with tempfile.TemporaryDirectory() as folder:
        switch = compiled(Path(folder))
        for case in cases(chosen.kernels, chosen.ranks):
            argv = [str(chosen.programs / f"npb-{case.kernel}"), "--class", chosen.problem_class, "--json"]
            launch = Launch(
                argv=argv,
                case=case,
                libraries=[switch, chosen.programs / "libtareprof.so"],
                folder=Path(folder),
            )
            costs[case] = cost_of(launch, chosen.pairs, chosen.iterations)
            print(row(case, costs[case]), flush=True)
    return 0 if claims_hold(costs) else 1


def compiled(folder: Path) -> Path:
    library = folder / "profiler_switch.so"
    source = Path(__file__).with_name("profiler_switch.c")
    subprocess.run(["mpicc", "-O2", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    return library


def cases(kernels: Sequence[str], ranks: Sequence[int]) -> list[Case]:
    """Each once: 2 ranks of BT are 1. More ranks than processors only where a square needs them."""
    processors = os.cpu_count() or 1
    result = [
        Case(kernel=kernel, ranks=active_ranks(kernel, count))
        for kernel in kernels
        for count in ranks
        if count <= processors or kernel in SQUARES
    ]
    return list(dict.fromkeys(result))


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """How one row's program is run, and where its ranks write."""

    argv: Sequence[str]
    case: Case
    libraries: Sequence[Path]
    folder: Path

    @property
    def profile(self) -> Path:
        return self.folder / "profile.json"

    def iterate(self, count: int, **switched: Any) -> list["RankBlocks"]:
        """As ``run``, with so many iterations."""
        name = "steps" if self.case.kernel in STEPPED else "iterations"
        return self.run("--set", f"{name}={count}", **switched)

    def run(self, *options: str, blocks: Sequence["BlockCalls"] = (), seed: int = 0) -> list["RankBlocks"]:
        """Raise ``SystemExit`` with what it said if it fails; a problem of one's own need not be verified."""
        exported = {
            "LD_PRELOAD": ":".join(map(str, self.libraries)),
            "TARE_PROFILE": str(self.profile),
            **({"SWITCH_CALLS": ",".join(map(str, blocks))} if blocks else {}),
            "SWITCH_SEED": str(seed),
            "SWITCH_FILE": str(self.folder / "blocks"),
        }
        enough = self.case.ranks <= (os.cpu_count() or 1)
        binding = ["--bind-to", "core"] if enough else ["--bind-to", "none", "--oversubscribe"]
        exports = [part for name, value in exported.items() for part in ("-x", f"{name}={value}")]
        words = [
            "mpirun",
            "--allow-run-as-root",
            *binding,
            *exports,
            "-np",
            str(self.case.ranks),
            *self.argv,
            *options,
        ]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=LIMIT_S)
        if done.returncode not in ({UNVERIFIED} if options else {0}) or "tareprof" in done.stderr:
            sys.exit(
                f"{' '.join(words)}: exit code {done.returncode}:\n{(done.stdout + done.stderr)[-2000:]}"
            )
        return [read_blocks(self.folder / f"blocks.{rank}") for rank in range(self.case.ranks)]


@dataclass(frozen=True, slots=True)
class BlockCalls:
    """What one rank's switch is told."""

    before: int
    """Calls of the set-up and the first iteration."""
    block: int

    def __str__(self) -> str:
        return f"{self.before}:{self.block}"


@dataclass(frozen=True, slots=True)
class RankBlocks:
    """What one rank's switch saw."""

    calls: int
    blocks: Sequence[tuple[bool, float]]
    """Whether its calls went to the profiler, and how long it took, in ns."""


def read_blocks(path: Path) -> RankBlocks:
    first, *lines = path.read_text().splitlines()
    pairs = (line.split() for line in lines)
    return RankBlocks(int(first), [(through == "1", float(spent)) for through, spent in pairs])


def cost_of(launch: Launch, wanted: int, iterations: int) -> Cost:
    launch.run()
    ranks = json.loads(launch.profile.read_text())["profile"]
    blocks = block_calls(launch, iterations)
    logs: list[float] = []
    if blocks and all(rank.block for rank in blocks):
        for _ in range(MOST_RUNS):
            logs += log_ratios(timed(launch, blocks))
            if len(logs) >= wanted:
                break
    return Cost(
        measured=hodges_lehmann(logs, LEVEL) if len(logs) >= LEAST_PAIRS else None,
        pairs=len(logs),
        calls=max(map(calls_of, ranks)),
        communication=statistics.fmean(rank["communication_s"] / rank["wall_s"] for rank in ranks),
        counted=max(CALL_S * calls_of(rank) / (rank["wall_s"] - rank["init_s"]) for rank in ranks),
    )


def timed(launch: Launch, blocks: Sequence[BlockCalls]) -> list[RankBlocks]:
    seed, kernel = random.getrandbits(63), launch.case.kernel
    if kernel in ITERATIONS:
        return launch.iterate(ITERATIONS[kernel], blocks=blocks, seed=seed)
    return launch.run(blocks=blocks, seed=seed)


def block_calls(launch: Launch, iterations: int) -> list[BlockCalls]:
    """Of each rank; empty for EP, which does not iterate. What follows the last iteration is taken for set-up."""
    if launch.case.kernel == "ep":
        return []
    pairs = zip(launch.iterate(SHORT), launch.iterate(LONGER), strict=True)
    of_iteration = [(round((more.calls - less.calls) / (LONGER - SHORT)), less.calls) for less, more in pairs]
    return [BlockCalls(calls - (SHORT - 1) * value, iterations * value) for value, calls in of_iteration]


def log_ratios(ranks: Sequence[RankBlocks]) -> Iterator[float]:
    """Of each pair of blocks, profiled over not profiled; a block's time is the mean of its ranks'."""
    blocks = list(zip(*(rank.blocks for rank in ranks), strict=False))
    for first, second in zip(blocks[::2], blocks[1::2], strict=False):
        spent = {
            through: statistics.fmean(ns for _, ns in block)
            for block in (first, second)
            for through, _ in block[:1]
        }
        yield math.log(spent[True] / spent[False])


def calls_of(rank: Mapping[str, Any]) -> int:
    return sum(call["count"] for call in rank["calls"])


def row(case: Case, cost: Cost) -> str:
    cells = [case.kernel.upper(), str(case.ranks), str(cost.calls), f"{100 * cost.communication:.0f}"]
    cells += [told(cost.measured), str(cost.pairs), f"{100 * cost.counted:.2f}"]
    return f"| {' | '.join(cells)} |"


def told(measured: Estimate | None) -> str:
    if measured is None or measured.low is None or measured.high is None:
        return ""
    point, low, high = (100 * math.expm1(value) for value in (measured.point, measured.low, measured.high))
    return f"{point:.2f} [{low:.2f} to {high:.2f}]"


def claims_hold(costs: Mapping[Case, Cost]) -> bool:
    measured = {case: cost.measured for case, cost in costs.items() if cost.measured is not None}
    if not measured:
        return said("something was measured", holds=False)
    mean = statistics.fmean(math.expm1(cost.point) for cost in measured.values())
    return all(
        [
            said(
                f"mean cost of {len(measured)} kernels {mean:.2%}, claimed {MOST_COST:.0%}",
                holds=mean < MOST_COST,
            ),
            not_above(measured),
        ]
    )


def not_above(measured: Mapping[Case, Estimate]) -> bool:
    above = [
        f"{case.kernel.upper()} on {case.ranks}"
        for case, cost in measured.items()
        if cost.low is not None and math.expm1(cost.low) > MOST_COST
    ]
    text = f"no kernel's cost is surely above {MOST_COST:.0%}" + (
        f", but {', '.join(above)}" if above else ""
    )
    return said(text, holds=not above)


if __name__ == "__main__":
    sys.exit(main())
