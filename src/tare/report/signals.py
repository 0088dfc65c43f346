# SPDX-License-Identifier: Apache-2.0
"""Signals beside the runs, against native's: for programs and the page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tare.drawing.artist import Artist
from tare.drawing.words import quantity
from tare.records import Analysis, Cell, Outcome, Rule, Scope, SignalDifference, SignalTable
from tare.report.page import MISSING, PageSection, section
from tare.report.shape import ArmShape, EstimateShape, JsonShape, Number, TrialShape, in_unit, key
from tare.units import MINUS

TITLE = "Signals beside the runs"
EXPLANATION = (
    "How much more of each signal a trial has than a native one of the same block: the median over blocks, with its "
    'exact interval. Signals decide nothing; what they suggest about a difference stands under "Why".'
)
_UNITS = {"1": "", "byte": "B"}
_ROUNDING = 1e-9
"""Of the other figures of a signal: what is smaller is left over from subtracting equal numbers."""


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


def _apart(shown: Sequence[ShownSignals]) -> tuple[Sequence[ShownSignals], Mapping[str, tuple[str, ...]]]:
    """What several environments all lack for the same reason, said once."""
    if len(shown) < 2:  # noqa: PLR2004 - as the name says
        return shown, {}
    common = {
        why: names
        for why, names in shown[0].missing.items()
        if all(each.missing.get(why) == names for each in shown)
    }
    own = [
        replace(each, missing={why: names for why, names in each.missing.items() if why not in common})
        for each in shown
    ]
    return own, common


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
    nothing = _ROUNDING * max(abs(signal.native), abs(more.low or 0.0), abs(more.high or 0.0))
    point = more.point if abs(more.point) > nothing else 0.0
    interval = f"none (n = {more.n})"
    if more.low is not None and more.high is not None:
        interval = f"{_difference(more.low, unit)} to {_difference(more.high, unit)}"
    return SignalRow(
        name=signal.name,
        scope=signal.scope,
        native=quantity(signal.native, unit),
        difference=_difference(point, unit),
        interval=interval,
        n=more.n,
    )


def _difference(value: float, unit: str) -> str:
    sign = "" if not value else MINUS if value < 0 else "+"
    return f"{sign}{quantity(abs(value), unit)}"


class KindShape(JsonShape):
    """A signal that some trial has."""

    unit: str = key("unit of its values")
    lost_time: bool = key("whether it is time in which the command itself waited")


class TrialSignalsShape(TrialShape):
    """The counts of one trial."""

    excluded_by: Rule | None = key("as in `lost`")
    values: dict[str, Number] = key(
        "signal \N{RIGHTWARDS ARROW} what was counted, `null` if this trial lacks it"
    )
    of_the_host: list[str] = key(
        "the signals whose counts are the host's and not the nodes' own",
        lambda of: sorted(signal.name for signal in of.signals if signal.scope is Scope.HOST),
    )


class NativeSignalShape(JsonShape):
    """Native's value of a signal: the median over blocks."""

    point: Number = key("the value")
    unit: str = key("its unit")
    n: int = key("how many blocks")


class DifferenceShape(JsonShape):
    """One signal of one environment against native."""

    signal: str = key("its name", "name")
    scope: Scope = key("where it was counted: in the nodes, or on the whole host")
    native: NativeSignalShape = key(
        "native's value", lambda of: NativeSignalShape(point=of.native, unit=of.unit, n=of.difference.n)
    )
    difference: EstimateShape = key(
        "the median over blocks of how much more it was than natively",
        lambda of: in_unit(of.difference, of.unit),
    )


class EnvironmentSignalsShape(ArmShape):
    """One object per cell and environment."""

    differences: list[DifferenceShape] = key("one object for each signal")
    missing: dict[str, str] = key("signal \N{RIGHTWARDS ARROW} why no trial has it")


class SignalsShape(JsonShape):
    """What was counted beside the trials; [signals.md](signals.md) gives names and meanings."""

    kinds: dict[str, KindShape] = key("signal \N{RIGHTWARDS ARROW} what it is; signals that some trial has")
    trials: list[TrialSignalsShape] = key("one object for each trial with signals")
    environments: list[EnvironmentSignalsShape] = key("the environments against native", "signals")


def _signals(analysis: Analysis) -> dict[str, Any]:
    kinds = {signal.name: signal for outcome in analysis.outcomes for signal in outcome.signals}
    names = sorted(kinds)
    trials = [_trial(outcome, names) for outcome in analysis.outcomes if outcome.signals]
    return SignalsShape.taken(analysis, kinds={name: kinds[name] for name in names}, trials=trials)


def _trial(outcome: Outcome, names: Sequence[str]) -> dict[str, Any]:
    own = {signal.name: signal.value for signal in outcome.signals}
    return TrialSignalsShape.taken(outcome, values={name: own.get(name) for name in names})


class SignalsJson(JsonShape):
    signals: SignalsShape = key("what was counted beside the trials", _signals)


def html(analysis: Analysis, artist: Artist) -> Sequence[PageSection]:  # noqa: ARG001 - as every topic's
    """A table for each environment, below the facts about the host."""
    shown = shown_signals(analysis)
    if not shown:
        return [MISSING]
    own, common = _apart(shown)
    return [section("signals", "", title=TITLE, explanation=EXPLANATION, signals=own, missing_in_all=common)]
