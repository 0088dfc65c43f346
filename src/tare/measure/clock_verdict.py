# SPDX-License-Identifier: Apache-2.0
"""What the probes of all clocks of a trial's nodes amount to: facts, and what is wrong, in words."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tare.measure.clock_fit import ClockFit, Step, fit
from tare.measure.clock_line import ClockProbe, Drift

_MOST_STEPS = 3
"""More of them are told by their number; and where fewer rates than steps explain them, by these."""
_NAMES = {
    "monotonic_raw_ns": "CLOCK_MONOTONIC_RAW",
    "monotonic_ns": "CLOCK_MONOTONIC",
    "realtime_ns": "CLOCK_REALTIME",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockFindings:
    """What was found out about the clocks of all nodes."""

    facts: tuple[Mapping[str, str], ...]
    """Of each node."""
    fault: str | None
    """What is wrong with them; ``None`` when nothing is."""


def findings(nodes: Mapping[str, Mapping[str, Sequence[ClockProbe]]]) -> ClockFindings:
    """Judge the probes of each node's clocks; ``nodes`` says how each is to be called."""
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
    """Clocks that go wrong in the same way are told of by one of them."""
    alike: dict[tuple[bool, bool], list[str]] = {}
    for name, clock_fit in clocks.items():
        if clock_fit.refuted:
            alike.setdefault(_kind(clock_fit), []).append(name)
    fault = [f"{_joined(names)} of {node} {_words(clocks[names[0]])}" for names in alike.values()]
    return ", and ".join(fault) or None


def _joined(names: Sequence[str]) -> str:
    return ", ".join(_NAMES[name] for name in names)


def _stepped(found: ClockFit) -> bool:
    """Steps explain it, and rates do so no better: one takes a single step and one other rate, and nobody can tell."""
    if len(found.steps) <= 1:
        return bool(found.steps)
    changes = len(found.stretches) - 1
    return changes > 0 and (len(found.steps) <= _MOST_STEPS or 2 * changes > len(found.steps))


def _kind(found: ClockFit) -> tuple[bool, bool]:
    return _stepped(found), len(found.stretches) == 1


def _words(found: ClockFit) -> str:
    stepped, steady = _kind(found)
    at_one_rate = f"runs at another rate than the host's: {_span(found.drift)}"
    if stepped:
        return f"stepped {', '.join(_steps(found.steps))}{f', or {at_one_rate}' if steady else ''}"
    return at_one_rate if steady else f"changed its rate: {', then '.join(map(_span, found.stretches))}"


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
    """Bounds are rounded outward, so that they still hold."""
    if drift.low_ppm is None or drift.high_ppm is None:
        return "not bounded"
    return f"{drift.low_ppm - 0.05:+.1f} to {drift.high_ppm + 0.05:+.1f} ppm"
