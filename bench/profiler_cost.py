# SPDX-License-Identifier: Apache-2.0
"""What the MPI profiler costs the NAS Parallel Benchmarks: each with it and without it, in random order.

    python -m bench.profiler_cost [--programs FOLDER] [--reference FOLDER] [--kernels cg lu] [--problem-class A]
                                  [--ranks 1 2] [--rounds 10]

Tare's own kernels and profiler in the folder of programs, or the reference's programs in another (``cg.A.x``). Each
rank is bound to a core. BT and SP, which need a square number of ranks, run on one. The rates are the programs' own, so
that starting and ending MPI is left out. The last column does not depend on what else the machine does: the calls
counted, at 100 ns each. The claims: no kernel's interval lies above a cost of 1 %, the mean is below it, and so are the
calls of each. Intervals need at least six rounds.
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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.npb import KERNELS, LEVEL, LIMIT_S, PROGRAMS, rate_of, said
from tare.analyze.signed_rank import hodges_lehmann
from tare.workloads.npb.problems import active_ranks

MOST_COST = 0.01
LEAST_ROUNDS = 6
"""With fewer pairs no interval of signed ranks reaches ``LEVEL``."""
CALL_S = 1e-7
"""What a measured call takes at most: docs/profiler.md."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Of one kernel: how much longer it takes under the profiler, as a share."""

    point: float
    low: float | None
    high: float | None
    rate: float
    """Median without the profiler, in Mop/s."""
    calls: int
    """Measured calls of the rank that has most."""
    communication: float
    """Mean share of the ranks' time between MPI_Init and MPI_Finalize, in the last round."""
    counted: float
    """That number of calls at ``CALL_S`` each, as a share of the rank's time after MPI_Init."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One row of the table."""

    kernel: str
    ranks: int


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=Path, default=PROGRAMS)
    parser.add_argument("--reference", type=Path)
    parser.add_argument("--kernels", nargs="*", default=KERNELS, choices=KERNELS)
    parser.add_argument("--problem-class", default="A")
    parser.add_argument("--ranks", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=10)
    chosen = parser.parse_args()
    if chosen.rounds < LEAST_ROUNDS:
        parser.error(f"--rounds must be at least {LEAST_ROUNDS}")
    columns = ["kernel", "ranks", "Mop/s without", "cost in %", "calls of a rank", "communication in %"]
    columns.append("calls at 100 ns in %")
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    costs: dict[Case, Cost] = {}
    for case in cases(chosen.kernels, chosen.ranks):
        launch = Launch(program(case.kernel, chosen), case.ranks, chosen.programs / "libtareprof.so")
        costs[case] = measured(launch, chosen.rounds)
        print(row(case, costs[case]), flush=True)
    return 0 if claims_hold(costs) else 1


@dataclass(frozen=True, slots=True)
class Launch:
    """How one row's program is run."""

    argv: Sequence[str]
    ranks: int
    library: Path

    def rate(self, profile: Path | None) -> float:
        """What a verified run tells, in Mop/s; ``SystemExit`` with what it said otherwise."""
        enough = self.ranks <= (os.cpu_count() or 1)
        options = ["--bind-to", "core"] if enough else ["--bind-to", "none", "--oversubscribe"]
        if profile is not None:
            options += ["-x", f"LD_PRELOAD={self.library}", "-x", f"TARE_PROFILE={profile}"]
        words = ["mpirun", "--allow-run-as-root", *options, "-np", str(self.ranks), *self.argv]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=LIMIT_S)
        rate = rate_of(done.stdout)
        if done.returncode or rate is None or "tareprof" in done.stderr:
            sys.exit(
                f"{' '.join(words)}: exit code {done.returncode}:\n{(done.stdout + done.stderr)[-2000:]}"
            )
        return rate


def cases(kernels: Sequence[str], ranks: Sequence[int]) -> list[Case]:
    """Each once: 2 ranks of BT are 1."""
    found = [Case(kernel=kernel, ranks=active_ranks(kernel, count)) for kernel in kernels for count in ranks]
    return list(dict.fromkeys(found))


def program(kernel: str, chosen: argparse.Namespace) -> list[str]:
    if chosen.reference is None:
        return [str(chosen.programs / f"npb-{kernel}"), "--class", chosen.problem_class, "--json"]
    return [str(chosen.reference / f"{kernel}.{chosen.problem_class}.x")]


def measured(launch: Launch, rounds: int) -> Cost:
    """Pairs of runs next to each other; the first pair warms up and is not kept."""
    rates: dict[bool, list[float]] = {False: [], True: []}
    with tempfile.TemporaryDirectory() as folder:
        profile = Path(folder) / "profile.json"
        for number in range(rounds + 1):
            for profiled in random.sample([False, True], 2):
                rate = launch.rate(profile if profiled else None)
                if number > 0:
                    rates[profiled].append(rate)
        content = json.loads(profile.read_text())
    pairs = zip(rates[False], rates[True], strict=True)
    found = hodges_lehmann([math.log(without / under) for without, under in pairs], LEVEL)
    return Cost(
        point=math.expm1(found.point),
        low=None if found.low is None else math.expm1(found.low),
        high=None if found.high is None else math.expm1(found.high),
        rate=statistics.median(rates[False]),
        calls=max(map(calls_of, content["profile"])),
        communication=statistics.fmean(
            rank["communication_s"] / rank["wall_s"] for rank in content["profile"]
        ),
        counted=max(
            CALL_S * calls_of(rank) / (rank["wall_s"] - rank["init_s"]) for rank in content["profile"]
        ),
    )


def calls_of(rank: Mapping[str, Any]) -> int:
    return sum(call["count"] for call in rank["calls"])


def row(case: Case, cost: Cost) -> str:
    interval = (
        "" if cost.low is None or cost.high is None else f" [{100 * cost.low:.2f} to {100 * cost.high:.2f}]"
    )
    cells = [case.kernel.upper(), str(case.ranks), f"{cost.rate:.0f}", f"{100 * cost.point:.2f}{interval}"]
    cells += [str(cost.calls), f"{100 * cost.communication:.0f}", f"{100 * cost.counted:.2f}"]
    return f"| {' | '.join(cells)} |"


def claims_hold(costs: Mapping[Case, Cost]) -> bool:
    mean = statistics.fmean(cost.point for cost in costs.values())
    most = max(cost.counted for cost in costs.values())
    above = [
        f"{case.kernel.upper()} on {case.ranks}"
        for case, cost in costs.items()
        if cost.low is not None and cost.low > MOST_COST
    ]
    told = f"no kernel's cost is surely above {MOST_COST:.0%}" + (
        f", but {', '.join(above)}" if above else ""
    )
    held = [
        said(told, holds=not above),
        said(f"mean cost {mean:.2%}, claimed {MOST_COST:.0%}", holds=mean < MOST_COST),
        said(f"most calls {most:.2%} of the time, claimed {MOST_COST:.0%}", holds=most < MOST_COST),
    ]
    return all(held)


if __name__ == "__main__":
    sys.exit(main())
