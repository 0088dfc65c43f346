# SPDX-License-Identifier: Apache-2.0
"""No claim from a machine that was too busy: verdicts, losses by company, curves, order experiments, causes."""

import math
from collections.abc import Sequence
from dataclasses import replace

from tare.analyze import load_effect, load_said
from tare.analyze.busy import (
    SENTENCE,
    blocks_said,
    control_said,
    drowns,
    too_few_left_said,
)
from tare.analyze.looks import reach_of, seen
from tare.analyze.sentence import claim_said
from tare.records import (
    NATIVE,
    CurveEstimate,
    Estimate,
    InterventionVerdict,
    OrderVerdict,
    OrderWord,
    Role,
    SharingLoss,
    Shift,
    Summary,
    Verdict,
    Withheld,
    Word,
)
from tare.records.busy import LoadEffect
from tare.statistics.estimate import as_fraction, lies_within
from tare.statistics.evidence import interval


def without_busy_claims(verdicts: Sequence[Verdict]) -> tuple[Verdict, ...]:
    """Withdraw the word of every verdict that rests on busy blocks, or that the noise floor drowns.

    One of busy blocks is released as a difference where it holds even if the load did its most. Its figures stay in
    any case. Applied after the families: a withheld claim still counts as one that could be made.
    """
    return tuple(map(_judged, verdicts))


def _judged(verdict: Verdict) -> Verdict:
    overhead = verdict.overhead
    most = overhead.looks[-1].blocks if overhead.looks else None
    busy, drowned = blocks_said(overhead.summary, most), _is_drowned(verdict)
    if not busy and not drowned:
        return _beside_load(verdict)
    if busy and not drowned and (released := _released(verdict)):
        return released
    reasons = "; ".join(filter(None, (busy, control_said(overhead.noise_floor) if drowned else None)))
    return replace(
        verdict,
        overhead=replace(overhead, tail_cost=False),
        word=Word.UNDECIDED,
        within=None,
        at_most=None,
        alone=verdict.alone and Word.UNDECIDED,
        claim=load_said.withheld_said(reasons, verdict.shown, overhead.summary.direction),
        more_blocks=None,
        withheld=Withheld.BUSY if busy else Withheld.NOISE,
    )


def _released(verdict: Verdict) -> Verdict | None:
    """The verdict as a difference that the load cannot have made; ``None`` where it can.

    Its intervals reach from what is left at worst to what was measured; "within" is never released, as a load may have
    hidden a difference.
    """
    overhead, standing = verdict.overhead, verdict.standing
    word = load_effect.direction(overhead.typical)
    alone, together = _left(verdict, word, overhead.typical), _left(verdict, word, verdict.shown)
    if not all(load_effect.differs(left, word) for left in (alone, together)):
        return None
    shown = load_effect.hull(verdict.shown, together)
    if lies_within(shown, verdict.margin) or drowns(overhead.typical, overhead.noise_floor):
        return None
    unsaid = replace(
        verdict,
        overhead=replace(overhead, typical=load_effect.hull(overhead.typical, alone), tail_cost=False),
        word=word,
        within=None,
        at_most=None,
        alone=verdict.alone and word,
        more_blocks=None,
        standing=standing and replace(standing, together=shown),
        released=True,
        load=_effect(verdict, word, together),
    )
    return replace(unsaid, claim=claim_said(unsaid))


def _beside_load(verdict: Verdict) -> Verdict:
    """The verdict with the blocks that it leaves out, and with what the load of the others could make of it alone."""
    remarks = filter(None, [load_said.follows_said(verdict.overhead.summary)])
    warned = replace(verdict, warnings=(*verdict.warnings, *remarks))
    if verdict.word not in (Word.SLOWER, Word.FASTER):
        return warned
    left = _left(verdict, verdict.word, verdict.shown)
    effect = _effect(verdict, verdict.word, left)
    if effect is None or load_effect.differs(left, verdict.word):
        return warned
    if effect.most <= verdict.margin:
        return warned  # no more than what counts as no difference, which the quietest host has
    loaded = replace(warned, load=effect)
    return replace(loaded, claim=claim_said(loaded))


def _effect(verdict: Verdict, word: Word, left: Estimate) -> LoadEffect | None:
    """What the load could make of the interval beside the word, in the blocks of the last look."""
    looks = verdict.overhead.looks
    until = looks[-1].blocks if looks else math.inf
    return load_effect.effect(verdict.overhead.summary, word, verdict.shown, left, until)


def _left(verdict: Verdict, word: Word, measured: Estimate) -> Estimate:
    """What is left of the overhead if the load did its most, with an interval that misses as seldom as ``measured``."""
    if measured.low is None:
        return measured
    overhead, reach = verdict.overhead, reach_of(verdict.overhead)
    error = (1 - measured.level) / reach.permitted(1.0)
    contrast = seen(load_effect.moved(overhead.summary, word), overhead.looks)
    return as_fraction(interval(contrast, reach, error))


def _is_drowned(verdict: Verdict) -> bool:
    """Whether native against itself is wider than the claimed difference, among all claims or alone."""
    overhead = verdict.overhead
    word = verdict.word if verdict.word is not Word.UNDECIDED else verdict.alone
    if word not in (Word.SLOWER, Word.FASTER):
        return False
    return verdict.below_noise_floor or drowns(overhead.typical, overhead.noise_floor)


def without_busy_losses(losses: Sequence[SharingLoss]) -> tuple[SharingLoss, ...]:
    """Withhold losses by company, which rest on the trials alone and the trials with company."""
    return tuple(map(_without_loss, losses))


def _without_loss(loss: SharingLoss) -> SharingLoss:
    if loss.summary.busy.left_out:
        return loss
    return replace(loss, word=Word.UNDECIDED, alone=Word.UNDECIDED, withheld=Withheld.BUSY)


def without_busy_curves(curves: Sequence[CurveEstimate]) -> tuple[CurveEstimate, ...]:
    """Withhold what holds for all places of a curve together, where its trials or native's met a busy host."""
    return tuple(map(_without_band, curves))


def _without_band(estimate: CurveEstimate) -> CurveEstimate:
    if estimate.curve.environment == NATIVE or estimate.curve.busy.left_out:
        return estimate
    points = tuple(replace(point, together=None) for point in estimate.points)
    return replace(estimate, points=points, withheld=Withheld.BUSY)


def without_busy_orders(verdicts: Sequence[OrderVerdict]) -> tuple[OrderVerdict, ...]:
    """Withhold order experiments."""
    return tuple(map(_without_order, verdicts))


def _without_order(verdict: OrderVerdict) -> OrderVerdict:
    said = too_few_left_said(verdict.summary.busy, len(verdict.summary.blocks))
    if said is None:
        return verdict
    claim = load_said.withheld_said(said, verdict.growth)
    return replace(verdict, word=OrderWord.UNDECIDED, claim=claim, withheld=Withheld.BUSY)


def without_busy_causes(
    verdicts: Sequence[InterventionVerdict], summaries: Sequence[Summary]
) -> tuple[InterventionVerdict, ...]:
    """Withhold interventions: a busy machine shows neither a cause nor its absence."""
    return tuple(_without_cause(verdict, summaries) for verdict in verdicts)


def _without_cause(verdict: InterventionVerdict, summaries: Sequence[Summary]) -> InterventionVerdict:
    arms = {verdict.intervention.environment, *verdict.turned.arms}
    reasons = (
        blocks_said(summary)
        for summary in summaries
        if summary.cell == verdict.cell and summary.metric == verdict.metric and summary.environment in arms
    )
    said = next(filter(None, reasons), None)
    if said is None:
        return verdict
    return replace(
        verdict,
        shift=Shift.UNDECIDED,
        role=Role.UNDECIDED,
        sentence=f"{SENTENCE} ({said}) for {verdict.turned.subject}",
    )
