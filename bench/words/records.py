# SPDX-License-Identifier: Apache-2.0
"""Records of simulated campaigns, as a journal would give them, and what is false about a word."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from bench.fake_results import campaign as fake_campaign
from bench.simulation.scenarios import Floats
from bench.words.product import leads_in
from tare.plan.campaign import Campaign
from tare.plan.trials import plan_trials
from tare.records import (
    NATIVE,
    BlockValue,
    Cell,
    Direction,
    Environment,
    HostLoad,
    Outcome,
    Sample,
    Status,
    Summary,
    Trial,
    TurnsTaken,
    Verdict,
    Way,
    Word,
)
from tare.treat import summaries

CELL = Cell(workload="work", layout="1c1p1i")
METRIC = "wall_s"
PRIMARY = {CELL.workload: (METRIC,)}
Arm = tuple[str, int]
"""Environment and native slot."""
NATIVES: tuple[Arm, Arm] = ((NATIVE, 0), (NATIVE, 1))
Place = tuple[str, int, Arm]
"""Workload, block and arm of a run."""


def summary_of(
    runs: Iterable[Floats],
    environment: str = "arm0",
    *,
    metric: str = METRIC,
    cell: Cell = CELL,
    primary: bool = True,
    blocks: Sequence[int] | None = None,
) -> Summary:
    """Whole runs of both natives and an environment, as logarithms of times, one per block."""
    first, second, other = (np.asarray(arm, dtype=np.float64) for arm in runs)
    numbers = range(len(first)) if blocks is None else blocks
    rows = zip(numbers, *(np.exp(arm).tolist() for arm in (first, second, other)), strict=True)
    return Summary(
        cell=cell,
        environment=environment,
        metric=metric,
        unit="s",
        direction=Direction.LESS,
        primary=primary,
        blocks=tuple(
            BlockValue(block=number, native=(first, second), environment=value)
            for number, first, second, value in rows
        ),
        log_ratios=tuple((other - (first + second) / 2).tolist()),
        control_log_ratios=tuple((second - first).tolist()),
        dropped_blocks=0,
    )


def is_false(verdict: Verdict, truth: float) -> bool:
    """Whether the word says something else of a typical overhead of ``truth``, a fraction."""
    match verdict.word:
        case Word.SLOWER:
            return truth <= 0
        case Word.FASTER:
            return truth >= 0
        case Word.WITHIN:
            return verdict.within is not None and abs(truth) > verdict.within
        case Word.BOUNDED:
            return verdict.at_most is not None and truth > verdict.at_most
        case _:
            return False


def leaves_out(verdict: Verdict, truth: float) -> bool:
    """Whether the claim's own interval exists and does not hold ``truth``."""
    typical = verdict.overhead.typical
    return typical.low is not None and typical.high is not None and not typical.low <= truth <= typical.high


def width(verdict: Verdict) -> float:
    """Of the claim's own interval, in points."""
    typical = verdict.overhead.typical
    return math.nan if typical.low is None or typical.high is None else 100 * (typical.high - typical.low)


@lru_cache(maxsize=128)
def planned(
    blocks: int, environments: int, workloads: int, seed: int, *, slices: bool = False, beside: bool = False
) -> tuple[Trial, ...]:
    """The trials of a campaign in the order of ``plan_trials``.

    ``slices``: they take turns; ``beside``: only another workload does.
    """
    made = _campaign(blocks, environments, workloads + beside, slices=slices)
    if beside:
        *whole, other = made.workloads
        made = replace(made, workloads=(*whole, replace(other, way=Way.SLICES)))
    return plan_trials(made, seed)


def _campaign(blocks: int, environments: int, workloads: int, *, slices: bool) -> Campaign:
    made = fake_campaign(blocks, environments)
    work = replace(made.workloads[0], way=Way.SLICES if slices else Way.WHOLE)
    names = (CELL.workload, *(f"work{number}" for number in range(1, workloads)))
    return replace(
        made,
        environments=tuple(
            Environment(name=f"arm{place}", technology=each.technology)
            for place, each in enumerate(made.environments)
        ),
        workloads=tuple(replace(work, name=name) for name in names),
    )


def after_effects(
    trials: Sequence[Trial], leaves: Mapping[str, float], lasts: int = 1
) -> Iterator[tuple[Place, float]]:
    """What each whole run takes more, as a logarithm, because of what ran before it; turns leave nothing to it.

    ``leaves``: environment → what it leaves to each of the ``lasts`` next runs.
    """
    before: list[str] = []
    after_turns = False
    for trial in trials:
        if trial.turns is not None:
            before, after_turns = [], True
            continue
        name = trial.environment.name
        before, after_turns = ([name] if after_turns and leads_in() else before), False
        place = trial.workload.name, trial.block, (name, trial.replicate)
        yield place, sum(math.log1p(leaves.get(earlier, 0.0)) for earlier in before)
        before = [*before, name][-lasts:]


def outcomes_of(
    trials: Sequence[Trial],
    values: Mapping[Place, Sequence[float]],
    loads: Mapping[tuple[int, Arm], HostLoad] | None = None,
) -> list[Outcome]:
    """An outcome for each trial; ``values``: logarithms of times, of each slice where there are several.

    ``loads``: block and arm → what others used in its trial.
    """
    arms = [(trial.environment.name, trial.replicate) for trial in trials]
    return [
        _outcome(trial, values[trial.workload.name, trial.block, arm], (loads or {}).get((trial.block, arm)))
        for trial, arm in zip(trials, arms, strict=True)
    ]


def _outcome(trial: Trial, values: Sequence[float], load: HostLoad | None) -> Outcome:
    in_turns = trial.workload.way is Way.SLICES
    per_start = len(values) // (trial.turns.processes if trial.turns else 1)
    return Outcome(
        trial=trial,
        status=Status.OK,
        reason=None,
        excerpt=None,
        started_utc="2026-01-01T00:00:00.000+00:00",
        elapsed_s=1.0,
        node_start_s=None,
        node_stop_s=None,
        barrier_skew_s=None,
        cpu_s=None,
        samples=tuple(
            Sample(
                name=METRIC,
                value=math.exp(value),
                unit="s",
                direction=Direction.LESS,
                round=place if in_turns else None,
                process=place // per_start if in_turns else None,
            )
            for place, value in enumerate(values)
        ),
        instances=(),
        load=load,
        turns=TurnsTaken(way=Way.SLICES, together=f"b{trial.block}", arms=3, turns=len(values))
        if in_turns
        else None,
        image_digest="none",
    )


def summarized(
    trials: Sequence[Trial],
    values: Mapping[Place, Sequence[float]],
    loads: Mapping[tuple[int, Arm], HostLoad] | None = None,
) -> tuple[Summary, ...]:
    """The same through ``tare.treat``."""
    return summaries(outcomes_of(trials, values, loads), PRIMARY)
