# SPDX-License-Identifier: Apache-2.0
"""Signals to candidates, for every environment that is slower on its workload's primary metric."""

import math
import statistics
from collections.abc import Sequence

import numpy as np

from tare.analyze.attribution.covariation import correlations
from tare.analyze.attribution.excess import Excess, excesses_of, lost_s
from tare.analyze.attribution.gates import Chances, Gauge, clue_of, times_s
from tare.analyze.attribution.known import known
from tare.analyze.attribution.ranking import ranked
from tare.analyze.attribution.sentences import sentence
from tare.records import Attribution, Clue, Correlation, Estimate, SignalEvidence, Verdict, Word
from tare.statistics.exchange import chance_above
from tare.statistics.median import median_estimate
from tare.statistics.multiplicity import holm
from tare.statistics.signed_rank import hodges_lehmann


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
