# SPDX-License-Identifier: Apache-2.0
"""Signals against native's, and trials that rules took out, as a reader sees them; it only arranges and counts."""

from collections.abc import Mapping
from dataclasses import dataclass

from tare.drawing.words import counted, quantity
from tare.foreign import one_line
from tare.records import Analysis, Cell, Exclusions, Scope, SignalDifference, SignalTable
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
class Shown:
    """All signals of one environment in one cell."""

    environment: str
    cell: Cell
    rows: tuple[SignalRow, ...]
    nothing: tuple[str, ...]
    """Signals of which neither it nor native had anything in any block."""
    missing: Mapping[str, tuple[str, ...]]
    """Why → the signals that are missing for that reason."""


def shown_signals(analysis: Analysis) -> tuple[Shown, ...]:
    """In the order of the verdicts; nothing of a result without signals."""
    return tuple(_shown(table) for table in analysis.signals if table.differences)


def _shown(table: SignalTable) -> Shown:
    silent = [one for one in table.differences if _is_nothing(one)]
    missing: dict[str, tuple[str, ...]] = {}
    for name, why in table.missing.items():
        missing[why] = (*missing.get(why, ()), name)
    return Shown(
        environment=table.environment,
        cell=table.cell,
        rows=tuple(_row(one) for one in table.differences if one not in silent),
        nothing=tuple(one.name for one in silent),
        missing=missing,
    )


def _is_nothing(one: SignalDifference) -> bool:
    found = one.difference
    return not any((one.native, found.point, found.low or 0.0, found.high or 0.0))


def _row(one: SignalDifference) -> SignalRow:
    found, unit = one.difference, _UNITS.get(one.unit, one.unit)
    interval = f"none (n = {found.n})"
    if found.low is not None and found.high is not None:
        interval = f"{_difference(found.low, unit)} to {_difference(found.high, unit)}"
    return SignalRow(
        name=one.name,
        scope=one.scope,
        native=quantity(one.native, unit),
        difference=_difference(found.point, unit),
        interval=interval,
        n=found.n,
    )


def _difference(value: float, unit: str) -> str:
    sign = "" if not value else MINUS if value < 0 else "+"
    return f"{sign}{quantity(abs(value), unit)}"


def exclusions_said(analysis: Analysis) -> tuple[tuple[Cell, str], ...]:
    """By cell: how many trials the rules took out of each environment; nothing where they took out none."""
    found: dict[Cell, list[Exclusions]] = {}
    for one in analysis.exclusions:
        found.setdefault(one.cell, []).append(one)
    return tuple(
        (cell, "; ".join(_arm(one) for one in arms))
        for cell, arms in found.items()
        if any(one.excluded for one in arms)
    )


def _arm(one: Exclusions) -> str:
    rules = ", ".join(f"{count} for {rule}" for rule, count in one.excluded.items())
    told = f"{one_line(one.environment)} {sum(one.excluded.values())} of {counted(one.trials, 'trial')}"
    return f"{told} ({rules})" if rules else told


def warnings_said(analysis: Analysis) -> tuple[tuple[Cell, str], ...]:
    """Each warning of the verdicts once, with the cell that it is about."""
    found = (
        (verdict.overhead.summary.cell, one_line(warning))
        for verdict in analysis.verdicts
        for warning in verdict.warnings
    )
    return tuple(dict.fromkeys(found))
