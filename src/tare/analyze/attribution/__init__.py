# SPDX-License-Identifier: Apache-2.0
"""Why an environment is slower: accounting, events beyond native's, covariation, and interventions (docs/causes.md)."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tare.analyze.attribution.covariation import correlations
from tare.analyze.attribution.gates import Chances, Excess, Gauge, clue_of, excesses_of, lost_s, times_s
from tare.analyze.attribution.known import known, specificity
from tare.analyze.attribution.sentences import sentence
from tare.records import (
    Attribution,
    Clue,
    Correlation,
    Estimate,
    Ground,
    Scope,
    SignalEvidence,
    Verdict,
    Word,
)
from tare.statistics.exchange import chance_above
from tare.statistics.median import median_estimate
from tare.statistics.multiplicity import holm
from tare.statistics.signed_rank import hodges_lehmann

_MOST_OF_IT = 0.5
_HARDLY = 0.1


def attributions(evidence: Sequence[SignalEvidence], verdicts: Sequence[Verdict]) -> tuple[Attribution, ...]:
    """One per piece of evidence with a verdict; candidates only where the verdict is "slower"."""
    judged = {
        (
            verdict.overhead.summary.cell,
            verdict.overhead.summary.environment,
            verdict.overhead.summary.metric,
        ): verdict
        for verdict in verdicts
    }
    pairs = (
        (
            signal_evidence,
            judged.get((signal_evidence.cell, signal_evidence.environment, signal_evidence.metric)),
        )
        for signal_evidence in evidence
    )
    return tuple(
        attribution(signal_evidence, verdict) for signal_evidence, verdict in pairs if verdict is not None
    )


def attribution(evidence: SignalEvidence, verdict: Verdict) -> Attribution:
    established = verdict.word is Word.SLOWER and not verdict.below_noise_floor
    lost = [lost_s(block) for block in evidence.blocks]
    gauge = _gauge(evidence, lost, established=established)
    excesses = excesses_of(evidence)
    clues = ranked(_clues(excesses, evidence, gauge))
    unexplained = _unexplained(excesses, clues, evidence, gauge)
    return Attribution(
        cell=evidence.cell,
        environment=evidence.environment,
        metric=evidence.metric,
        n=len(evidence.blocks),
        established=established,
        lost_s=median_estimate(lost) if lost else None,
        clues=clues,
        unexplained=unexplained,
        missing=evidence.missing,
        sentence=sentence(evidence, clues, unexplained, verdict, accountable=gauge.accountable),
    )


def _gauge(evidence: SignalEvidence, lost: Sequence[float], *, established: bool) -> Gauge:
    """Gauge of the lost time; without a certain loss of wall time, the loss of the slower part replaces it."""
    interval = hodges_lehmann(lost) if lost else None
    accountable = interval is not None and interval.low is not None and interval.low > 0
    about_s = [
        wall if accountable else -math.expm1(-log_ratio) * block.environment.wall_s
        for wall, log_ratio, block in zip(lost, evidence.log_ratios, evidence.blocks, strict=True)
    ]
    return Gauge(
        established=established,
        accountable=established and accountable,
        lost_s=statistics.median(about_s) if about_s else 0.0,
        timeout_s=evidence.retransmission_timeout_s,
    )


def _clues(excesses: Sequence[Excess], evidence: SignalEvidence, gauge: Gauge) -> list[Clue]:
    alone = [_chance(excess) for excess in excesses]
    rows = zip(excesses, alone, holm(alone).tolist(), _correlations(excesses, evidence), strict=True)
    return [
        clue_of(excess, gauge, Chances(alone=chance, adjusted=adjusted, correlation=correlation))
        for excess, chance, adjusted, correlation in rows
    ]


def _chance(excess: Excess) -> float:
    sign = -1 if known(excess.signal.name).less_is_worse else 1
    return chance_above(sign * excess.environment, sign * excess.native)


def _correlations(excesses: Sequence[Excess], evidence: SignalEvidence) -> list[Correlation | None]:
    """Correlations of the signals that every block has; ``None`` for the others."""
    n = len(evidence.blocks)
    whole = [place for place, excess in enumerate(excesses) if len(excess.environment) == n]
    order = np.array([(block.block, block.lateness) for block in evidence.blocks]).reshape(n, 2)
    signals = np.array([excesses[place].beyond for place in whole]).reshape(len(whole), n)
    correlated = correlations(np.array(evidence.log_ratios), signals, order)
    by_place = dict(zip(whole, correlated, strict=True))
    return [by_place.get(place) for place in range(len(excesses))]


def _unexplained(
    excesses: Sequence[Excess], clues: Sequence[Clue], evidence: SignalEvidence, gauge: Gauge
) -> Estimate | None:
    """1 minus the shares of the candidates, block by block; only the largest of overlapping ones counts.

    Blocks without a loss have no share; if no block remains, the result is ``None``.
    """
    if not gauge.accountable:
        return None
    named = {(clue.signal, clue.scope) for clue in clues if clue.grounds}
    lost = {block.block: lost_s(block) for block in evidence.blocks}
    explained: dict[int, dict[str, float]] = {block: {} for block, time_s in lost.items() if time_s > 0}
    for excess in excesses:
        times = times_s(excess, gauge)
        if times is None or (excess.signal.name, excess.signal.scope) not in named:
            continue
        group = known(excess.signal.name).group or excess.signal.name
        for block, time_s in zip(excess.signal.blocks, times.tolist(), strict=True):
            if block.block in explained:
                own = explained[block.block]
                own[group] = max(own.get(group, 0.0), time_s)
    rests = [1 - sum(times.values()) / lost[block] for block, times in explained.items()]
    return median_estimate(rests) if rests else None


def ranked(clues: Sequence[Clue]) -> tuple[Clue, ...]:
    """Candidates first, as above; then the others, the largest shares first.

    First signals that account for at least half of the loss, then events that native hardly has, smaller shares of
    the loss, larger amounts of what native has too, and signals that merely vary with the overhead. A signal that
    contains another candidate, or follows from it, comes right after it: time waited for a processor contains the
    time in which a quota held the job back.
    """
    candidates = sorted((clue for clue in clues if clue.grounds), key=_place)
    others = sorted((clue for clue in clues if not clue.grounds), key=_place_of_rest)
    order: list[Clue] = []
    for clue in candidates:
        _enter(clue, candidates, order)
    return (*order, *others)


def _enter(clue: Clue, candidates: Sequence[Clue], order: list[Clue]) -> None:
    """Enter a clue after the clues that it contains or follows from; these relations have no cycle."""
    if any(_same(clue, entered) for entered in order):
        return
    names = _within(clue)
    inner = [
        candidate for candidate in candidates if candidate.signal in names and not _same(candidate, clue)
    ]
    for contained in inner:
        _enter(contained, candidates, order)
    order.append(replace(clue, after=inner[0].signal) if inner else clue)


def _within(clue: Clue) -> tuple[str, ...]:
    """Names ranked before this clue; a signal of the whole host comes after the same signal of the nodes."""
    own = known(clue.signal).after
    return (*own, clue.signal) if clue.scope is Scope.HOST else own


def _same(clue: Clue, other: Clue) -> bool:
    return (clue.signal, clue.scope, clue.unit) == (other.signal, other.scope, other.unit)


def _place(clue: Clue) -> tuple[int, float, int, bool]:
    share = 0.0 if clue.share is None else clue.share.point
    return _tier(clue, share), -share, specificity(clue.signal), clue.scope is Scope.HOST


def _tier(clue: Clue, share: float) -> int:
    if share >= _MOST_OF_IT:
        return 0
    if Ground.EVENTS in clue.grounds and clue.native <= _HARDLY * max(clue.excess.point, 0.0):
        return 1
    if Ground.TIME in clue.grounds:
        return 2
    return 3 if Ground.EVENTS in clue.grounds else 4


def _place_of_rest(clue: Clue) -> tuple[float, int]:
    return (0.0 if clue.share is None else -clue.share.point), specificity(clue.signal)
