# SPDX-License-Identifier: Apache-2.0
"""Do slices that take turns find planted slowdowns, and nothing where nothing is?

    python -m bench.turns [--blocks 120] [--rounds 22] [--kinds memory ...] [--campaigns 100] [--campaign-blocks 8]
                          [--seed 1]                                                (as root, with the image built)

Native under other names, whose slices have so many per cent more work than native ones, takes turns with native in
pieces of every kind; the truth is the share of whole units added. From the blocks campaigns are drawn without
replacement. Prints how often the truth lies in the interval, how often a slowdown is detected, how often no-op arms are
called slower or faster, how narrow the intervals are, and what waiting nodes use.
"""

import argparse
import math
import random
import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench.quiet import Quiet
from tare.analyze import verdicts
from tare.journal.reader import read_journal
from tare.journal.result import ResultFolder
from tare.measure.campaign import Request, measure_campaign
from tare.measure.turns import slices
from tare.measure.turns.player import Player
from tare.plan.campaign import Campaign
from tare.records import (
    Environment,
    Layout,
    Limits,
    Outcome,
    Status,
    Summary,
    Turns,
    Verdict,
    Way,
    Word,
    Workload,
)
from tare.treat import summaries
from tare.workloads import KINDS

PLANTED = {
    "no-op": 0.0,
    "plus-10": 0.01,
    "plus-20": 0.02,
    "plus-33": 0.033,
    "plus-77": 0.077,
    "plus-130": 0.13,
}
PIECES = {
    "compute": ("compute",),
    "memory": ("bandwidth",),
    "os": ("system-calls",),
    "messages": ("latency",),
}
SLICE_S = 0.006
ROUNDS = 22
_added: dict[tuple[str, str], float] = {}
"""Arm and piece → share of the work that was added, in whole units."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--blocks", type=int, default=120)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--kinds", nargs="+", choices=PIECES, default=list(PIECES))
    parser.add_argument("--campaigns", type=int, default=100)
    parser.add_argument("--campaign-blocks", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    outcomes = measured(_campaign(chosen.blocks, PLANTED, chosen.kinds, chosen.rounds), PLANTED)
    whole = summaries(outcomes, {name: _metrics(name) for name in chosen.kinds})
    source = random.Random(chosen.seed)  # noqa: S311 - draws of blocks
    drawn = [_drawn(whole, source, chosen.campaign_blocks) for _ in range(chosen.campaigns)]
    for planted in PLANTED:
        for name in chosen.kinds:
            _print_row(planted, name, [_of(judged, planted, name) for judged in drawn])
    print(_waiting(outcomes))
    return 0


def measured(campaign: Campaign, planted: Mapping[str, float]) -> Sequence[Outcome]:
    """All arms natively; the planted ones do so much more work in each slice."""
    plain, checked = Player.turn, slices._refuse_other_results  # noqa: SLF001 - other work has other results

    def more_work(self: Player, token: str) -> list[Mapping[str, Any]]:
        piece, count = token.split()
        units = round(int(count) * (1 + planted.get(self.name, 0.0)))
        _added[self.name, piece] = units / int(count) - 1
        return plain(self, f"{piece} {units}")

    Player.turn = more_work  # type: ignore[method-assign]
    slices._refuse_other_results = lambda *_: None  # noqa: SLF001
    try:
        with tempfile.TemporaryDirectory() as folder:
            request = Request(campaign=campaign, folder=ResultFolder(Path(folder) / "result"))
            measure_campaign(request, Quiet())
            outcomes = read_journal(request.folder.journal).outcomes
    finally:
        Player.turn = plain  # type: ignore[method-assign]
        slices._refuse_other_results = checked  # noqa: SLF001
    bad = [outcome.reason for outcome in outcomes if outcome.status is Status.FAILED]
    assert not bad, bad[0]
    return outcomes


def _campaign(blocks: int, planted: Mapping[str, float], kinds: Sequence[str], rounds: int) -> Campaign:
    return Campaign(
        name="turns",
        environments=tuple(Environment(name=name, technology="native") for name in planted),
        layouts=(Layout.parse("1c2p1i"),),
        workloads=tuple(map(_workload, kinds)),
        limits=Limits(memory_byte=1 << 30, shm_byte=1 << 26, time_s=60.0),
        blocks=blocks,
        margin=0.01,
        budget_s=None,
        seed=None,
        turns=Turns(slice_s=SLICE_S, rounds=rounds, processes=1),
    )


def _workload(name: str) -> Workload:
    model = KINDS[name].options_model
    options = model.model_validate({"pieces": list(PIECES[name])}).model_dump(mode="json", exclude_none=True)
    return Workload(name=name, kind=name, options=options, way=Way.SLICES)


def _metrics(name: str) -> tuple[str, ...]:
    kind = KINDS[name]
    options = kind.options_model.model_validate({"pieces": list(PIECES[name])})
    return tuple(piece.metric for piece in kind.pieces(options))


def _drawn(whole: Sequence[Summary], source: random.Random, blocks: int) -> Sequence[Verdict]:
    """The verdicts of a campaign of some of the blocks, in their order."""
    numbers = sorted({block.block for summary in whole for block in summary.blocks})
    chosen = set(source.sample(numbers, blocks))
    return verdicts([_part(summary, chosen) for summary in whole if summary.primary], 0.01)


def _part(summary: Summary, chosen: set[int]) -> Summary:
    places = [place for place, block in enumerate(summary.blocks) if block.block in chosen]
    return replace(
        summary,
        blocks=tuple(summary.blocks[place] for place in places),
        log_ratios=tuple(summary.log_ratios[place] for place in places),
        control_log_ratios=tuple(summary.control_log_ratios[place] for place in places),
    )


def _of(judged: Sequence[Verdict], planted: str, name: str) -> Verdict:
    return next(
        verdict
        for verdict in judged
        if verdict.overhead.summary.environment == planted and verdict.overhead.summary.cell.workload == name
    )


def _print_row(planted: str, name: str, judged: Sequence[Verdict]) -> None:
    truth = _added[planted, PIECES[name][0]]
    estimates = [verdict.overhead.typical for verdict in judged]
    bounds = [(each.low, each.high) for each in estimates if each.low is not None and each.high is not None]
    covered = sum(low <= truth <= high for low, high in bounds)
    half = statistics.median((high - low) / 2 for low, high in bounds) if bounds else math.nan
    slower = sum(verdict.word is Word.SLOWER for verdict in judged)
    faster = sum(verdict.word is Word.FASTER for verdict in judged)
    print(
        f"{name:9s} planted {truth:+.2%}: covered {covered} of {len(bounds)}, half-width {half:.2%} (median), "
        f"slower {slower}, faster {faster} of {len(judged)}"
    )


def _waiting(outcomes: Sequence[Outcome]) -> str:
    turns = [
        outcome.turns for outcome in outcomes if outcome.turns and outcome.turns.waiting_cpu_s is not None
    ]
    cpu_s = sum(turns_taken.waiting_cpu_s or 0.0 for turns_taken in turns)
    waited_s = sum(turns_taken.waiting_s or 0.0 for turns_taken in turns)
    return f"waiting nodes used {cpu_s:.3f} s of CPU time in {waited_s:.0f} s ({cpu_s / waited_s:.4%})"


if __name__ == "__main__":
    sys.exit(main())
