# SPDX-License-Identifier: Apache-2.0
"""What became of an overhead when one knob was changed: this alone earns the word "cause".

As it is, changed, and native run in the same blocks. Per block d is the log-ratio to native (docs/method.md). The
change is d(changed) - d(as it is), in which native cancels out; where the knob is a limit, which holds natively too,
native is run with it changed as well, and d(changed) is taken against that.
"""

from collections.abc import Container, Sequence

from tare.analyze.attribution.words import interval, percent
from tare.analyze.contrasts import Contrast, Differences, estimate, unwidened_of, widened
from tare.analyze.estimation import as_fraction
from tare.analyze.judgement import word_of
from tare.blocks import LEAST_BLOCKS
from tare.records import Attributed, Estimate, Intervention, InterventionVerdict, Shift, Summary, Word

_SHIFTS = {
    Word.FASTER: Shift.FALLS,
    Word.SLOWER: Shift.RISES,
    Word.WITHIN: Shift.SAME,
    Word.UNDECIDED: Shift.UNDECIDED,
}


def intervention_verdicts(
    summaries: Sequence[Summary], intervention: Intervention, margin: float
) -> tuple[InterventionVerdict, ...]:
    """One for each metric of which a block is complete, the primary one first."""
    found = (
        _judged(before, summaries, intervention, margin)
        for before in sorted(summaries, key=lambda one: not one.primary)
        if before.environment == intervention.environment
    )
    return tuple(one for one in found if one is not None)


def _judged(
    before: Summary, summaries: Sequence[Summary], intervention: Intervention, margin: float
) -> InterventionVerdict | None:
    changed, native = (
        _of(environment, before, summaries)
        for environment in (intervention.changed, intervention.changed_native)
    )
    blocks = set(_numbers(before)) & set(_numbers(changed))
    if intervention.changed_native is not None:
        blocks &= set(_numbers(native))
    if changed is None or not blocks:
        return None
    contrasts = unwidened_of(before, blocks), _after(changed, native, blocks)
    moved = widened(_difference(contrasts[1], contrasts[0]))
    change = as_fraction(estimate(moved))
    shift = _SHIFTS[word_of(change, moved, margin)]
    had, has = (as_fraction(estimate(widened(contrast))) for contrast in contrasts)
    return InterventionVerdict(
        intervention=intervention,
        cell=before.cell,
        metric=before.metric,
        before=had,
        after=has,
        change=change,
        shift=shift,
        standing=Attributed.CAUSE if _is_cause(shift, had) else Attributed.UNEXPLAINED,
        sentence=_sentence(intervention, shift, had, has, margin),
    )


def _after(changed: Summary, native: Summary | None, blocks: Container[int]) -> Contrast:
    """Against native, or against native with the knob changed as well: then one environment against another."""
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
    found = (one for one in summaries if (one.cell, one.metric, one.unit, one.direction) == key)
    return next((one for one in found if one.environment == environment), None)


def _is_cause(shift: Shift, before: Estimate) -> bool:
    """Time is won, and there was an overhead to win it from."""
    return shift is Shift.FALLS and before.low is not None and before.low > 0


def _sentence(
    intervention: Intervention, shift: Shift, before: Estimate, after: Estimate, margin: float
) -> str:
    own = intervention.environment
    moved = f"from {_said(before)} to {_said(after)} (n = {after.n})"
    match shift:
        case Shift.FALLS if _is_cause(shift, before):
            return f"{intervention.subject} is a cause: {intervention.change} {own}'s overhead falls {moved}"
        case Shift.FALLS:
            return f"{intervention.change} {own} is quicker, but it had no overhead for certain: {moved}"
        case Shift.RISES:
            return f"{intervention.subject} is no cause: {intervention.change} {own}'s overhead rises {moved}"
        case Shift.SAME:
            return (
                f"{intervention.subject} is no cause: {intervention.change} {own}'s overhead stays within "
                f"\N{PLUS-MINUS SIGN}{100 * margin:g} % of what it was: {moved}"
            )
        case _:
            return _undecided(intervention, after, moved)


def _said(overhead: Estimate) -> str:
    return f"{percent(overhead.point)} {interval(overhead)}"


def _undecided(intervention: Intervention, after: Estimate, moved: str) -> str:
    why = f"it takes {LEAST_BLOCKS} blocks" if after.n < LEAST_BLOCKS else "more blocks may decide"
    return f"undecided on {intervention.subject}: {intervention.change} {moved}; {why}"
