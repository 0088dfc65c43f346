# SPDX-License-Identifier: Apache-2.0
"""``--fail-if``: whether an overhead exceeds a threshold, by a boundary of its own (docs/method.md).

Pocock, Biometrika 64 (1977) 191-199: the same nominal level at every look, which can decide earlier than the
boundary of the estimates and is wider at the end.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tare.analyze import busy, load_effect, load_said
from tare.analyze.contrasts import contrast_of, controls_of
from tare.analyze.differences import signed_range
from tare.analyze.sentence import advice
from tare.records import Cell, Course, Decision, Design, Estimate, FailIf, Ruling, Skipped, Summary, Word
from tare.records.busy import LoadEffect
from tare.statistics.blocks import fewest_blocks
from tare.statistics.boundary import ERROR, boundary, constant_spending, spending_with
from tare.statistics.contrasts import estimate
from tare.statistics.estimate import as_fraction
from tare.statistics.student import standard_deviation
from tare.treat.pairing import known_after

_MOST_BLOCKS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruled:
    """Result of one condition in one arm."""

    condition: FailIf
    summary: Summary | None
    """``None``: the arm has no value of the condition's metric."""
    ruling: Ruling
    interval: Estimate | None
    n: int
    withheld: str | None = None
    """Why the machine was too busy for the decision that the interval alone would make."""
    busy: str | None = None
    """The load that cannot have made the decision, although it rests on busy blocks; ``None``: on quiet ones."""
    load: LoadEffect | None = None
    """What the load alone could make, where the decision would not be made of times without it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _AtLook:
    """What a look after ``blocks`` blocks shows."""

    summary: Summary
    """By the loads known then."""
    blocks: int
    nominal: float
    """Level of its intervals."""

    @property
    def interval(self) -> Estimate:
        return as_fraction(estimate(contrast_of(self.summary, range(self.blocks)), self.nominal))

    @property
    def control(self) -> Estimate:
        """Native against itself."""
        return as_fraction(estimate(controls_of(self.summary, range(self.blocks)), self.nominal))

    @property
    def left(self) -> Estimate:
        """What is left of the overhead if the load cost the environment alone."""
        moved = load_effect.moved(self.summary, Word.SLOWER)
        return as_fraction(estimate(contrast_of(moved, range(self.blocks)), self.nominal))


def decisions(
    summaries: Sequence[Summary],
    courses: Mapping[tuple[Cell, str], Course],
    design: Design,
    expected: Sequence[str] = (),
    skipped: Sequence[Skipped] = (),
) -> tuple[Decision, ...]:
    """Answer every condition for every arm that it concerns.

    ``expected`` environments without a trial are undecided; ``skipped`` may say why.
    """
    arms: dict[tuple[Cell, str], list[Summary]] = {arm: [] for arm in courses}
    for summary in summaries:
        arms.setdefault((summary.cell, summary.environment), []).append(summary)
    made = [
        _decision(ruled, arm)
        for arm, metrics in arms.items()
        for ruled in rulings(metrics, courses.get(arm), design, arm)
    ]
    reasons = {
        skipped.environment: f"it was skipped: {skipped.reason}; {skipped.remedy}" for skipped in skipped
    }
    measured = {arm[1] for arm in arms}
    missing = [name for name in expected if name not in measured]
    return (
        *made,
        *(decision for name in missing for decision in _absent(design.fail_if, name, reasons.get(name))),
    )


def rulings(
    metrics: Sequence[Summary], course: Course | None, design: Design, arm: tuple[Cell, str]
) -> tuple[Ruled, ...]:
    """Results of the conditions on this arm at the looks that ``course`` passed; ``metrics``: the arm's."""
    asked = [fail_if for fail_if in design.fail_if if fail_if.environment in (None, arm[1])]
    shares = _shares(design, arm[0])
    return tuple(
        _ruled(fail_if, summary, course, shares)
        for fail_if in asked
        for summary in _metrics(fail_if, metrics)
    )


def _metrics(condition: FailIf, metrics: Sequence[Summary]) -> Sequence[Summary | None]:
    """The primary metrics, or the one that the condition names; ``None`` in place of a missing one."""
    named = [
        summary
        for summary in metrics
        if (summary.primary if condition.metric is None else summary.metric == condition.metric)
    ]
    return named or [None]


def _ruled(
    condition: FailIf, summary: Summary | None, course: Course | None, shares: tuple[float, ...]
) -> Ruled:
    """Apply one condition to one metric; the first look that decides is final."""
    interval, withheld = None, None
    if summary is not None and course is not None:
        for look in _looks(summary, course, shares):
            ruled = _ruled_at(look, condition)
            interval, withheld = ruled.interval, ruled.withheld
            if ruled.ruling is not Ruling.UNDECIDED and withheld is None:
                return ruled
    n = interval.n if interval else len(summary.blocks) if summary else 0
    if interval is None or _ruling(interval, condition.threshold) is Ruling.UNDECIDED:
        withheld = None if summary is None else busy.blocks_said(summary)
    return Ruled(
        condition=condition,
        summary=summary,
        ruling=Ruling.UNDECIDED,
        interval=interval,
        n=n,
        withheld=withheld,
    )


def _ruled_at(look: _AtLook, condition: FailIf) -> Ruled:
    """What the look shows, and why no decision is permitted there.

    Of busy blocks only "exceeded" is one, if the threshold is exceeded even where the load did its most.
    """
    interval, control, threshold = look.interval, look.control, condition.threshold
    said = busy.blocks_said(look.summary, look.blocks)
    drowned = busy.drowns(interval, control, threshold)
    ruling = _ruling(interval, threshold)
    left = look.left if ruling is Ruling.EXCEEDED else interval
    beyond_load = load_effect.differs(left, Word.SLOWER, threshold)
    released = said is not None and beyond_load and not drowned
    unsure = said is None and ruling is Ruling.EXCEEDED and not beyond_load
    return Ruled(
        condition=condition,
        summary=look.summary,
        ruling=ruling,
        interval=load_effect.hull(interval, left) if released else interval,
        n=interval.n,
        withheld=None if released else said or (busy.control_said(control) if drowned else None),
        busy=said if released else None,
        load=load_effect.effect(look.summary, Word.SLOWER, interval, left, look.blocks)
        if released or unsure
        else None,
    )


def _shares(design: Design, cell: Cell) -> tuple[float, ...]:
    """Share of the error used up after each planned look; blocks added later permit more."""
    planned = design.looks_of(cell)
    first = constant_spending(tuple(look for look in planned if look <= design.total))
    return (*first, *map(spending_with, range(1, len(planned) - len(first) + 1)))


def _looks(summary: Summary, course: Course, shares: tuple[float, ...]) -> Iterator[_AtLook]:
    """The looks that have a decision interval."""
    spent = list(shares[: len(course.looks)])
    if course.final:
        spent[-1:] = [max(1.0, *spent[-1:])]
    for place, blocks in enumerate(course.looks):
        known, reached = known_after(summary, blocks), course.looks[: place + 1]
        ns = tuple(len(contrast_of(known, range(look)).log_ratios) for look in reached)
        nominal = boundary(ns, tuple(spent[: place + 1]), ERROR)[-1]
        if nominal > 0:
            yield _AtLook(summary=known, blocks=blocks, nominal=nominal)


def _ruling(interval: Estimate, threshold: float) -> Ruling:
    if interval.low is not None and interval.low > threshold:
        return Ruling.EXCEEDED
    if interval.high is not None and interval.high <= threshold:
        return Ruling.KEPT
    return Ruling.UNDECIDED


def _decision(ruled: Ruled, arm: tuple[Cell, str]) -> Decision:
    cell, environment = arm
    return Decision(
        condition=ruled.condition,
        cell=cell,
        environment=environment,
        metric=ruled.summary.metric if ruled.summary else None,
        ruling=ruled.ruling,
        interval=ruled.interval,
        sentence=f"{environment} ({_place(ruled, cell)}): {_said(ruled)}",
        released=ruled.busy is not None,
        load=ruled.load,
    )


def _absent(conditions: Sequence[FailIf], environment: str, reason: str | None) -> Iterator[Decision]:
    """Decisions on an environment that never ran."""
    for condition in conditions:
        if condition.environment in {None, environment}:
            yield Decision(
                condition=condition,
                cell=None,
                environment=environment,
                metric=None,
                ruling=Ruling.UNDECIDED,
                interval=None,
                sentence=f"{environment}: undecided: {reason or 'none of its blocks was run'}",
            )


def _place(ruled: Ruled, cell: Cell) -> str:
    where = f"{cell.workload} on {cell.layout}"
    return f"{ruled.summary.metric} of {where}" if ruled.summary else where


def _said(ruled: Ruled) -> str:
    limit = f"{100 * ruled.condition.threshold:g} %"
    if ruled.withheld is not None:
        return f"undecided whether the overhead exceeds {limit}: {_withheld_said(ruled.withheld, ruled.interval)}"
    if ruled.interval is None or ruled.interval.low is None or ruled.interval.high is None:
        return f"undecided whether the overhead exceeds {limit}: {_lacking(ruled)}"
    overhead = signed_range(ruled.interval.low, ruled.interval.high)
    if ruled.ruling is Ruling.EXCEEDED:
        return f"the overhead exceeds {limit}: {overhead} (n = {ruled.n}){_load_said(ruled)}"
    if ruled.ruling is Ruling.KEPT:
        return f"the overhead does not exceed {limit}: {overhead} (n = {ruled.n})"
    return f"undecided whether the overhead exceeds {limit}: {overhead} (n = {ruled.n}; {_advice(ruled)})"


def _withheld_said(reason: str, interval: Estimate | None) -> str:
    said = f"the machine was too busy ({reason})"
    if interval is None or interval.low is None or interval.high is None:
        return said
    return f"{said}; measured {signed_range(interval.low, interval.high)}"


def _load_said(ruled: Ruled) -> str:
    if ruled.busy is not None:
        return f", even if all of the load ({ruled.busy}) cost it alone"
    return f", but {load_said.effect_said(ruled.load)}" if ruled.load else ""


def _lacking(ruled: Ruled) -> str:
    if ruled.summary is None or not ruled.summary.blocks:
        what = ruled.condition.metric or "a primary metric"
        return f"no complete block has a value of {what}"
    least = fewest_blocks(ERROR)
    if ruled.n < least:
        return f"n = {ruled.n}, and an interval needs at least {least} blocks"
    return f"no look was reached that gives an interval (n = {ruled.n})"


def _advice(ruled: Ruled) -> str:
    """Advice: (1.96 s / h)^2 + 2 blocks in total, where h is the distance of the estimate from the threshold."""
    if ruled.summary is None or ruled.interval is None:
        return advice(None)
    deviation = standard_deviation(ruled.summary.log_ratios)
    distance = abs(math.log1p(ruled.interval.point) - math.log1p(ruled.condition.threshold))
    if deviation is None or distance <= 0:
        return advice(None)
    needed = (1.96 * deviation / distance) ** 2 + 2
    more = max(1, math.ceil(min(needed, 2 * _MOST_BLOCKS)) - ruled.n)
    return advice(None if more > _MOST_BLOCKS else more)
