# SPDX-License-Identifier: Apache-2.0
"""What probes prove about a clock: its rate with hard bounds, and where it stepped.

An honest clock never runs faster or slower than the host's by more than ``TOLERANCE_PPM``. If no honest clock can have
advanced as this one did between two probes, they refute it, whatever the delays. So a steady clock is refuted exactly
when its whole interval of rates lies beyond the tolerance, and an honest one never is, even if its rate wanders within
the tolerance, as the rate of a disciplined clock does (docs/method.md).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tare.measure.clock_line import MILLION, RESOLUTION_NS, ClockProbe, Drift, line_through

TOLERANCE_PPM = 100
"""The rates of two honest clocks may differ by this much."""
_FASTEST = MILLION + TOLERANCE_PPM
_SLOWEST = MILLION - TOLERANCE_PPM


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A point where a clock advanced more (above 0) or less than an honest one; bounds of the difference."""

    low_ns: int
    high_ns: int
    after_ns: int
    """The host's stamps around it."""
    before_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockFit:
    """What the probes of one clock prove."""

    probes: int
    worst_round_trip_ns: int
    drift: Drift
    """Drift over the longest stretch."""
    stretches: tuple[Drift, ...]
    """Drift of each run of probes that one rate explains; a steady clock has one."""
    refuted: bool
    """No honest clock gives these readings."""
    steps: tuple[Step, ...]
    """The fewest steps that make it an honest clock; none if it is one. A wrong rate needs one in each gap."""


def fit(probes: Sequence[ClockProbe]) -> ClockFit:
    """Judge probes, in the order of the questions; ``ValueError`` without any."""
    if not probes:
        raise ValueError("no probes to judge a clock by")
    steady = list(_steady_pieces(probes))
    honest = list(_honest_pieces(probes))
    stretches = [_drift(piece) for piece in steady]
    spans = [piece[-1].answered_ns - piece[0].asked_ns for piece in steady]
    return ClockFit(
        probes=len(probes),
        worst_round_trip_ns=max(probe.round_trip_ns for probe in probes),
        drift=stretches[spans.index(max(spans))],
        stretches=tuple(stretches),
        refuted=len(honest) > 1,
        steps=tuple(_step(*pair) for pair in pairwise(honest)),
    )


def _drift(piece: Sequence[ClockProbe]) -> Drift:
    drift = line_through(piece)
    assert drift is not None  # noqa: S101 - pieces are made so
    return drift


def _steady_pieces(probes: Sequence[ClockProbe]) -> Iterator[Sequence[ClockProbe]]:
    """The fewest runs of probes that one rate each explains."""
    begin = 0
    while begin < len(probes):
        end = _end_of_steady(probes, begin)
        yield probes[begin:end]
        begin = end


def _end_of_steady(probes: Sequence[ClockProbe], begin: int) -> int:
    """Search by doubling, then bisection: a rate that explains a run also explains its beginnings."""
    length = 1
    while begin + length < len(probes) and line_through(probes[begin : begin + 2 * length]):
        length *= 2
    good, bad = begin + length, min(begin + 2 * length, len(probes) + 1)
    while bad - good > 1:
        middle = (good + bad) // 2
        good, bad = (middle, bad) if line_through(probes[begin:middle]) else (good, middle)
    return min(good, len(probes))


def _honest_pieces(probes: Sequence[ClockProbe]) -> Iterator[Sequence[ClockProbe]]:
    """The fewest runs of probes in which no pair refutes an honest clock."""
    begin, limits = 0, _Limits(probes[:1])
    for number, probe in enumerate(probes[1:], start=1):
        if limits.refuted_by(_Limits([probe])):
            yield probes[begin:number]
            begin, limits = number, _Limits([probe])
        else:
            limits.add(probe)
    yield probes[begin:]


class _Limits:
    """The tightest bounds of the probes on an honest clock that passes through all of them; millionths of nanoseconds.

    The clock minus the fastest honest rate only falls, minus the slowest it only rises: each probe bounds both.
    """

    def __init__(self, probes: Sequence[ClockProbe]) -> None:
        self.fast_most, self.fast_least, self.slow_most, self.slow_least = _limits(probes[0])
        for probe in probes[1:]:
            self.add(probe)

    def add(self, probe: ClockProbe) -> None:
        fast_most, fast_least, slow_most, slow_least = _limits(probe)
        self.fast_most, self.fast_least = min(self.fast_most, fast_most), max(self.fast_least, fast_least)
        self.slow_most, self.slow_least = min(self.slow_most, slow_most), max(self.slow_least, slow_least)

    def refuted_by(self, later: "_Limits") -> bool:
        low, high = self.step_to(later)
        return low > 0 or high < 0

    def step_to(self, later: "_Limits") -> tuple[int, int]:
        """Bounds of the single step in between, if the clock is otherwise honest."""
        return later.fast_least - self.fast_most, later.slow_most - self.slow_least


def _limits(probe: ClockProbe) -> tuple[int, int, int, int]:
    least, most = probe.node_ns * MILLION, (probe.node_ns + RESOLUTION_NS) * MILLION
    asked, answered = probe.asked_ns, probe.answered_ns
    return (
        most - _FASTEST * asked,
        least - _FASTEST * answered,
        most - _SLOWEST * asked,
        least - _SLOWEST * answered,
    )


def _step(earlier: Sequence[ClockProbe], later: Sequence[ClockProbe]) -> Step:
    """The step between two runs, by all their probes; by the later run's first probe if these contradict each other."""
    before, first = _Limits(earlier), _Limits(later[:1])
    low, high = before.step_to(_Limits(later))
    if low > high:
        low, high = sorted(before.step_to(first))
    last = next(probe for probe in reversed(earlier) if _Limits([probe]).refuted_by(first))
    return Step(
        low_ns=low // MILLION,
        high_ns=-(-high // MILLION),
        after_ns=last.asked_ns,
        before_ns=later[0].answered_ns,
    )
