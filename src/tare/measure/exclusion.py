# SPDX-License-Identifier: Apache-2.0
"""Whether a rule that was declared before the start takes a trial out: none of them looks at what was measured."""

from dataclasses import dataclass

from tare.measure.signals.processors import TICK_S, Processors, ProcessorTimes, parse_times
from tare.measure.signals.watch import Found, SignalWatch
from tare.records import Exclude, Rule, Scope, Signal

FOREIGN = "foreign_cpu_s"
_UNKNOWN = "the CPU time of the trial itself is not known"
_TICKS = 2
"""Of each processor: what /proc/stat may be wrong by, one at each end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Excluded:
    """A trial that is taken out."""

    rule: Rule
    reason: str
    """The same for every trial that this rule takes out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Own:
    """CPU time, over the span of the signals, of all that the trial brought with it."""

    nodes_s: float | None
    """Of its nodes; ``None``: nobody counts it."""
    helpers_s: float = 0.0
    neighbours_s: float | None = 0.0
    """Of the neighbours that the campaign asked for."""


def add_foreign_load(watch: SignalWatch, own: Own, found: Found) -> None:
    """How much others used of the trial's processors: what was used of them in all, less the trial's own share.

    That is its nodes, their helpers and neighbours, and this process, wherever these ran: the figure is rather too
    small than too large. What a hypervisor took from these processors was used by others too.
    """
    if own.nodes_s is None or own.neighbours_s is None:
        found.missing[FOREIGN] = _UNKNOWN
        return
    used_s = _used_s(watch)
    if used_s is None:
        found.missing[FOREIGN] = found.missing.get("host_steal_s", _UNKNOWN)
        return
    before, after = watch.looks()
    runner_s = after.runner_cpu_s - before.runner_cpu_s
    foreign_s = max(0.0, used_s - own.nodes_s - own.helpers_s - own.neighbours_s - runner_s)
    found.signals.append(Signal(name=FOREIGN, unit="s", scope=Scope.HOST, value=foreign_s))


def excluded(exclude: Exclude, watch: SignalWatch, found: Found) -> Excluded | None:
    """The first rule that takes the trial out; ``None`` when none does, or nobody can know."""
    load, change = _foreign_load(watch, found), _change(found.levels.get("frequency_hz", ()))
    hottest_c = max(found.levels.get("temperature_c", ()), default=None)
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


def _foreign_load(watch: SignalWatch, found: Found) -> float | None:
    """In processors' worth, less what the ticks cannot tell."""
    foreign_s = next((signal.value for signal in found.signals if signal.name == FOREIGN), None)
    if foreign_s is None or watch.span_s <= 0:
        return None
    return max(0.0, foreign_s - _TICKS * TICK_S * len(watch.place.processors)) / watch.span_s


def _change(values: tuple[float, ...]) -> float | None:
    """While the command ran: the processors may have been idle, and slow, before it. ``None`` for a single reading."""
    running = values[1:]
    if len(running) < 2 or max(running) <= 0:  # noqa: PLR2004 - one reading shows no change
        return None
    return (max(running) - min(running)) / max(running)


def _used_s(watch: SignalWatch) -> float | None:
    texts = watch.text_of(Processors)
    if texts is None:
        return None
    try:
        before, after = (parse_times(text, watch.place.processors) for text in texts)
    except ValueError:
        return None
    return _of_all(after) - _of_all(before)


def _of_all(times: ProcessorTimes) -> float:
    return times.working_s + times.steal_s
