# SPDX-License-Identifier: Apache-2.0
"""The conclusion from all clock probes of a trial's nodes: facts, and what is wrong, in words."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tare.measure.clock_fit import ClockFit, Step, fit
from tare.measure.clock_line import ClockProbe, Drift

_MOST_STEPS = 3
"""More steps are reported as a count, or as rates if fewer rates than steps explain them."""
_NAMES = {
    "monotonic_raw_ns": "CLOCK_MONOTONIC_RAW",
    "monotonic_ns": "CLOCK_MONOTONIC",
    "realtime_ns": "CLOCK_REALTIME",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockFindings:
    """The findings on the clocks of all nodes."""

    facts: tuple[Mapping[str, str], ...]
    """Facts of each node."""
    fault: str | None
    """What is wrong with them; ``None`` if nothing is."""


def findings(nodes: Mapping[str, Mapping[str, Sequence[ClockProbe]]]) -> ClockFindings:
    """Judge the probes of each node's clocks; ``nodes`` maps each node's label to its probes."""
    fits = {node: {name: fit(probes) for name, probes in clocks.items()} for node, clocks in nodes.items()}
    faults = [words for node, clocks in fits.items() if (words := _fault(node, clocks))]
    return ClockFindings(facts=tuple(map(_facts, fits.values())), fault="; ".join(faults) or None)


def _facts(clocks: Mapping[str, ClockFit]) -> dict[str, str]:
    facts = {f"drift of {_NAMES[name]}": _span(clock_fit.drift) for name, clock_fit in clocks.items()}
    any_clock = next(iter(clocks.values()))
    return {
        **facts,
        "clock probes": str(any_clock.probes),
        "worst round trip to the clock": f"{any_clock.worst_round_trip_ns * 1e-6:.3f} ms",
        "clock steps": str(
            max(len(clock_fit.steps) if _stepped(clock_fit) else 0 for clock_fit in clocks.values())
        ),
    }


def _fault(node: str, clocks: Mapping[str, ClockFit]) -> str | None:
    """The fault of a node's clocks; one clock represents all with the same fault."""
    alike: dict[tuple[bool, bool], list[str]] = {}
    for name, clock_fit in clocks.items():
        if clock_fit.refuted:
            alike.setdefault(_kind(clock_fit), []).append(name)
    fault = [f"{_joined(names)} of {node} {_words(clocks[names[0]])}" for names in alike.values()]
    return ", and ".join(fault) or None


def _joined(names: Sequence[str]) -> str:
    return ", ".join(_NAMES[name] for name in names)


def _stepped(clock: ClockFit) -> bool:
    """Whether steps explain it and rates do no better: a single step and one other rate cannot be distinguished."""
    if len(clock.steps) <= 1:
        return bool(clock.steps)
    changes = len(clock.stretches) - 1
    return changes > 0 and (len(clock.steps) <= _MOST_STEPS or 2 * changes > len(clock.steps))


def _kind(clock: ClockFit) -> tuple[bool, bool]:
    return _stepped(clock), len(clock.stretches) == 1


def _words(clock: ClockFit) -> str:
    stepped, steady = _kind(clock)
    at_one_rate = f"runs at another rate than the host's: {_span(clock.drift)}"
    if stepped:
        return f"stepped {', '.join(_steps(clock.steps))}{f', or {at_one_rate}' if steady else ''}"
    return at_one_rate if steady else f"changed its rate: {', then '.join(map(_span, clock.stretches))}"


def _steps(steps: Sequence[Step]) -> Iterator[str]:
    for step in steps[:_MOST_STEPS]:
        yield f"by {_span_ms(step.low_ns, step.high_ns)}"
    if more := len(steps[_MOST_STEPS:]):
        yield f"{more} times more"
    if len(steps) > 1:
        yield f"in all by {_span_ms(sum(step.low_ns for step in steps), sum(step.high_ns for step in steps))}"


def _span_ms(low_ns: int, high_ns: int) -> str:
    return f"{low_ns * 1e-6:+.3f} to {high_ns * 1e-6:+.3f} ms"


def _span(drift: Drift) -> str:
    """The bounds in words, rounded outward so that they still hold."""
    if drift.low_ppm is None or drift.high_ppm is None:
        return "not bounded"
    return f"{drift.low_ppm - 0.05:+.1f} to {drift.high_ppm + 0.05:+.1f} ppm"
