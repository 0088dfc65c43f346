# SPDX-License-Identifier: Apache-2.0
"""What one result says of its workloads: the overhead of each as a whole, in each environment and with each cure."""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import fmean

from tare.analyze.qualification import word_said
from tare.records import (
    Analysis,
    Cell,
    Estimate,
    Explanation,
    InterventionVerdict,
    Role,
    Verdict,
    Word,
    is_without_load,
)
from tare.records.advice import Candidate, KnownWorkload, OwnVerdict, Resource
from tare.statistics.letters import letters

_WALL = "wall_s"
_BY_THE_CLOCK = frozenset(
    {"netpipe", "collective", "imb", "osu", "iperf3", "sockperf", "connections", "hpcg"}
)
"""Kinds that choose how much they do by the time that it takes, so that their run time says nothing."""


@dataclass(frozen=True, slots=True)
class ArmNames:
    """What the arms of one result are called beside other results'."""

    arms: Mapping[str, Candidate]
    """Name of an environment in the result \N{RIGHTWARDS ARROW} what it is called."""

    def cured(
        self, environment: str, verdict: InterventionVerdict, explained: Sequence[Explanation]
    ) -> Candidate:
        """The environment with the knob turned as the verdict says."""
        base, change = self.arms[environment], verdict.turned.change
        cures = (
            each.cure
            for each in explained
            if each.environment == environment and each.knob == verdict.turned.knob
        )
        cure = next(filter(None, cures), change)
        return replace(base, name=f"{base.name} {change}", cure=cure, of=base.name)


def known_workloads(
    analysis: Analysis,
    names: ArmNames,
    kinds: Mapping[Cell, str],
    rates: Mapping[Cell, Mapping[Resource, float]],
) -> tuple[list[KnownWorkload], list[Candidate]]:
    """One for each cell with a usable overhead, and all their arms; ``kinds``: of the cells' workloads."""
    arms = dict.fromkeys(names.arms.values())
    overheads: dict[Cell, dict[str, float]] = defaultdict(dict)
    for (cell, environment), own in _by_arm(analysis.verdicts).items():
        heads = headlines(own, kinds.get(cell, ""))
        value = _joined([verdict.overhead.typical.point for verdict in heads]) if _usable(heads) else None
        if environment not in names.arms or value is None:
            continue
        overheads[cell][names.arms[environment].name] = value
        for arm, cured in _cured(analysis, names, cell, environment, heads, value):
            arms[arm] = None
            overheads[cell][arm.name] = cured
    workloads = [
        KnownWorkload(
            name=f"{cell.workload} on {cell.layout}", cell=cell, rates=rates.get(cell, {}), overheads=own
        )
        for cell, own in overheads.items()
    ]
    return workloads, list(arms)


def headlines(verdicts: Sequence[Verdict], kind: str) -> list[Verdict]:
    """The verdicts that stand for the whole workload: its run time, or where it has none all of its primary metrics."""
    wall = [verdict for verdict in verdicts if verdict.overhead.summary.metric == _WALL]
    if wall and kind not in _BY_THE_CLOCK:
        return wall
    return [
        verdict
        for verdict in verdicts
        if verdict.overhead.summary.primary and not is_without_load(verdict.overhead.summary.metric)
    ]


def measured_in(analysis: Analysis, names: ArmNames, cell: Cell, kind: str) -> list[OwnVerdict]:
    """What the result says of the workload itself, with verified cures: the worst primary metric decides."""
    own = {
        environment: _primaries(verdicts, kind)
        for (own_cell, environment), verdicts in _by_arm(analysis.verdicts).items()
        if own_cell == cell and environment in names.arms
    }
    metrics = {verdict.overhead.summary.metric for verdicts in own.values() for verdict in verdicts}
    worst = {environment: _worst(verdicts) for environment, verdicts in own.items() if verdicts}
    lettered = _worst_letters(analysis, cell, worst)
    every = []
    for environment, verdict in worst.items():
        measured = OwnVerdict(
            arm=names.arms[environment],
            overhead=verdict.overhead.typical,
            said=word_said(verdict),
            result=analysis.result,
            letters=lettered[environment],
            withheld=verdict.set_aside is not None,
            metric=verdict.overhead.summary.metric if len(metrics) > 1 else "",
            metrics=len(metrics),
            untold=len(metrics) - sum(map(_tells, own[environment])),
        )
        every.append(measured)
        every.extend(_cured_measured(analysis, names, own[environment], measured))
    return every


def _primaries(verdicts: Sequence[Verdict], kind: str) -> list[Verdict]:
    """All primary metrics, but of those without load only where there is no other."""
    primary = [verdict for verdict in verdicts if verdict.overhead.summary.primary]
    loaded = [verdict for verdict in primary if not is_without_load(verdict.overhead.summary.metric)]
    return loaded or primary or headlines(verdicts, kind)


def _tells(verdict: Verdict) -> bool:
    return verdict.set_aside is None and verdict.overhead.typical.low is not None


def _worst(verdicts: Sequence[Verdict]) -> Verdict:
    """The one with the largest overhead, of those that tell; if none does, of all."""
    telling = [verdict for verdict in verdicts if _tells(verdict)]
    return max(telling or verdicts, key=lambda verdict: verdict.overhead.typical.point)


def _worst_letters(analysis: Analysis, cell: Cell, worst: Mapping[str, Verdict]) -> dict[str, str]:
    """The ranking's, where one metric decides for all; else by it, and by the intervals where two metrics differ."""
    ranked = {environment: _letters(analysis, cell, verdict) for environment, verdict in worst.items()}
    if len({verdict.overhead.summary.metric for verdict in worst.values()}) <= 1:
        return ranked
    names = sorted(worst, key=lambda name: worst[name].overhead.typical.point)
    return letters(
        names,
        [
            (first, second)
            for first, second in combinations(names, 2)
            if _apart(worst[first], worst[second], ranked[first], ranked[second])
        ],
    )


def _apart(first: Verdict, second: Verdict, first_letters: str, second_letters: str) -> bool:
    if first.overhead.summary.metric == second.overhead.summary.metric:
        return bool(first_letters and second_letters) and not set(first_letters) & set(second_letters)
    return not overlap(first.overhead.typical, second.overhead.typical)


def overlap(first: Estimate, second: Estimate) -> bool:
    """Whether their intervals have a value in common; one without an interval may have any."""
    if first.low is None or first.high is None or second.low is None or second.high is None:
        return True
    return first.low <= second.high and second.low <= first.high


def _cured_measured(
    analysis: Analysis, names: ArmNames, verdicts: Sequence[Verdict], measured: OwnVerdict
) -> Iterator[OwnVerdict]:
    """With each verified cure: what it leaves of the metrics that it changes, and the others as they are."""
    summary = verdicts[0].overhead.summary
    by_knob: dict[str, list[InterventionVerdict]] = defaultdict(list)
    for turned in _cures(analysis, summary.cell, summary.environment, verdicts):
        by_knob[turned.turned.knob].append(turned)
    for turned_all in by_knob.values():
        left = {
            verdict.overhead.summary.metric: verdict.overhead.typical
            for verdict in verdicts
            if _tells(verdict)
        } | {each.metric: each.after for each in turned_all}
        metric = max(left, key=lambda name: left[name].point)
        yield replace(
            measured,
            arm=names.cured(summary.environment, turned_all[0], analysis.explanations),
            overhead=left[metric],
            said="with the cure",
            letters="",
            withheld=False,
            metric=measured.metric and metric,
            untold=measured.metrics - len(left),
        )


def _letters(analysis: Analysis, cell: Cell, verdict: Verdict) -> str:
    summary = verdict.overhead.summary
    places = (
        place
        for ranking in analysis.rankings
        if ranking.cell == cell and ranking.metric == summary.metric
        for place in ranking.places
    )
    return next((place.letters for place in places if place.environment == summary.environment), "")


def _by_arm(verdicts: Sequence[Verdict]) -> dict[tuple[Cell, str], list[Verdict]]:
    arms: dict[tuple[Cell, str], list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        summary = verdict.overhead.summary
        arms[summary.cell, summary.environment].append(verdict)
    return arms


def withheld(analysis: Analysis) -> int:
    """How many overheads of primary metrics say nothing as the host was too busy."""
    return sum(
        verdict.overhead.summary.primary and verdict.set_aside is not None for verdict in analysis.verdicts
    )


def _usable(heads: Sequence[Verdict]) -> bool:
    return bool(heads) and not any(verdict.set_aside for verdict in heads)


def _joined(overheads: Sequence[float]) -> float | None:
    """Pieces that take equal parts of the time: the mean of their logarithms."""
    if not all(math.isfinite(each) and each > -1 for each in overheads):
        return None
    return math.expm1(fmean(math.log1p(each) for each in overheads))


def _cures(
    analysis: Analysis, cell: Cell, environment: str, heads: Sequence[Verdict]
) -> list[InterventionVerdict]:
    metrics = {verdict.overhead.summary.metric for verdict in heads}
    return [
        each
        for each in analysis.interventions
        if each.cell == cell
        and each.intervention.environment == environment
        and each.metric in metrics
        and each.turned.is_cure
        and each.role is Role.CAUSE
    ]


def _cured(
    analysis: Analysis,
    names: ArmNames,
    cell: Cell,
    environment: str,
    heads: Sequence[Verdict],
    value: float,
) -> Iterator[tuple[Candidate, float]]:
    """Each verified cure of the environment and what it leaves of the overhead here.

    A workload without a claim has nothing to cure, and keeps its overhead; one with a claim that the cure was not
    shown to change is left out.
    """
    here = {each.turned.knob: each.after.point for each in _cures(analysis, cell, environment, heads)}
    for knob, verdict in _verified(analysis, environment).items():
        arm = names.cured(environment, verdict, analysis.explanations)
        if knob in here and len(heads) == 1:
            yield arm, here[knob]
        elif not any(head.word in {Word.SLOWER, Word.FASTER} for head in heads):
            yield arm, value


def _verified(analysis: Analysis, environment: str) -> dict[str, InterventionVerdict]:
    """Knob \N{RIGHTWARDS ARROW} a verdict by which it is a cause of something."""
    return {
        each.turned.knob: each
        for each in analysis.interventions
        if each.intervention.environment == environment and each.turned.is_cure and each.role is Role.CAUSE
    }


def merged(workloads: Sequence[tuple[str, KnownWorkload]]) -> list[KnownWorkload]:
    """One for each identity: the same workload in several results counts once, with the means of what they say."""
    groups: dict[str, list[KnownWorkload]] = defaultdict(list)
    for identity, workload in workloads:
        groups[identity].append(workload)
    every = [_merged(own) for own in groups.values()]
    names = [each.name for each in every]
    return [
        replace(each, name=f"{each.name} ({place + 1})") if names.count(each.name) > 1 else each
        for place, each in enumerate(every)
    ]


def _merged(own: Sequence[KnownWorkload]) -> KnownWorkload:
    rates: dict[Resource, list[float]] = defaultdict(list)
    logs: dict[str, list[float]] = defaultdict(list)
    for each in own:
        for resource, rate in each.rates.items():
            rates[resource].append(rate)
        for arm, overhead in each.overheads.items():
            logs[arm].append(math.log1p(overhead))
    return replace(
        own[0],
        rates={resource: fmean(values) for resource, values in rates.items()},
        overheads={arm: math.expm1(fmean(values)) for arm, values in logs.items()},
    )
