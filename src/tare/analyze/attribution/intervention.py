# SPDX-License-Identifier: Apache-2.0
"""What became of an overhead when one knob was changed: this alone earns the word "cause".

As it is, changed, and native run in the same blocks. Per block d is the log-ratio to native (docs/method.md). The
change is d(changed) - d(as it is), in which native cancels out; where the knob is a limit, which holds natively too,
native is run with it changed as well, and d(changed) is taken against that.
"""

from collections.abc import Sequence

from tare.analyze.attribution.words import interval, percent
from tare.analyze.contrasts import Blocks, Differences, estimate
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
    as_is = _by_block(before)
    changed = _of(intervention.changed, before, summaries)
    against = _of(intervention.changed_native, before, summaries)
    blocks = [block for block in as_is if block in changed]
    if intervention.changed_native is not None:
        blocks = [block for block in blocks if block in against]
    if not blocks:
        return None
    befores = [as_is[block] for block in blocks]
    afters = [changed[block] - against.get(block, 0.0) for block in blocks]
    moved = Differences(tuple(after - own for own, after in zip(befores, afters, strict=True)))
    change = as_fraction(estimate(moved))
    shift = _SHIFTS[word_of(change, moved, margin)]
    estimates = (
        as_fraction(estimate(_before(before, blocks))),
        as_fraction(estimate(Differences(tuple(afters)))),
    )
    return InterventionVerdict(
        intervention=intervention,
        cell=before.cell,
        metric=before.metric,
        before=estimates[0],
        after=estimates[1],
        change=change,
        shift=shift,
        standing=Attributed.CAUSE if _is_cause(shift, estimates[0]) else Attributed.UNEXPLAINED,
        sentence=_sentence(intervention, shift, *estimates, margin),
    )


def _before(summary: Summary, blocks: Sequence[int]) -> Blocks:
    rows = zip(summary.blocks, summary.log_ratios, summary.control_log_ratios, strict=True)
    taken = [(one, other) for block, one, other in rows if block.block in blocks]
    return Blocks(tuple(one for one, _ in taken), tuple(other for _, other in taken))


def _by_block(summary: Summary) -> dict[int, float]:
    return {
        value.block: log_ratio for value, log_ratio in zip(summary.blocks, summary.log_ratios, strict=True)
    }


def _of(environment: str | None, like: Summary, summaries: Sequence[Summary]) -> dict[int, float]:
    """The same metric of another environment, by block."""
    key = (like.cell, like.metric, like.unit, like.direction)
    for one in summaries:
        if one.environment == environment and (one.cell, one.metric, one.unit, one.direction) == key:
            return _by_block(one)
    return {}


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
    return f"not enough data on {intervention.subject}: {intervention.change} {moved}; {why}"
