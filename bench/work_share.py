# SPDX-License-Identifier: Apache-2.0
"""How much of a campaign's time its commands are at work, natively and in bubblewrap, by the preset ``containers``.

    python -m bench.work_share [--rounds 3] [--blocks 3]            (as root, with the image built)

Each round runs the same small campaign twice: as it is, and with every launch tried and all evidence asked in every
trial, as it was once. Work is the commands' wall time, the rest is nodes, the look into them, what is tried beforehand
and what is done between trials. The first block is left out: there all is tried in any case. The claim: at least 97 %
is work.
"""

import argparse
import os
import statistics
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from unittest.mock import patch

from bench.quiet import Quiet
from tare.host.facts import memory_byte, online_processors
from tare.journal.result import ResultFolder
from tare.measure import prepared
from tare.measure.campaign import Request, measure_campaign
from tare.measure.context import Context
from tare.measure.instances import Instance
from tare.measure.prepared import facts_beforehand
from tare.nodes.provider import Node
from tare.plan.campaign import Campaign, load_preset
from tare.records import Environment, Layout, Outcome, Status, Trial

PRESET = "containers"
LAYOUT = "1c2p1i"
LEAST = 0.97


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--blocks", type=int, default=3)
    asked = parser.parse_args()
    rounds = []
    for number in range(asked.rounds):
        rounds.append((shares(asked.blocks, always=True), shares(asked.blocks)))
        least = _print(f"after {number + 1} of {asked.rounds} rounds of {asked.blocks} blocks", rounds)
    return 0 if least >= LEAST else 1


def _print(words: str, rounds: Sequence[tuple[Mapping[str, float], Mapping[str, float]]]) -> float:
    """Returns the least share as it is now."""
    print(f"share of the time at work, medians {words}:", flush=True)
    shares_now = []
    for cell in rounds[0][0]:
        always, once = (statistics.median(each[way][cell] for each in rounds) for way in (0, 1))
        shares_now.append(once)
        print(f"  {cell}: tried in every trial {always:.1%}, once per arm {once:.1%}", flush=True)
    return min(shares_now)


def campaign(blocks: int) -> Campaign:
    preset = load_preset(PRESET, host_processors=len(online_processors()), host_memory_byte=memory_byte())
    return replace(
        preset,
        environments=(Environment(name="bubblewrap", technology="bubblewrap"),),
        layouts=(Layout.parse(LAYOUT),),
        blocks=blocks,
        looks=(),
        budget_s=None,
        seed=1,
    )


def shares(blocks: int, *, always: bool = False) -> dict[str, float]:
    """Workload and environment → the commands' share of their trials' time, with all since the trials before."""
    with (
        tempfile.TemporaryDirectory() as folder,
        patch.object(prepared, "facts_beforehand", _anew if always else facts_beforehand),
    ):
        request = Request(campaign=campaign(blocks), folder=ResultFolder(Path(folder) / "result"))
        audience = Quiet()
        measure_campaign(request, audience)
    return by_cell(audience.ends)


def by_cell(ends: Sequence[tuple[float, Outcome]]) -> dict[str, float]:
    """Given when each trial ended; of the first block only the last end counts, as all is tried in it."""
    work_s, all_s = defaultdict[str, float](float), defaultdict[str, float](float)
    for (before_s, _), (end_s, outcome) in pairwise(ends):
        if outcome.trial.block:
            work_s[_cell(outcome)] += _work_s(outcome)
            all_s[_cell(outcome)] += end_s - before_s
    return {cell: work_s[cell] / all_s[cell] for cell in all_s}


def _anew(
    context: Context, trial: Trial, nodes: Sequence[Node], instances: Sequence[Instance]
) -> Mapping[str, str]:
    context.evidence.clear()
    return facts_beforehand(context, trial, nodes, instances)


def _cell(outcome: Outcome) -> str:
    return f"{outcome.trial.workload.name} in {outcome.trial.environment.name}"


def _work_s(outcome: Outcome) -> float:
    assert outcome.status is not Status.FAILED, outcome.reason
    return max(run.clocks.wall_s for run in outcome.instances)


if __name__ == "__main__":
    if os.geteuid() != 0:
        sys.exit("run as root: nodes need mounts and control groups")
    sys.exit(main())
