# SPDX-License-Identifier: Apache-2.0
"""The advice: predictions beside each other, ties, what to take, and what to measure."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from tare.analyze.advice.costs import LEVEL, resources_beyond, used_resources
from tare.analyze.advice.known import overlap
from tare.analyze.advice.predicted import Foreseen, foreseen
from tare.records.advice import (
    Advice,
    Application,
    Basis,
    Candidate,
    KnownWorkload,
    OwnVerdict,
    Predicted,
    Rejected,
    Resource,
)
from tare.statistics.left_out import Without, interval
from tare.statistics.letters import letters

_TWO = 2
COSTS = 0.01
"""From here on an overhead is worth to look for something better."""


def advise(
    application: Application,
    arms: Sequence[Candidate],
    known: Sequence[KnownWorkload],
    rejected: Sequence[Rejected] = (),
    ignored: Sequence[str] = (),
) -> Advice:
    """Rank the arms that are left; ``known``: workloads in the application's layout, without itself."""
    out = {each.arm.name for each in rejected}
    resources = used_resources(application.rates, known)
    measured = tuple(each for each in application.measured if each.arm.name not in out)
    claimed = [each for each in measured if each.tells]
    done = {each.arm.name for each in claimed}
    ran = {name for each in known for name in each.overheads}
    left = [arm for arm in arms if arm.name in ran - out - done]
    never = [arm for arm in arms if arm.name not in ran | out | done]
    predicted = _ranked([foreseen(arm, known, application.rates, resources) for arm in left])
    take, measure = _chosen(claimed, predicted)
    return Advice(
        application=application,
        known=len(known),
        layout=known[0].cell.layout if known else application.layout,
        resources=resources,
        measured=tuple(sorted(measured, key=lambda each: each.overhead.point)),
        predicted=predicted,
        rejected=tuple(rejected),
        ignored=(
            *ignored,
            *(f"{arm.name}: no known workload ran in it, in such a layout" for arm in never),
            *_uncounted(application.rates, known, resources),
        ),
        take=take,
        measure=measure,
    )


def _uncounted(
    rates: Mapping[Resource, float], known: Sequence[KnownWorkload], resources: Sequence[Resource]
) -> list[str]:
    """Resources that have no part in the predictions, in words."""
    beyond = resources_beyond(rates, known)
    words = []
    for resource in Resource:
        have = sum(resource in each.rates for each in known)
        if resource in resources or resource in beyond or (not have and resource not in rates):
            continue
        why = "not known of the application"
        if resource in rates:
            why = f"known of {have} of {len(known)} known workloads, which are too few"
        words.append(f"{resource}: {why}")
    return words


def _ranked(every: Sequence[Foreseen]) -> tuple[Predicted, ...]:
    """The fastest first; then those without a prediction, the one with the least known overhead first."""
    ranked = sorted((each for each in every if each.left_out), key=lambda each: _point(each.predicted))
    names = [each.predicted.arm.name for each in ranked]
    apart = [
        (first.predicted.arm.name, second.predicted.arm.name)
        for first, second in combinations(ranked, _TWO)
        if _differ(first.left_out, second.left_out)
    ]
    lettered = letters(names, apart)
    others = sorted((each.predicted for each in every if not each.left_out), key=_least_promising)
    return (
        *(replace(each.predicted, letters=lettered[each.predicted.arm.name]) for each in ranked),
        *others,
    )


def _differ(first: Mapping[str, Without], second: Mapping[str, Without]) -> bool:
    """Whether the interval of the difference, by the workloads that ran in both, is on one side of 0."""
    differences = [
        Without(
            own=mine.own - other.own,
            own_scale=max(mine.own_scale, other.own_scale),
            truth=mine.truth - other.truth,
            new=mine.new - other.new,
            new_scale=max(mine.new_scale, other.new_scale),
        )
        for mine, other in ((first[name], second[name]) for name in first.keys() & second.keys())
    ]
    ends = interval(differences, LEVEL)
    return ends is not None and (ends[0] > 0 or ends[1] < 0)


def _chosen(
    measured: Sequence[OwnVerdict], predicted: Sequence[Predicted]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What to take, and what to measure if that is not settled."""
    if measured:
        return _of_measured(measured, predicted)
    ranked = [each for each in predicted if each.stands]
    unknown = [each for each in predicted if not each.stands]
    if not ranked:
        return (), tuple(each.arm.name for each in unknown[:_TWO])
    best = [each for each in ranked if set(each.letters) & set(ranked[0].letters)]
    top = ranked[0].overhead
    rivals = [each for each in unknown if top is None or _may_beat(each, top.high)]
    take = tuple(each.arm.name for each in best)
    if rivals:
        return (), (take[0], rivals[0].arm.name)
    return take, take[:_TWO] if len(take) > 1 else ()


def _of_measured(
    measured: Sequence[OwnVerdict], predicted: Sequence[Predicted]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The best that was measured; what may be better, if it costs something for certain, is to be measured too."""
    best = min(measured, key=lambda each: each.overhead.point)
    tied = [each for each in measured if each is best or _tied(each, best)]
    ahead = [each for each in predicted if each.stands and _point(each) < best.overhead.point]
    costs = (best.overhead.low or 0.0) > COSTS
    rivals = [each for each in predicted if costs and not each.stands and _may_beat(each, best.overhead.low)]
    own = [each.arm.name for each in (*ahead, *rivals) if each.arm.of is None]
    take = tuple(each.arm.name for each in sorted(tied, key=lambda each: each.overhead.point))
    return take, tuple(own[:_TWO])


def _tied(first: OwnVerdict, second: OwnVerdict) -> bool:
    """By the ranking; by the intervals with a cure, which no ranking has, and between results, which have their own."""
    if first.letters and second.letters and first.result == second.result:
        return bool(set(first.letters) & set(second.letters))
    return overlap(first.overhead, second.overhead)


def _may_beat(each: Predicted, high: float | None) -> bool:
    return each.known is None or high is None or each.known[0] < high


def _point(each: Predicted) -> float:
    return each.overhead.point if each.overhead else float("inf")


def _least_promising(each: Predicted) -> tuple[bool, float]:
    return each.basis is Basis.TOO_FEW, each.known[1] if each.known else float("inf")
