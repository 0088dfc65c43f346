# SPDX-License-Identifier: Apache-2.0
"""A clock's offset and drift lie within the bounds, whatever the delays; and the bounds are as narrow as can be."""

from collections.abc import Callable, Sequence
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.measure.clock_line import RESOLUTION_NS, ClockProbe
from tare.measure.clock_offset import drift_of, offset_at

SECOND = 1_000_000_000
MILLISECOND = 1_000_000
rates_ppm = st.fractions(-100, 100)
offsets_ns = st.integers(-(10**17), 10**17)

Times = Sequence[tuple[int, int, int]]


@st.composite
def exchanges(draw: st.DrawFn) -> Times:
    """When each question was asked, read and answered: any delay in each direction, any pauses between."""
    value, now = [], draw(st.integers(0, 10**15))
    for _ in range(draw(st.integers(1, 12))):
        asked = now + draw(st.integers(0, 100 * SECOND))
        read = asked + draw(st.integers(0, SECOND))
        now = read + draw(st.integers(0, SECOND))
        value.append((asked, read, now))
    return value


def probed(times: Times, clock: Callable[[int], Fraction]) -> list[ClockProbe]:
    """A clock shows whole nanoseconds."""
    return [
        ClockProbe(asked_ns=asked, node_ns=int(clock(read) // 1), answered_ns=end)
        for asked, read, end in times
    ]


def steady(offset_ns: int, ppm: Fraction, origin_ns: int = 0) -> Callable[[int], Fraction]:
    return lambda here_ns: here_ns + offset_ns + ppm * (here_ns - origin_ns) / 10**6


@given(exchanges(), offsets_ns, rates_ppm, st.integers(-SECOND, 2000 * SECOND))
def test_offset_and_drift_of_a_steady_clock_are_within_the_bounds_for_any_delays(
    times: Times, offset: int, ppm: Fraction, later: int
) -> None:
    clock, at_ns = steady(offset, ppm), times[0][0] + later
    probes = probed(times, clock)
    bounds, drift = offset_at(probes, at_ns), drift_of(probes)
    assert bounds is not None
    assert bounds.low_ns <= clock(at_ns) - at_ns <= bounds.high_ns
    assert abs(clock(at_ns) - at_ns - bounds.middle_ns) <= bounds.bound_ns
    assert drift is not None
    assert drift.low_ppm is not None
    assert drift.high_ppm is not None
    assert drift.low_ppm - 1e-9 <= float(ppm) <= drift.high_ppm + 1e-9


@given(exchanges(), offsets_ns, st.lists(rates_ppm, min_size=2, max_size=4), st.integers(0, 1000 * SECOND))
def test_the_offset_of_a_clock_that_wanders_is_within_the_bounds_if_no_one_rate_explains_it(
    times: Times, offset: int, rates: list[Fraction], later: int
) -> None:
    begin, piece = times[0][0], max(1, (times[-1][2] - times[0][0]) // len(rates))

    def clock(here_ns: int) -> Fraction:
        ahead, left = Fraction(0), here_ns - begin
        for ppm in rates[:-1]:
            ahead += ppm * min(left, piece) / 10**6
            left = max(0, left - piece)
        return here_ns + offset + ahead + rates[-1] * left / 10**6

    probes, at_ns = probed(times, clock), begin + later
    bounds = offset_at(probes, at_ns)
    assert bounds is not None
    if drift_of(probes) is None:
        assert bounds.low_ns <= clock(at_ns) - at_ns <= bounds.high_ns


@given(exchanges(), offsets_ns, rates_ppm)
def test_more_exchanges_never_widen_the_bounds(times: Times, offset: int, ppm: Fraction) -> None:
    probes = probed(times, steady(offset, ppm))
    at_ns = times[0][1]
    some, all_of_them = offset_at(probes[:1], at_ns), offset_at(probes, at_ns)
    assert some is not None
    assert all_of_them is not None
    assert all_of_them.bound_ns <= some.bound_ns
    assert some.bound_ns <= (probes[0].round_trip_ns * Fraction(10001, 10000) + RESOLUTION_NS)


def test_a_host_that_is_three_seconds_ahead_and_gains_fifty_millionths_is_recovered() -> None:
    """The way there takes 0.2 ms and the way back 0.6 ms, and one exchange in three waits 20 ms more."""
    clock = steady(3 * SECOND, Fraction(50))
    times, now = [], 0
    for number in range(5 + 60 + 5):
        now += 10 * MILLISECOND if number < 5 or number >= 65 else SECOND
        late = 20 * MILLISECOND if number % 3 == 1 else 0
        times.append((now, now + 200_000, now + 800_000 + late))
    bounds = offset_at(probed(times, clock), now // 2)
    drift = drift_of(probed(times, clock))
    assert bounds is not None
    assert float(bounds.middle_ns) == pytest.approx(3 * SECOND + 50e-6 * now / 2, abs=400_001 + RESOLUTION_NS)
    assert float(bounds.bound_ns) < 401_000
    assert drift is not None
    assert drift.low_ppm is not None
    assert drift.high_ppm is not None
    assert 30 < drift.low_ppm <= 50 <= drift.high_ppm < 70


def test_one_exchange_bounds_by_half_its_round_trip() -> None:
    probe = ClockProbe(asked_ns=0, node_ns=3 * SECOND, answered_ns=MILLISECOND)
    bounds = offset_at([probe], MILLISECOND // 2)
    assert bounds is not None
    assert float(bounds.bound_ns) == pytest.approx(MILLISECOND / 2, abs=RESOLUTION_NS)


def test_a_clock_that_stepped_has_no_bounds() -> None:
    readings = [(0, 0, 1000), (SECOND, 2 * SECOND, SECOND + 1000)]
    probes = [ClockProbe(asked_ns=a, node_ns=n, answered_ns=b) for a, n, b in readings]
    assert offset_at(probes, 0) is None
    assert drift_of(probes) is None


def test_a_clock_cannot_be_bounded_without_exchanges() -> None:
    with pytest.raises(ValueError, match="no probes"):
        offset_at([], 0)
