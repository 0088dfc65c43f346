# SPDX-License-Identifier: Apache-2.0
"""Each signal against native's: medians over blocks, for the evidence; why a loss is there is for ``attribution``."""

from collections.abc import Iterator, Sequence
from statistics import median

from tare.analyze.median import median_estimate
from tare.records import Cell, Outcome, SignalDifference, SignalEvidence, SignalTable
from tare.treat.pairing import cell_of


def signal_tables(evidence: Sequence[SignalEvidence], outcomes: Sequence[Outcome]) -> tuple[SignalTable, ...]:
    """One for each environment and cell, of its first metric; counts near 0 are too skewed for the signed ranks."""
    first: dict[tuple[Cell, str], SignalEvidence] = {}
    for each in evidence:
        first.setdefault((each.cell, each.environment), each)
    return tuple(
        SignalTable(
            cell=one.cell,
            environment=one.environment,
            differences=tuple(_differences(one)),
            missing=_missing(one, outcomes),
        )
        for one in first.values()
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


def _missing(evidence: SignalEvidence, outcomes: Sequence[Outcome]) -> dict[str, str]:
    own = [
        one
        for one in outcomes
        if (cell_of(one), one.trial.environment.name) == (evidence.cell, evidence.environment)
    ]
    had = {signal.name for one in own for signal in one.signals}
    return {name: why for one in own for name, why in one.missing_signals.items() if name not in had}
