# SPDX-License-Identifier: Apache-2.0
"""An after-effect for real, with the orders that Tare draws and with those that it drew before.

    python -m bench.after_effects [--blocks 12] [--repeats 3]         (as root, with the image; two minutes a repeat)

All arms read the same pages of a file of the image, in a slice that times itself. After its timed part the planted arm
streams through memory, so that whoever comes next finds the processor's cache flushed: native, an arm in which nothing
is done, or itself. So each arm's true overhead is 0. Before, an arm never followed itself (Williams squares).

The after-effect must end with the next turn, as no order keeps out what goes on (docs/method.md): parts that are not
timed fetch an arm's own memory first, and the shared pages once more afterwards.

The claim: no more intervals miss 0 now than 95 % allow, and the new order takes at most a tenth longer.
"""

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from itertools import islice
from pathlib import Path
from unittest.mock import patch

from scipy.stats import binom

from bench.planted_causes import listed
from bench.plants import Nothing
from bench.quiet import Quiet
from bench.simulation.after_effects import williams
from tare.environments.native import Chroot
from tare.journal.result import ResultFolder
from tare.measure.campaign import Request, measure_campaign
from tare.measure.turns import slices
from tare.measure.turns.slices import Round
from tare.nodes.provider import Node, NodeSpec
from tare.pipeline import analyse_result
from tare.plan.campaign import Campaign
from tare.records import Environment, Estimate, Exclude, Layout, Limits, OptionValue, Turns, Way, Workload
from tare.workloads.kind import Piece

LEAVES = "BENCH_LEAVES"
MOST_LONGER = 0.1
_PROGRAM = f"""
import mmap, os, sys, time
with open(os.path.realpath(sys.executable), "rb") as file:
    shared = mmap.mmap(file.fileno(), 4 << 20, access=mmap.ACCESS_READ)
size = 48 << 20
origin, copy = memoryview(bytes(size)), memoryview(bytearray(size))
own = mmap.mmap(-1, 1 << 16)
leaves = "{LEAVES}" in os.environ
def timed(memory, count):
    begun = time.perf_counter_ns()
    for offset in range(0, 1024, 64):
        memory[offset::1024]
    sum(range(count))
    return time.perf_counter_ns() - begun
for line in sys.stdin:
    timed(own, 20_000)
    taken = timed(shared, 200_000)
    for again in range(8):
        timed(shared, 0)
    if leaves:
        copy[:] = origin
    print("slice", taken, "- - -", flush=True)
"""


class Leaving(Chroot):
    """Its program leaves a flushed cache to whoever comes next."""

    technology = "leaving"

    def start(self, spec: NodeSpec) -> Node:
        return replace(super().start(spec), variables={LEAVES: "1"})


def squares(
    pieces: Sequence[Piece], rounds: Mapping[str, int], arms: int, source: random.Random
) -> list[Round]:
    """The rounds as they were before."""
    (piece,) = pieces
    return [
        Round(piece=piece, number=number, order=tuple(order), leads_in=False, glance=0)
        for number, order in enumerate(islice(williams(arms, source), rounds[piece.name]))
    ]


ORDERS: Mapping[str, AbstractContextManager[object]] = {
    "before": patch.object(slices, "drawn_rounds", squares),
    "now": nullcontext(),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--blocks", type=int, default=12)
    parser.add_argument("--repeats", type=int, default=3)
    asked = parser.parse_args()
    taken_s, misses = dict.fromkeys(ORDERS, 0.0), dict.fromkeys(ORDERS, 0)
    for number in range(asked.repeats):
        for name, order in ORDERS.items():
            begun_s = time.monotonic()
            with order:
                estimates = measured(asked.blocks, seed=number)
            taken_s[name] += time.monotonic() - begun_s
            misses[name] += sum(not _holds_0(each) for each in estimates.values())
            print(
                f"{name}: {'; '.join(f'{arm} {_said(each)}' for arm, each in estimates.items())}", flush=True
            )
    longer = taken_s["now"] / taken_s["before"] - 1
    allowed = int(binom.ppf(0.99, 3 * asked.repeats, 0.05))
    print(f"intervals without 0: {misses['before']} before, {misses['now']} now ({allowed} by chance)")
    print(f"the new order takes {longer:+.1%} of the time")
    return 0 if misses["now"] <= allowed and longer <= MOST_LONGER else 1


def measured(blocks: int, seed: int) -> Mapping[str, Estimate]:
    """Typical overheads by the real runner."""
    with tempfile.TemporaryDirectory() as folder, listed((Leaving(), Nothing())):
        result = ResultFolder(Path(folder) / "result")
        measure_campaign(Request(campaign=_campaign(blocks, seed), folder=result), Quiet())
        analysis = analyse_result(result.path)
    if not analysis.verdicts:
        sys.exit("\n".join(sorted({str(outcome.reason) for outcome in analysis.outcomes})))
    own = [verdict.overhead for verdict in analysis.verdicts if verdict.overhead.summary.primary]
    natives = [control.typical for control in analysis.controls if control.summary.primary]
    return {
        **{overhead.summary.environment: overhead.typical for overhead in own},
        "native against itself": natives[0],
    }


def _campaign(blocks: int, seed: int) -> Campaign:
    options: dict[str, OptionValue] = {"argv": ["python3", "-c", _PROGRAM], "turns": True}
    return Campaign(
        name="after-effects",
        environments=tuple(
            Environment(name=technology, technology=technology)
            for technology in (Leaving.technology, Nothing.technology)
        ),
        layouts=(Layout.parse("1c1p1i"),),
        workloads=(Workload(name="work", kind="command", options=options, way=Way.SLICES),),
        limits=Limits(memory_byte=1 << 30, shm_byte=1 << 20, time_s=60.0),
        blocks=blocks,
        margin=0.01,
        budget_s=None,
        seed=seed,
        turns=Turns(slice_s=0.006, rounds=44, processes=2),
        exclude=Exclude(foreign_load=None, frequency_change=None, temperature_c=None),
    )


def _holds_0(estimate: Estimate) -> bool:
    return estimate.low is not None and estimate.high is not None and estimate.low <= 0 <= estimate.high


def _said(estimate: Estimate) -> str:
    if estimate.low is None or estimate.high is None:
        return f"{estimate.point:+.2%}, too few blocks for an interval"
    return f"{estimate.point:+.2%} [{estimate.low:+.2%} to {estimate.high:+.2%}]"


if __name__ == "__main__":
    sys.exit(main())
