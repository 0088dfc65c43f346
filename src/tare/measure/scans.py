# SPDX-License-Identifier: Apache-2.0
"""Scans before the first trial: native runs choose what a campaign leaves open, once for each host.

They run within the campaign's limits and layout. The choice is the same in every environment, and is kept for later
campaigns unless the machine was busy or the time too short.
"""

import statistics
import time
from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any, Protocol

from tare.host.facts import host_facts, host_identity
from tare.host.scratch import scratch_folder
from tare.journal.scans import keep_choice, kept_choice
from tare.measure.context import Context
from tare.measure.session import run_within
from tare.plan.definition import Campaign
from tare.plan.scans import LEAST_TURNS, TURNS, OpenScan, open_scans, words_of
from tare.records import Direction, Outcome, ScanChoice, Status
from tare.statistics.best import Best, best_of
from tare.units import percent_decimals, percent_digits, signed
from tare.workloads import KINDS

_BUSY = 0.1


class _Say(Protocol):
    def __call__(self, words: str, *, detail: bool = False) -> None: ...


class Runs:
    """What the runs of each candidate gave."""

    def __init__(self, candidates: int) -> None:
        self.costs: list[dict[int, float]] = [{} for _ in range(candidates)]
        """Turn → the primary metric as a cost: less is better."""
        self.values: list[list[float]] = [[] for _ in range(candidates)]
        self.turns = 0
        self._loads: list[bool] = []

    @property
    def busy(self) -> bool:
        """Whether others used the machine in more than a tenth of the runs: fewer only widen an interval."""
        return sum(self._loads) > _BUSY * len(self._loads)

    def add(self, place: int, turn: int, outcome: Outcome) -> None:
        self._loads.append(outcome.load is not None and outcome.load.busy)
        if outcome.status is Status.OK:
            value, direction = _figure(outcome)
            self.values[place].append(value)
            self.costs[place][turn] = value if direction is Direction.LESS else 1 / value


def _figure(outcome: Outcome) -> tuple[float, Direction]:
    """The primary metric of the kind, over all instances."""
    metric = KINDS[outcome.trial.workload.kind].primary_metric
    samples = [sample for sample in outcome.samples if sample.name == metric]
    return statistics.geometric_mean(sample.value for sample in samples), samples[0].direction


def with_choices(context: Context, campaign: Campaign, say: _Say) -> Campaign:
    """The campaign with a choice for all that it leaves open; what does not run natively stays open."""
    choices = [_choice(context, wanted, say) for wanted in open_scans(campaign)]
    return replace(campaign, choices=(*campaign.choices, *filter(None, choices)))


def _choice(context: Context, wanted: OpenScan, say: _Say) -> ScanChoice | None:
    depends = _depends(context, wanted)
    kept = kept_choice(depends)
    if kept is not None:
        choice = replace(kept, workload=wanted.workload.name, processors=wanted.processors)
        say(f"{wanted.whose}: {choice.said}, kept on this host")
        return choice
    say(wanted.sentence)
    with scratch_folder("scan") as folder:
        alone = replace(context, raw_directory=folder / "raw", tick=lambda: None)
        runs = run_turns(alone, wanted, time.monotonic() + wanted.most_s)
    if runs is None:
        say(f"{wanted.whose}: the usual options do not run natively; nothing is chosen")
        return None
    choice = _chosen(wanted, runs)
    lasts = runs.turns >= LEAST_TURNS and not runs.busy
    say(f"{wanted.whose}: {choice.said}{'' if lasts else '; the next campaign scans again'}")
    for name, median in choice.medians.items():
        say(f"  {name}: {median:.4g}", detail=True)
    if lasts:
        keep_choice(depends, choice)
    return choice


def _depends(context: Context, wanted: OpenScan) -> Mapping[str, Any]:
    """All that could make another candidate the best; a limit of time cannot."""
    limits = {key: value for key, value in asdict(wanted.limits).items() if key != "time_s"}
    return {
        "host": [host_identity(facts) for facts in (context.hosts[name].facts for name in wanted.hosts)]
        or host_identity(host_facts()),
        "image": context.image_digest,
        "kind": wanted.workload.kind,
        "options": dict(wanted.workload.options),
        "processors": wanted.processors,
        "layout": str(wanted.layout),
        "limits": limits,
        "scan": asdict(wanted.scan),
        "lacking flags": sorted({flag for flags in context.lacking_flags.values() for flag in flags}),
    }


def run_turns(context: Context, wanted: OpenScan, until_s: float) -> Runs | None:
    """As many whole turns as the time allows; ``None`` if the usual options do not run."""
    runs = Runs(len(wanted.scan.candidates))
    first = run_within(
        context, wanted.trial(0, 0), until_s - time.monotonic()
    )  # cold: it shows only how long
    if first is None or first.status is Status.FAILED:
        return None
    turn_s = first.elapsed_s * len(wanted.scan.candidates)
    turns = min(TURNS, int((until_s - time.monotonic()) / turn_s))
    for turn in range(turns if turns >= LEAST_TURNS else 0):
        for place, trial in wanted.turn(turn, context.seed):
            outcome = run_within(context, trial, until_s - time.monotonic())
            if outcome is None:
                return runs
            runs.add(place, turn, outcome)
        runs.turns += 1
    return runs


def _chosen(wanted: OpenScan, runs: Runs) -> ScanChoice:
    best = best_of(runs.costs, LEAST_TURNS)
    options = wanted.scan.candidates[best.place]
    problem = f" with {words_of(wanted.scan.problem)}" if wanted.scan.problem else ""
    compared = f"{runs.turns} native runs of each of {len(wanted.names)} candidates{problem}"
    busy = ", on a busy machine" if runs.busy else ""
    return ScanChoice(
        workload=wanted.workload.name,
        processors=wanted.processors,
        options=options,
        said=f"{words_of(options)}, {_why(wanted, best)} ({compared} on {datetime.now(UTC):%Y-%m-%d}{busy})",
        medians={
            name: statistics.median(values)
            for name, values in zip(wanted.names, runs.values, strict=True)
            if values
        },
    )


def _why(wanted: OpenScan, best: Best) -> str:
    if best.rival is None or best.lead is None or best.lead.low is None or best.lead.high is None:
        return "as usual: too few candidates ran often enough to choose another"
    decimals = percent_decimals(best.lead.high - best.lead.low)
    point, low, high = (
        signed(percent_digits(end, decimals)) for end in (best.lead.point, best.lead.low, best.lead.high)
    )
    if best.place:
        return f"{point} % beside the usual {wanted.names[0]} ({low} to {high} %)"
    return f"as usual: none is reliably better, the next is {wanted.names[best.rival]} ({low} to {high} %)"
