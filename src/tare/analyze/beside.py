# SPDX-License-Identifier: Apache-2.0
"""Beside the overheads, as medians over blocks: processor time and waits, signals, activities of profiled programs."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import median

from tare.analyze.contrasts import against_natives, between_two
from tare.records import (
    Activity,
    ActivityEstimate,
    ActivitySplit,
    ActivitySummary,
    Cell,
    Estimate,
    HelperCost,
    HelperSummary,
    Outcome,
    SignalDifference,
    SignalEvidence,
    SignalTable,
    TimeEstimate,
    TimerAgreement,
    TimerSummary,
    Verdict,
    WaitCost,
    WaitSummary,
)
from tare.statistics.contrasts import estimate
from tare.statistics.estimate import as_fraction
from tare.statistics.median import median_estimate
from tare.treat.pairing import cell_of

_Overheads = Mapping[tuple[Cell, str, str], Estimate]
"""Cell, environment and metric → typical overhead."""


def helper_costs(summaries: Sequence[HelperSummary]) -> tuple[HelperCost, ...]:
    """Medians over blocks: CPU times near 0 are too skewed for the signed ranks."""
    return tuple(
        HelperCost(
            summary=summary,
            cpu_s=time_estimate.time_s if time_estimate else None,
            share=time_estimate.share if time_estimate else None,
        )
        for summary in summaries
        for time_estimate in [_estimate(summary.cpu_s, summary.shares)]
    )


def wait_costs(summaries: Sequence[WaitSummary]) -> tuple[WaitCost, ...]:
    """Medians over blocks of the waiting times."""
    return tuple(
        WaitCost(
            summary=summary,
            vcpu_wait=_estimate(summary.vcpu_wait_s, summary.vcpu_wait_shares),
            steal=_estimate(summary.steal_s, summary.steal_shares),
        )
        for summary in summaries
    )


def _estimate(times_s: Sequence[float], shares: Sequence[float]) -> TimeEstimate | None:
    if not times_s:
        return None
    return TimeEstimate(time_s=median_estimate(times_s), share=median_estimate(shares) if shares else None)


def timer_agreements(summaries: Sequence[TimerSummary]) -> tuple[TimerAgreement, ...]:
    """One per summary; it disagrees when the whole interval lies outside the interval of native against native."""
    agreements = []
    for summary in summaries:
        difference = as_fraction(estimate(against_natives(summary.log_ratios, summary.control_log_ratios)))
        band = as_fraction(estimate(between_two(summary.control_log_ratios)))
        agreements.append(
            TimerAgreement(
                summary=summary, difference=difference, band=band, disagrees=_is_outside(difference, band)
            )
        )
    return tuple(agreements)


def _is_outside(inner: Estimate, band: Estimate) -> bool:
    if inner.low is None or inner.high is None or band.low is None or band.high is None:
        return False
    extent = max(abs(band.low), abs(band.high))
    return inner.low > extent or inner.high < -extent


def signal_tables(evidence: Sequence[SignalEvidence], outcomes: Sequence[Outcome]) -> tuple[SignalTable, ...]:
    """One per environment and cell, for its first metric; counts near 0 are too skewed for the signed ranks."""
    first: dict[tuple[Cell, str], SignalEvidence] = {}
    for each in evidence:
        first.setdefault((each.cell, each.environment), each)
    arms: dict[tuple[Cell, str], list[Outcome]] = {}
    for outcome in outcomes:
        arms.setdefault((cell_of(outcome), outcome.trial.environment.name), []).append(outcome)
    return tuple(
        SignalTable(
            cell=signal_evidence.cell,
            environment=signal_evidence.environment,
            differences=tuple(_differences(signal_evidence)),
            missing=_missing(arms.get(arm, [])),
        )
        for arm, signal_evidence in first.items()
    )


def _differences(evidence: SignalEvidence) -> Iterator[SignalDifference]:
    for signal in evidence.signals:
        if signal.blocks:
            yield SignalDifference(
                name=signal.name,
                unit=signal.unit,
                scope=signal.scope,
                native=median(sum(block.native) / 2 for block in signal.blocks),
                difference=median_estimate([block.difference for block in signal.blocks]),
            )


def _missing(own: Sequence[Outcome]) -> dict[str, str]:
    had = {signal.name for outcome in own for signal in outcome.signals}
    return {name: why for outcome in own for name, why in outcome.missing_signals.items() if name not in had}


def activity_splits(
    summaries: Sequence[ActivitySummary], verdicts: Sequence[Verdict]
) -> tuple[ActivitySplit, ...]:
    """One per summary: medians, as times and shares near 0 are too skewed for the signed ranks.

    Overheads come from ``verdicts``, so that none is reported in two ways.
    """
    overheads = {
        (overhead.summary.cell, overhead.summary.environment, overhead.summary.metric): overhead.typical
        for overhead in (verdict.overhead for verdict in verdicts)
    }
    return tuple(_split(summary, overheads) for summary in summaries)


def _split(summary: ActivitySummary, overheads: _Overheads) -> ActivitySplit:
    return ActivitySplit(
        summary=summary,
        activities=tuple(_activity_estimate(summary, activity, overheads) for activity in Activity),
        whole_s=median_estimate(summary.whole_s),
    )


def _activity_estimate(
    summary: ActivitySummary, activity: Activity, overheads: _Overheads
) -> ActivityEstimate:
    return ActivityEstimate(
        activity=activity,
        time_s=median_estimate(summary.times_s[activity]),
        share=median_estimate(summary.shares[activity]),
        overhead=overheads.get((summary.cell, summary.environment, activity.metric)),
    )
