# SPDX-License-Identifier: Apache-2.0
"""Does the driver itself bias a comparison? Native through the whole driver under another name, against native.

    python -m bench.no_op [RESOURCE ...] [--blocks 40] [--rounds 2000]          (as root, with the image built)

Four programs, each of which uses one resource, take turns in slices of about a millisecond in the nodes of a block, as
the arms of any campaign do: compute, page faults, system calls, files. Prints for each the signed-rank interval over
the blocks of the overhead in CPU time, and in wall time, which depends on who else uses the machine. The claim: in CPU
time each interval, at 99 %, lies within ±0.1 %. Where it is wider the line says what it resolves, and how many rounds
±0.1 % would take. Exit code 1 unless the claim is shown of all four, or of each ``RESOURCE`` that is named.
"""

import argparse
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from bench.quiet import Quiet
from tare.journal.reader import read_journal
from tare.journal.result import ResultFolder
from tare.measure.campaign import Request, measure_campaign
from tare.plan.campaign import Campaign
from tare.records import CPU_TIME, Environment, Estimate, Layout, Limits, Outcome, Turns, Way, Workload
from tare.statistics.estimate import as_fraction
from tare.statistics.signed_rank import hodges_lehmann
from tare.treat import summaries
from tare.units import format_duration

COUNTS = {"compute": 600_000, "page-faults": 600, "system-calls": 6000, "files": 48}
"""Resource → uses in a slice of about a millisecond."""
METRIC = "iteration"
LEVEL = 0.99
MOST = 0.001
_PROGRAM = Path(__file__).with_name("no_op.c")
_HEADERS = _PROGRAM.parent.parent / "native" / "slices"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("resources", nargs="*", metavar="RESOURCE", choices=[*COUNTS, []])
    parser.add_argument("--blocks", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=2000, help="in each block")
    chosen = parser.parse_args()
    resources = chosen.resources or list(COUNTS)
    begun = time.monotonic()
    outcomes = measured(resources, chosen.blocks, chosen.rounds)
    each_s = (time.monotonic() - begun) / len(resources)
    estimates = no_op(resources, outcomes)
    for (resource, metric), estimate in estimates.items():
        kind = "CPU time" if metric.endswith(CPU_TIME) else "wall time"
        print(f"{resource}, {kind}: {said(estimate, chosen.rounds, each_s)}")
    cpu = [estimate for (_, metric), estimate in estimates.items() if metric.endswith(CPU_TIME)]
    return 0 if all(map(shown, cpu)) else 1


def measured(resources: Sequence[str], blocks: int, rounds: int) -> Sequence[Outcome]:
    """Of a campaign of native against native that takes turns."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        Path(folder).chmod(0o755)  # an ordinary user runs what is bound
        program = build(Path(folder) / "bound")
        request = Request(
            campaign=_campaign(program, resources, blocks, rounds),
            folder=ResultFolder(Path(folder) / "result"),
        )
        measure_campaign(request, Quiet())
        outcomes = read_journal(request.folder.journal).outcomes
    bad = [outcome.reason for outcome in outcomes if outcome.reason]
    assert not bad, bad[0]
    return outcomes


def build(folder: Path) -> Path:
    """The program that uses the resources, in a folder of its own."""
    folder.mkdir(exist_ok=True)
    program = folder / "no_op"
    subprocess.run(["cc", "-O2", "-static", "-I", _HEADERS, "-o", program, _PROGRAM], check=True)
    return program


def _campaign(program: Path, resources: Sequence[str], blocks: int, rounds: int) -> Campaign:
    return Campaign(
        name="no-op",
        environments=(Environment(name="no-op", technology="native"),),
        layouts=(Layout.parse("1c1p1i"),),
        workloads=tuple(_workload(program, resource, COUNTS[resource]) for resource in resources),
        limits=Limits(memory_byte=1 << 28, shm_byte=1 << 20, time_s=60.0),
        blocks=blocks,
        margin=0.01,
        budget_s=None,
        seed=None,
        binds=(f"{program.parent}:ro",),
        turns=Turns(slice_s=0.001, rounds=rounds // 2, processes=2),
    )


def _workload(program: Path, resource: str, count: int) -> Workload:
    argv = [str(program), resource, str(count)]
    return Workload(name=resource, kind="command", options={"argv": argv, "turns": True}, way=Way.SLICES)


def no_op(resources: Sequence[str], outcomes: Sequence[Outcome]) -> dict[tuple[str, str], Estimate]:
    """Resource and metric → overhead of the no-op environment over all blocks."""
    metrics = (f"{METRIC}{CPU_TIME}", METRIC)
    by_name = {
        (summary.cell.workload, summary.metric): summary
        for summary in summaries(outcomes, dict.fromkeys(resources, metrics))
    }
    return {
        (resource, metric): as_fraction(hodges_lehmann(by_name[resource, metric].log_ratios, LEVEL))
        for metric in metrics
        for resource in resources
    }


def bounds(estimate: Estimate) -> tuple[float, float]:
    """Infinite where there are too few blocks for the level."""
    low, high = estimate.low, estimate.high
    return (-math.inf, math.inf) if low is None or high is None else (low, high)


def shown(estimate: Estimate) -> bool:
    low, high = bounds(estimate)
    return low > -MOST and high < MOST


def said(estimate: Estimate, rounds: int, took_s: float) -> str:
    """The interval and what it shows; ``rounds`` of each block, ``took_s``: for them all."""
    low, high = bounds(estimate)
    interval = (
        f"{estimate.point:+.3%}, {LEVEL:.0%} interval {low:+.3%} to {high:+.3%} "
        f"({estimate.n} blocks of {rounds} rounds)"
    )
    if shown(estimate):
        return f"{interval}: within ±{MOST:.1%}"
    if low >= MOST or high <= -MOST:
        return f"{interval}: NOT within ±{MOST:.1%}"
    half = (high - low) / 2
    times = (half / MOST) ** 2
    if not math.isfinite(times):
        return f"{interval}: too few blocks for {LEVEL:.0%}"
    more = f"{estimate.n * rounds * times:,.0f} rounds, {format_duration(took_s * times)}"
    return f"{interval}: resolves ±{half:.2%}; ±{MOST:.1%} takes about {more}"


if __name__ == "__main__":
    if os.geteuid() != 0:
        sys.exit("run as root: nodes need mounts and control groups")
    sys.exit(main())
