# SPDX-License-Identifier: Apache-2.0
"""Signals beside the runs, against native's: for programs and the page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tare.drawing.artist import Artist
from tare.drawing.words import quantity
from tare.records import Analysis, Cell, Outcome, Scope, SignalDifference, SignalTable
from tare.report import in_json
from tare.report.page import MISSING, PageSection, section
from tare.units import MINUS

TITLE = "Signals beside the runs"
EXPLANATION = (
    "How much more of each signal a trial has than a native one of the same block: the median over blocks, with its "
    "exact interval. Signals decide nothing; what may be concluded from them stands under the causes."
)
_UNITS = {"1": "", "byte": "B"}


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalRow:
    """One signal, ready to be set."""

    name: str
    scope: Scope
    native: str
    difference: str
    interval: str
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownSignals:
    """All signals of one environment in one cell."""

    environment: str
    cell: Cell
    rows: tuple[SignalRow, ...]
    nothing: tuple[str, ...]
    """Signals of which neither it nor native had anything in any block."""
    missing: Mapping[str, tuple[str, ...]]
    """Why → the signals that are missing for that reason."""


def shown_signals(analysis: Analysis) -> tuple[ShownSignals, ...]:
    """In the order of the verdicts; nothing of a result without signals."""
    return tuple(_shown(table) for table in analysis.signals if table.differences)


def _shown(table: SignalTable) -> ShownSignals:
    silent = [signal for signal in table.differences if _is_nothing(signal)]
    missing: dict[str, tuple[str, ...]] = {}
    for name, why in table.missing.items():
        missing[why] = (*missing.get(why, ()), name)
    return ShownSignals(
        environment=table.environment,
        cell=table.cell,
        rows=tuple(_row(signal) for signal in table.differences if signal not in silent),
        nothing=tuple(signal.name for signal in silent),
        missing=missing,
    )


def _is_nothing(signal: SignalDifference) -> bool:
    more = signal.difference
    return not any((signal.native, more.point, more.low or 0.0, more.high or 0.0))


def _row(signal: SignalDifference) -> SignalRow:
    more, unit = signal.difference, _UNITS.get(signal.unit, signal.unit)
    interval = f"none (n = {more.n})"
    if more.low is not None and more.high is not None:
        interval = f"{_difference(more.low, unit)} to {_difference(more.high, unit)}"
    return SignalRow(
        name=signal.name,
        scope=signal.scope,
        native=quantity(signal.native, unit),
        difference=_difference(more.point, unit),
        interval=interval,
        n=more.n,
    )


def _difference(value: float, unit: str) -> str:
    sign = "" if not value else MINUS if value < 0 else "+"
    return f"{sign}{quantity(abs(value), unit)}"


def json(analysis: Analysis) -> dict[str, Any]:
    """Signals of every trial, and of each environment against native, as docs/json.md describes them."""
    kinds = {signal.name: signal for outcome in analysis.outcomes for signal in outcome.signals}
    signals = {
        "kinds": {
            name: {"unit": kind.unit, "lost_time": kind.lost_time} for name, kind in sorted(kinds.items())
        },
        "trials": [_trial(outcome, sorted(kinds)) for outcome in analysis.outcomes if outcome.signals],
        "environments": [_environment(table) for table in analysis.signals],
    }
    return {"signals": signals}


def _trial(outcome: Outcome, names: Sequence[str]) -> dict[str, Any]:
    own = {signal.name: signal for signal in outcome.signals}
    return {
        **in_json.trial(outcome),
        "excluded_by": outcome.excluded_by and outcome.excluded_by.value,
        "values": {name: in_json.number(own[name].value) if name in own else None for name in names},
        "of_the_host": sorted(name for name, signal in own.items() if signal.scope == "host"),
    }


def _environment(signals: SignalTable) -> dict[str, Any]:
    return {
        "cell": in_json.cell(signals.cell),
        "environment": signals.environment,
        "differences": [
            {
                "signal": difference.name,
                "scope": difference.scope.value,
                "native": {
                    "point": in_json.number(difference.native),
                    "unit": difference.unit,
                    "n": difference.difference.n,
                },
                "difference": in_json.estimate(difference.difference, difference.unit),
            }
            for difference in signals.differences
        ],
        "missing": dict(signals.missing),
    }


def html(analysis: Analysis, artist: Artist) -> Sequence[PageSection]:  # noqa: ARG001 - as every topic's
    """A table for each environment, below the facts about the host."""
    shown = shown_signals(analysis)
    if not shown:
        return [MISSING]
    return [section("signals", "", title=TITLE, explanation=EXPLANATION, signals=shown)]
