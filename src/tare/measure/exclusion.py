# SPDX-License-Identifier: Apache-2.0
"""Whether a rule declared before the start excludes a trial: no rule looks at the measured values."""

from dataclasses import dataclass

from tare.records import Exclude, Rule, Scope, Signal
from tare.signals.processors import TICK_S
from tare.signals.used import used_between
from tare.signals.watch import Found, SignalWatch

FOREIGN = "foreign_cpu_s"
_UNKNOWN = "the CPU time of the trial itself is not known"
_TICKS = 2
"""Possible error of /proc/stat per processor: one tick at each end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Excluded:
    """The exclusion of a trial."""

    rule: Rule
    reason: str
    """The same for every trial that this rule excludes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Own:
    """CPU time, over the span of the signals, of everything that the trial brought with it."""

    nodes_s: float | None
    """CPU time of its nodes; ``None``: not counted."""
    helpers_s: float = 0.0
    neighbours_s: float | None = 0.0
    """CPU time of its neighbours."""


def add_foreign_load(watch: SignalWatch, own: Own, readings: Found) -> None:
    """Add the use of the trial's processors by others: their total use minus the trial's own share.

    The own share is its nodes, their helpers and neighbours, and this process, wherever these ran: the figure errs on
    the small side. Time that a hypervisor took from these processors counts as used by others.
    """
    if own.nodes_s is None or own.neighbours_s is None:
        readings.missing[FOREIGN] = _UNKNOWN
        return
    used_s = used_between(watch)
    if used_s is None:
        readings.missing[FOREIGN] = readings.missing.get("host_steal_s", _UNKNOWN)
        return
    before, after = watch.looks()
    runner_s = after.runner_cpu_s - before.runner_cpu_s
    foreign_s = max(0.0, used_s - own.nodes_s - own.helpers_s - own.neighbours_s - runner_s)
    readings.signals.append(Signal(name=FOREIGN, unit="s", scope=Scope.HOST, value=foreign_s))


def excluded(exclude: Exclude, watch: SignalWatch, readings: Found) -> Excluded | None:
    """The first rule that excludes the trial; ``None`` if none does, or it cannot be known."""
    load, change = _foreign_load(watch, readings), _change(readings.levels.get("frequency_hz", ()))
    hottest_c = max(readings.levels.get("temperature_c", ()), default=None)
    if _beyond(load, exclude.foreign_load):
        said = (
            f"others used more of the trial's processors than foreign_load = {exclude.foreign_load:g} allows"
        )
        return Excluded(rule=Rule.FOREIGN_LOAD, reason=said)
    if _beyond(change, exclude.frequency_change):
        said = (
            f"the processors' frequency changed by more than frequency_change = {exclude.frequency_change:g}"
        )
        return Excluded(rule=Rule.FREQUENCY, reason=said)
    if _beyond(hottest_c, exclude.temperature_c):
        said = f"the host was hotter than temperature_c = {exclude.temperature_c:g}"
        return Excluded(rule=Rule.FREQUENCY, reason=said)
    return None


def _beyond(value: float | None, limit: float | None) -> bool:
    return value is not None and limit is not None and value > limit


def _foreign_load(watch: SignalWatch, readings: Found) -> float | None:
    """Foreign load in processors' worth, minus the uncertainty of the ticks."""
    foreign_s = next((signal.value for signal in readings.signals if signal.name == FOREIGN), None)
    if foreign_s is None or watch.span_s <= 0:
        return None
    return max(0.0, foreign_s - _TICKS * TICK_S * len(watch.place.processors)) / watch.span_s


def _change(values: tuple[float, ...]) -> float | None:
    """Change while the command ran: before it, processors may be idle and slow. ``None`` for a single reading."""
    running = values[1:]
    if len(running) < 2 or max(running) <= 0:  # noqa: PLR2004 - one reading shows no change
        return None
    return (max(running) - min(running)) / max(running)
