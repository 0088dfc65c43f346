# SPDX-License-Identifier: Apache-2.0
"""No claim from a machine that was too busy: verdicts, losses by company, curves, order experiments, causes."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tare.analyze.busy import SENTENCE, blocks_said, control_said, drowns, drowns_equivalence, loads_said
from tare.analyze.judgement import margins
from tare.analyze.looks import EQUIVALENCE_ERROR, Arm, control_at
from tare.analyze.sentence import claim_said
from tare.records import (
    NATIVE,
    CurveEstimate,
    Estimate,
    HostLoad,
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

_Loads = Mapping[Arm, Mapping[int, HostLoad]]
"""Cell and environment → block → the load of its busiest trial."""


def without_busy_claims(verdicts: Sequence[Verdict]) -> tuple[Verdict, ...]:
    """Withdraw the word of every verdict that rests on too many busy blocks, or that the noise floor drowns.

    Its figures stay. Applied after the families: a withheld claim still counts as one that could be made.
    """
    return tuple(map(_judged, verdicts))


def _judged(verdict: Verdict) -> Verdict:
    overhead = verdict.overhead
    most = overhead.looks[-1].blocks if overhead.looks else None
    busy, drowned = blocks_said(overhead.summary, most), _is_drowned(verdict)
    if not busy and not drowned:
        return verdict
    if not busy and (wider := _wider(verdict)):
        return wider
    reasons = "; ".join(filter(None, (busy, control_said(overhead.noise_floor) if drowned else None)))
    return replace(
        verdict,
        overhead=replace(overhead, tail_cost=False),
        word=Word.UNDECIDED,
        within=None,
        at_most=None,
        alone=verdict.alone and Word.UNDECIDED,
        claim=f"{SENTENCE} ({reasons})",
        more_blocks=None,
        withheld=Withheld.BUSY if busy else Withheld.NOISE,
    )


def _is_drowned(verdict: Verdict) -> bool:
    """Whether native against itself is wider than the claimed difference, among all claims or alone."""
    overhead = verdict.overhead
    word = verdict.word if verdict.word is not Word.UNDECIDED else verdict.alone
    if word in (Word.WITHIN, Word.BOUNDED):
        return drowns_equivalence(
            _control(verdict), verdict.within or verdict.at_most or margins(verdict.margin)[0]
        )
    if word in (Word.SLOWER, Word.FASTER):
        return verdict.below_noise_floor or drowns(overhead.typical, overhead.noise_floor)
    return False


def _wider(verdict: Verdict) -> Verdict | None:
    """The verdict within the narrowest wider margin that native against itself would keep."""
    if verdict.word is not Word.WITHIN or verdict.within is None:
        return None
    control = _control(verdict)
    kept = [each for each in margins(verdict.margin) if not drowns_equivalence(control, each)]
    if not kept:
        return None
    wider = replace(verdict, within=min(kept))
    return replace(wider, claim=claim_said(wider))


def _control(verdict: Verdict) -> Estimate:
    return control_at(verdict.overhead.summary, verdict.overhead.looks, EQUIVALENCE_ERROR)


def without_busy_losses(losses: Sequence[SharingLoss], loads: _Loads) -> tuple[SharingLoss, ...]:
    """Withhold losses by company, which rest on the trials alone and the trials with company."""
    return tuple(_without_loss(loss, loads) for loss in losses)


def _without_loss(loss: SharingLoss, loads: _Loads) -> SharingLoss:
    summary = loss.summary
    cells = (summary.cells.shared, summary.cells.alone)
    own = [loads.get((cell, summary.environment), {}) for cell in cells]
    if not any(_said(each, summary.blocks) for each in own):
        return loss
    return replace(loss, word=Word.UNDECIDED, alone=Word.UNDECIDED, withheld=Withheld.BUSY)


def without_busy_curves(curves: Sequence[CurveEstimate], loads: _Loads) -> tuple[CurveEstimate, ...]:
    """Withhold what holds for all places of a curve together, where its trials or native's met a busy host."""
    return tuple(_without_band(curve, loads) for curve in curves)


def _without_band(estimate: CurveEstimate, loads: _Loads) -> CurveEstimate:
    curve = estimate.curve
    blocks = sorted({block for point in curve.points for block in point.blocks})
    own = [loads.get((curve.cell, name), {}) for name in (curve.environment, NATIVE)]
    if curve.environment == NATIVE or not any(_said(each, blocks) for each in own):
        return estimate
    points = tuple(replace(point, together=None) for point in estimate.points)
    return replace(estimate, points=points, withheld=Withheld.BUSY)


def without_busy_orders(verdicts: Sequence[OrderVerdict], loads: _Loads) -> tuple[OrderVerdict, ...]:
    """Withhold order experiments, whose trials have the order in the name of the layout."""
    return tuple(_without_order(verdict, loads) for verdict in verdicts)


def _without_order(verdict: OrderVerdict, loads: _Loads) -> OrderVerdict:
    summary = verdict.summary
    blocks = [block.block for block in summary.blocks]
    reasons = (
        _said(own, blocks)
        for (cell, name), own in loads.items()
        if (cell.workload, cell.layout.partition("~")[0]) == (summary.cell.workload, summary.cell.layout)
        and "~" in cell.layout
        and name == summary.environment
    )
    said = next(filter(None, reasons), None)
    if said is None:
        return verdict
    return replace(verdict, word=OrderWord.UNDECIDED, claim=f"{SENTENCE} ({said})")


def _said(own: Mapping[int, HostLoad], blocks: Sequence[int]) -> str | None:
    return loads_said([own[block] for block in blocks if block in own], len(blocks))


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
