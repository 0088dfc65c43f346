# SPDX-License-Identifier: Apache-2.0
"""Attributions and interventions in sentences."""

from collections.abc import Sequence

from tare.records import Clue, Correlation, Estimate, Ground, SignalEvidence, Verdict, Word
from tare.statistics.blocks import LEAST_BLOCKS
from tare.units import MINUS

_WHOLE_PERCENTS = 0.02
"""An interval this wide, as a fraction, is clear in whole per cents."""
_SMALL = 10.0
"""Percentages below this have a decimal."""


def sentence(
    evidence: SignalEvidence,
    clues: Sequence[Clue],
    unexplained: Estimate | None,
    verdict: Verdict,
    *,
    accountable: bool,
) -> str:
    """For example "docker: candidate: held back by a CPU quota (96 % of the time lost [93 % to 99 %], n = 10)"."""
    candidates = [clue for clue in clues if clue.grounds]
    return f"{evidence.environment}: " + (
        _nothing_lost(verdict)
        or _too_few(evidence)
        or _named(candidates, unexplained)
        or _unexplained(clues, accountable=accountable)
    )


def _nothing_lost(verdict: Verdict) -> str:
    if verdict.word is not Word.SLOWER:
        return f"nothing to explain: {verdict.said}"
    return "nothing to explain: below the noise floor" if verdict.below_noise_floor else ""


def _too_few(evidence: SignalEvidence) -> str:
    if not evidence.signals:
        return "unexplained: no signal was recorded in its trials and in native's"
    n, fewest = len(evidence.blocks), LEAST_BLOCKS
    return "" if n >= fewest else f"unexplained: {n} blocks are too few, it takes {fewest}"


def _named(candidates: Sequence[Clue], unexplained: Estimate | None) -> str:
    if not candidates:
        return ""
    first, *rest = candidates
    own = [clue for clue in rest if clue.after is None]
    more = f"; further candidates: {', '.join(clue.title for clue in own)}" if own else ""
    return f"candidate: {first.title} ({grounds_said(first)}){more}{_left(candidates, unexplained)}"


def _left(candidates: Sequence[Clue], unexplained: Estimate | None) -> str:
    """The unexplained rest; left out beside events alone, which have no time: all would seem unexplained."""
    if unexplained is None or not any(Ground.TIME in clue.grounds for clue in candidates):
        return ""
    return f"; unexplained: {percent(max(unexplained.point, 0.0))} of it"


def _unexplained(clues: Sequence[Clue], *, accountable: bool) -> str:
    why = "" if accountable else ", and the run as a whole is not longer for certain"
    return f"unexplained: none of {len(clues)} signals stands for the loss{why}"


def grounds_said(clue: Clue) -> str:
    """For example "96 % of the time lost [93 % to 99 %], n = 10"."""
    said = []
    if clue.share is not None and Ground.TIME in clue.grounds:
        said.append(
            f"{percent(clue.share.point)} of the time lost {interval(clue.share)}, n = {clue.share.n}"
        )
    if Ground.EVENTS in clue.grounds:
        amount = f"{clue.excess.point:.3g}{'' if clue.unit == '1' else f' {clue.unit}'}"
        said.append(f"{amount} per trial more than native, n = {clue.excess.n}")
    if clue.correlation is not None and Ground.SPREAD in clue.grounds:
        said.append(correlation_said(clue.correlation))
    return "; ".join(said)


def correlation_said(correlation: Correlation) -> str:
    return f"varies with the overhead: r = {correlation.r:+.2f}, n = {correlation.n}"


def percent(fraction: float, *, fine: bool = False) -> str:
    size = 100 * abs(fraction)
    return f"{MINUS if fraction < 0 else ''}{size:.{1 if fine or size < _SMALL else 0}f} %"


def is_fine(estimate: Estimate) -> bool:
    """Whether whole per cents would hide the width of its interval."""
    return (
        estimate.low is not None
        and estimate.high is not None
        and estimate.high - estimate.low < _WHOLE_PERCENTS
    )


def interval(estimate: Estimate) -> str:
    if estimate.low is None or estimate.high is None:
        return "[no interval]"
    fine = is_fine(estimate)
    return f"[{percent(estimate.low, fine=fine)} to {percent(estimate.high, fine=fine)}]"
