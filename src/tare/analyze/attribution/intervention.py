# SPDX-License-Identifier: Apache-2.0
"""What became of an overhead when one knob was turned: this alone earns the word "cause".

As it is, with each knob turned, and native run in the same blocks. Per block d is the log-ratio to native
(docs/method.md). The change is d(turned) - d(as it is), in which native cancels out; where the knob is a limit, which
holds natively too, native is run with it turned as well, and d(turned) is taken against that. All knobs and claimed
metrics are one family: a cause also passes Student's t test of its change, adjusted by Holm's procedure, whose p-value
has no floor, as the signed ranks' has for few blocks.
"""

import math
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass

from scipy.special import stdtr

from tare.analyze.attribution.words import interval, percent
from tare.analyze.contrasts import Contrast, Differences, estimate, unwidened_of, widened
from tare.analyze.estimation import as_fraction
from tare.analyze.judgement import word_of
from tare.analyze.multiplicity import adjusted, holds
from tare.analyze.student import standard_deviation
from tare.blocks import LEAST_BLOCKS
from tare.records import Attributed, Change, Estimate, Intervention, InterventionVerdict, Shift, Summary, Word

LEAST_PART = 0.1
"""Of an overhead, on the scale of logarithms: what moves less of it is not its cause."""
_SHIFTS = {
    Word.FASTER: Shift.FALLS,
    Word.SLOWER: Shift.RISES,
    Word.WITHIN: Shift.SAME,
    Word.UNDECIDED: Shift.UNDECIDED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Moved:
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
    """One for each knob and metric of which a block is complete; knob by knob, primary metrics first."""
    moves = list(_moves(summaries, intervention, margin))
    claimed = [move for move in moves if _is_claimed(move, intervention)]
    chances = iter(adjusted([move.p_value for move in claimed], exploratory=False))
    return tuple(
        _verdict(move, intervention, next(chances) if _is_claimed(move, intervention) else 1.0, margin)
        for move in moves
    )


def _moves(summaries: Sequence[Summary], intervention: Intervention, margin: float) -> Iterator[_Moved]:
    own = [one for one in summaries if one.environment == intervention.environment]
    for turned in intervention.changes:
        for before in sorted(own, key=lambda one: not one.primary):
            moved = _moved(before, summaries, turned, margin)
            if moved is not None:
                yield moved


def _is_claimed(move: _Moved, intervention: Intervention) -> bool:
    claim = (move.summary.cell.workload, move.summary.metric)
    return claim in intervention.claims if intervention.claims else move.summary.primary


def _moved(before: Summary, summaries: Sequence[Summary], turned: Change, margin: float) -> _Moved | None:
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
    return _Moved(
        summary=before,
        turned=turned,
        before=as_fraction(estimate(widened(as_it_is))),
        after=as_fraction(estimate(widened(after))),
        change=change,
        shift=_SHIFTS[word_of(change, moved, margin)],
        p_value=_p_value(moved.log_ratios),
    )


def _after(changed: Summary, native: Summary | None, blocks: Container[int]) -> Contrast:
    """Against native, or against native with the knob turned as well: then one environment against another."""
    against_native = unwidened_of(changed, blocks)
    return _difference(against_native, unwidened_of(native, blocks)) if native else against_native


def _difference(one: Contrast, other: Contrast) -> Differences:
    """Of two environments in the same blocks, not widened: what drifts in both alike is not in it."""
    pairs = zip(one.log_ratios, other.log_ratios, strict=True)
    return Differences(tuple(first - second for first, second in pairs))


def _numbers(summary: Summary | None) -> tuple[int, ...]:
    return tuple(value.block for value in summary.blocks) if summary else ()


def _of(environment: str | None, like: Summary, summaries: Sequence[Summary]) -> Summary | None:
    """The same metric of another environment."""
    key = (like.cell, like.metric, like.unit, like.direction)
    alike = (one for one in summaries if (one.cell, one.metric, one.unit, one.direction) == key)
    return next((one for one in alike if one.environment == environment), None)


def _p_value(differences: Sequence[float]) -> float:
    """Of Student's t test that their mean is 0, two-sided; 1 where there are too few to tell."""
    n, deviation = len(differences), standard_deviation(differences)
    mean = math.fsum(differences) / n
    if deviation is None or n < LEAST_BLOCKS:
        return 1.0
    if deviation == 0:
        return 1.0 if mean == 0 else 0.0
    return float(2 * stdtr(n - 1, -abs(mean) / deviation * math.sqrt(n)))


def _verdict(move: _Moved, intervention: Intervention, chance: float, margin: float) -> InterventionVerdict:
    is_cause = _is_cause(move) and holds(chance)
    return InterventionVerdict(
        intervention=intervention,
        turned=move.turned,
        cell=move.summary.cell,
        metric=move.summary.metric,
        before=move.before,
        after=move.after,
        change=move.change,
        shift=move.shift,
        standing=Attributed.CAUSE if is_cause else Attributed.UNEXPLAINED,
        chance=chance,
        sentence=_sentence(move, intervention.environment, margin, is_cause=is_cause),
    )


def _is_cause(move: _Moved) -> bool:
    """There was an overhead, or a gain, and a good part of it went."""
    return _had(move) is move.shift and _part(move) >= LEAST_PART


def _had(move: _Moved) -> Shift | None:
    """In which direction the knob must move the metric to be a cause; ``None``: there was nothing to explain."""
    if move.before.low is not None and move.before.low > 0:
        return Shift.FALLS
    return Shift.RISES if move.before.high is not None and move.before.high < 0 else None


def _part(move: _Moved) -> float:
    before = math.log1p(move.before.point)
    return -math.log1p(move.change.point) / before if before else 0.0


def _sentence(move: _Moved, own: str, margin: float, *, is_cause: bool) -> str:
    subject, change = move.turned.subject, move.turned.change
    moved = f"from {overhead_said(move.before)} to {overhead_said(move.after)} (n = {move.after.n})"
    if is_cause:
        what = "overhead falls" if move.shift is Shift.FALLS else "gain goes"
        return f"{subject} is a cause: {change} {own}'s {what} {moved}"
    if _is_cause(move):
        return f"undecided on {subject}: among all that was tried it may be chance: {change} {moved}"
    if _had(move) is move.shift:
        return f"{subject} is a small part at most: {change} {own}'s overhead goes {moved}"
    return _no_cause(move, own, margin, moved)


def _no_cause(move: _Moved, own: str, margin: float, moved: str) -> str:
    subject, change = move.turned.subject, move.turned.change
    match move.shift:
        case Shift.FALLS:
            return f"{change} {own} is quicker, but it had no overhead for certain: {moved}"
        case Shift.RISES:
            return f"{subject} is no cause: {change} {own}'s overhead rises {moved}"
        case Shift.SAME:
            return (
                f"{subject} is no cause: {change} {own}'s overhead stays within "
                f"\N{PLUS-MINUS SIGN}{100 * margin:g} % of what it was: {moved}"
            )
        case _:
            return _undecided(move.turned, move.after, moved)


def overhead_said(overhead: Estimate) -> str:
    """Such as "26 % [25 % to 28 %]"."""
    return f"{percent(overhead.point)} {interval(overhead)}"


def _undecided(turned: Change, after: Estimate, moved: str) -> str:
    why = f"it takes {LEAST_BLOCKS} blocks" if after.n < LEAST_BLOCKS else "more blocks may decide"
    return f"undecided on {turned.subject}: {turned.change} {moved}; {why}"
