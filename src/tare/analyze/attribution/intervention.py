# SPDX-License-Identifier: Apache-2.0
"""How an overhead changed when one knob was turned: only this earns the word "cause".

The environment as it is, with each knob turned, and native run in the same blocks. Per block d is the log-ratio to
native (docs/method.md). The change is d(turned) - d(as it is), in which native cancels out; a knob that is a limit also
applies natively, so native also runs with it turned, and d(turned) is relative to that run. All knobs and claimed
metrics are one family: a cause also passes Student's t test of its change, adjusted by Holm's procedure: unlike the
signed ranks' with few blocks, its p-value has no floor.
"""

import math
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass

from tare.analyze.attribution.sentences import interval, is_fine, percent
from tare.analyze.contrasts import between_two, unwidened_of
from tare.analyze.judgement import word_of
from tare.records import Change, Estimate, Intervention, InterventionVerdict, Role, Shift, Summary, Word
from tare.statistics.blocks import LEAST_BLOCKS
from tare.statistics.contrasts import Contrast, estimate, widened
from tare.statistics.distributions import student_share
from tare.statistics.estimate import as_fraction
from tare.statistics.multiplicity import adjusted, holds
from tare.statistics.student import standard_deviation

LEAST_PART = 0.1
"""Part of an overhead, on the scale of logarithms: a knob that moves less is not its cause."""
MOST_OF_NO_CAUSE = 0.5
"""Part of an overhead: a knob that may still account for this much is not shown to be no cause."""
_SHIFTS = {
    Word.FASTER: Shift.FALLS,
    Word.SLOWER: Shift.RISES,
    Word.WITHIN: Shift.SAME,
    Word.UNDECIDED: Shift.UNDECIDED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _MovedMetric:
    """One metric with one knob turned."""

    summary: Summary
    turned: Change
    before: Estimate
    after: Estimate
    change: Estimate
    shift: Shift
    p_value: float


def intervention_verdicts(
    summaries: Sequence[Summary], intervention: Intervention, margin: float
) -> tuple[InterventionVerdict, ...]:
    """One per knob and metric with a complete block; knob by knob, primary metrics first."""
    moves = list(_moves(summaries, intervention, margin))
    claimed = [move for move in moves if _is_claimed(move, intervention)]
    chances = iter(adjusted([move.p_value for move in claimed], exploratory=False))
    return tuple(
        _verdict(move, intervention, next(chances) if _is_claimed(move, intervention) else 1.0)
        for move in moves
    )


def _moves(summaries: Sequence[Summary], intervention: Intervention, margin: float) -> Iterator[_MovedMetric]:
    own = [summary for summary in summaries if summary.environment == intervention.environment]
    for turned in intervention.changes:
        for before in sorted(own, key=lambda summary: not summary.primary):
            moved = _moved(before, summaries, turned, margin)
            if moved is not None:
                yield moved


def _is_claimed(move: _MovedMetric, intervention: Intervention) -> bool:
    claim = (move.summary.cell.workload, move.summary.metric)
    return claim in intervention.claims if intervention.claims else move.summary.primary


def _moved(
    before: Summary, summaries: Sequence[Summary], turned: Change, margin: float
) -> _MovedMetric | None:
    changed, native = (
        _of(environment, before, summaries) for environment in (turned.changed, turned.changed_native)
    )
    blocks = set(_numbers(before)) & set(_numbers(changed))
    if turned.changed_native is not None:
        blocks &= set(_numbers(native))
    if changed is None or not blocks:
        return None
    as_it_is, after = unwidened_of(before, blocks), _after(changed, native, blocks)
    moved = widened(_difference(after, as_it_is))
    change = as_fraction(estimate(moved))
    return _MovedMetric(
        summary=before,
        turned=turned,
        before=as_fraction(estimate(widened(as_it_is))),
        after=as_fraction(estimate(widened(after))),
        change=change,
        shift=_SHIFTS[word_of(change, margin)],
        p_value=_p_value(moved.log_ratios),
    )


def _after(changed: Summary, native: Summary | None, blocks: Container[int]) -> Contrast:
    """Contrast to native, or to native with the knob turned too: then one environment against another."""
    against_native = unwidened_of(changed, blocks)
    return _difference(against_native, unwidened_of(native, blocks)) if native else against_native


def _difference(minuend: Contrast, subtrahend: Contrast) -> Contrast:
    """Difference of two environments in the same blocks, not widened: common drift cancels out."""
    pairs = zip(minuend.log_ratios, subtrahend.log_ratios, strict=True)
    return between_two([first - second for first, second in pairs])


def _numbers(summary: Summary | None) -> tuple[int, ...]:
    return tuple(value.block for value in summary.blocks) if summary else ()


def _of(environment: str | None, like: Summary, summaries: Sequence[Summary]) -> Summary | None:
    """Summary of the same metric in another environment."""
    key = (like.cell, like.metric, like.unit, like.direction)
    alike = (
        summary
        for summary in summaries
        if (summary.cell, summary.metric, summary.unit, summary.direction) == key
    )
    return next((summary for summary in alike if summary.environment == environment), None)


def _p_value(differences: Sequence[float]) -> float:
    """Two-sided p-value of Student's t test for a mean of 0; 1 where there are too few values."""
    n, deviation = len(differences), standard_deviation(differences)
    mean = math.fsum(differences) / n
    if deviation is None or n < LEAST_BLOCKS:
        return 1.0
    if deviation == 0:
        return 1.0 if mean == 0 else 0.0
    return 2 * student_share(n - 1, -abs(mean) / deviation * math.sqrt(n))


def _verdict(move: _MovedMetric, intervention: Intervention, chance: float) -> InterventionVerdict:
    role = _role(move, chance)
    return InterventionVerdict(
        intervention=intervention,
        turned=move.turned,
        cell=move.summary.cell,
        metric=move.summary.metric,
        before=move.before,
        after=move.after,
        change=move.change,
        shift=move.shift,
        role=role,
        chance=chance,
        sentence=_sentence(move, intervention.environment, role),
    )


def _role(move: _MovedMetric, chance: float) -> Role:
    """Role of a knob: a cause removes a good part of an existing difference, beyond chance among all that was tried."""
    parts = _parts(move)
    if move.change.low is None or move.before.low is None:
        return Role.UNDECIDED
    if parts is None:
        return Role.ABSENT
    least, point, most = parts
    if least > 0 and point >= LEAST_PART:
        return Role.CAUSE if holds(chance) else Role.UNDECIDED
    if most >= MOST_OF_NO_CAUSE:
        return Role.UNDECIDED
    return Role.SMALL if least > 0 else Role.NONE


def _parts(move: _MovedMetric) -> tuple[float, float, float] | None:
    """Part of the difference, on the scale of logarithms, that disappears: least, likeliest, most.

    ``None`` where no difference was certain.
    """
    before, change = move.before, move.change
    if before.low is None or before.high is None or before.low <= 0 <= before.high:
        return None
    whole = math.log1p(before.point)
    ends = [-math.log1p(end) / whole for end in (change.low, change.high) if end is not None]
    return min(ends), -math.log1p(change.point) / whole, max(ends)


def _sentence(move: _MovedMetric, own: str, role: Role) -> str:
    subject, change = move.turned.subject, move.turned.change
    moved = f"from {overhead_said(move.before)} to {overhead_said(move.after)} (n = {move.after.n})"
    match role:
        case Role.CAUSE:
            what = "overhead falls" if move.before.point > 0 else "gain goes"
            return f"{subject} is a cause: {change} {own}'s {what} {moved}"
        case Role.SMALL:
            return f"{subject} is a small part at most: {change} {own} goes {moved}"
        case Role.NONE:
            return f"{subject} is no cause: {change} {own} goes {moved}"
        case Role.ABSENT:
            return f"{own}'s difference was not seen again in these blocks: {change} it goes {moved}"
        case _:
            return _undecided(move.turned, move.after, moved)


def overhead_said(overhead: Estimate) -> str:
    """For example "26 % [25 % to 28 %]"."""
    return f"{percent(overhead.point, fine=is_fine(overhead))} {interval(overhead)}"


def _undecided(turned: Change, after: Estimate, moved: str) -> str:
    few = f"it takes {LEAST_BLOCKS} blocks"
    why = (
        few if after.n < LEAST_BLOCKS else "it may be chance among all that was tried; more blocks may decide"
    )
    return f"undecided on {turned.subject}: {turned.change} {moved}; {why}"
