# SPDX-License-Identifier: Apache-2.0
"""Each signal against native's, as medians over blocks; ``attribution`` looks for the reason of a loss."""

from collections.abc import Iterator, Sequence
from statistics import median

from tare.records import Cell, Outcome, SignalDifference, SignalEvidence, SignalTable
from tare.statistics.median import median_estimate
from tare.treat.pairing import cell_of


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
