# SPDX-License-Identifier: Apache-2.0
"""No honest clock is ever refuted, whatever the delays; the bounds always hold; what is wrong is found."""

import itertools
from collections.abc import Callable, Sequence
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.measure.clock_fit import TOLERANCE_PPM, ClockFit, Step, fit
from tare.measure.clock_line import ClockProbe, line_through

SECOND = 1_000_000_000
MILLISECOND = 1_000_000
MICROSECOND = 1000

Clock = Callable[[int], int]


@st.composite
def moments(draw: st.DrawFn, longest_ns: int = SECOND) -> list[tuple[int, int, int]]:
    """When each probe was asked, read and answered: any delays in either direction, any pauses between."""
    value, now = [], draw(st.integers(0, 10**15))
    for _ in range(draw(st.integers(1, 25))):
        asked = now + draw(st.integers(0, 3 * SECOND))
        read = asked + draw(st.integers(0, longest_ns))
        now = read + draw(st.integers(0, longest_ns))
        value.append((asked, read, now))
    return value


def probed(times: Sequence[tuple[int, int, int]], clock: Clock) -> list[ClockProbe]:
    return [ClockProbe(asked_ns=asked, node_ns=clock(read), answered_ns=end) for asked, read, end in times]


def affine(offset_ns: int, ppm: float) -> Clock:
    rate = 1 + Fraction(ppm) / 10**6
    return lambda host_ns: int(offset_ns + rate * host_ns)


def usual(clock: Clock, during: int = 5, round_trip_ns: int = 300 * MICROSECOND) -> ClockFit:
    """As a trial probes: five at once, one a second, five at once."""
    begins = [*range(5), *(1000 * second for second in range(1, during + 1))]
    begins += [1000 * (during + 1) + number for number in range(5)]
    times = [(at * MILLISECOND, at * MILLISECOND + round_trip_ns // 3) for at in begins]
    return fit(probed([(asked, read, asked + round_trip_ns) for asked, read in times], clock))


offsets = st.integers(-(10**18), 10**18)


@given(moments(), offsets, st.floats(-TOLERANCE_PPM, TOLERANCE_PPM))
def test_no_honest_steady_clock_is_refuted_and_its_rate_lies_within_the_bounds(
    times: list[tuple[int, int, int]], offset: int, ppm: float
) -> None:
    clock_fit = fit(probed(times, affine(offset, ppm)))
    assert not clock_fit.refuted
    assert len(clock_fit.stretches) == 1
    assert clock_fit.drift.low_ppm is None or clock_fit.drift.low_ppm <= ppm + 1e-9
    assert clock_fit.drift.high_ppm is None or clock_fit.drift.high_ppm >= ppm - 1e-9


@given(moments(), offsets, st.floats(-900_000, 1_000_000))
def test_every_steady_clock_at_any_rate_is_known_as_one(
    times: list[tuple[int, int, int]], offset: int, ppm: float
) -> None:
    clock_fit = fit(probed(times, affine(offset, ppm)))
    assert len(clock_fit.stretches) == 1
    assert clock_fit.drift.low_ppm is None or clock_fit.drift.low_ppm <= ppm + 1e-6
    assert clock_fit.drift.high_ppm is None or clock_fit.drift.high_ppm >= ppm - 1e-6


@given(
    moments(), st.lists(st.tuples(st.integers(1, 5 * SECOND), st.integers(-100, 100)), min_size=1, max_size=9)
)
def test_a_clock_whose_rate_wanders_within_the_tolerance_is_never_refuted(
    times: list[tuple[int, int, int]], stretches: list[tuple[int, int]]
) -> None:
    corners = list(itertools.accumulate((length for length, _ in stretches), initial=times[0][0]))

    def clock(host_ns: int) -> int:
        gained = Fraction(0)
        for begin, (length, ppm) in zip(corners, stretches, strict=False):
            gained += Fraction(ppm * min(max(host_ns - begin, 0), length), 10**6)
        return int(host_ns + gained)

    clock_fit = fit(probed(times, clock))
    assert not clock_fit.refuted
    assert clock_fit.steps == ()


@given(moments(longest_ns=MILLISECOND), st.integers(1, 24), st.integers(-SECOND, SECOND))
def test_a_step_that_is_told_is_as_large_as_it_was_but_for_what_a_clock_may_drift(
    times: list[tuple[int, int, int]], place: int, size: int
) -> None:
    at = times[place][0] if place < len(times) else times[-1][2] + 1
    clock_fit = fit(probed(times, lambda host_ns: host_ns + (size if host_ns >= at else 0)))
    assert len(clock_fit.steps) <= 1
    drift_ns = TOLERANCE_PPM * 1e-6 * (times[-1][2] - times[0][0])
    for step in clock_fit.steps:
        assert step.low_ns - drift_ns <= size <= step.high_ns + drift_ns
        assert step.after_ns <= at <= step.before_ns


@pytest.mark.parametrize("percent", [-3, 3])
def test_three_percent_is_a_rate_and_no_step(percent: int) -> None:
    clock_fit = usual(affine(7 * SECOND, percent * 10_000))
    assert clock_fit.refuted
    assert len(clock_fit.stretches) == 1
    assert clock_fit.drift.low_ppm == pytest.approx(percent * 10_000, abs=100)
    assert clock_fit.drift.high_ppm == pytest.approx(percent * 10_000, abs=100)


def test_the_bounds_narrow_with_time() -> None:
    widths = []
    for during in (1, 10, 60):
        drift = usual(affine(0, 7.0), during).drift
        assert drift.low_ppm is not None
        assert drift.high_ppm is not None
        assert drift.low_ppm <= 7.0 <= drift.high_ppm
        widths.append(drift.high_ppm - drift.low_ppm)
    assert widths[0] > 4 * widths[1] > 16 * widths[2]
    assert widths[2] < 12


def test_a_rate_that_may_be_within_the_tolerance_is_not_called_wrong() -> None:
    """In 1 s and with a round trip of 0.3 ms, 200 ppm cannot be told from 0."""
    clock_fit = usual(affine(0, 200.0), during=0)
    assert clock_fit.drift.high_ppm is not None
    assert clock_fit.drift.high_ppm > TOLERANCE_PPM
    assert not clock_fit.refuted
    assert usual(affine(0, 200.0), during=20).refuted


@pytest.mark.parametrize("sign", [-1, 1])
def test_fifty_milliseconds_there_and_back_are_two_steps(sign: int) -> None:
    def clock(host_ns: int) -> int:
        return host_ns + (sign * 50 * MILLISECOND if 2.5 * SECOND <= host_ns < 4.5 * SECOND else 0)

    clock_fit = usual(clock)
    assert [size(step) for step in clock_fit.steps] == pytest.approx(
        [sign * 50 * MILLISECOND, -sign * 50 * MILLISECOND], abs=0.3 * MILLISECOND
    )
    first, second = clock_fit.steps
    assert first.after_ns <= 2.5 * SECOND <= first.before_ns
    assert second.after_ns <= 4.5 * SECOND <= second.before_ns


def size(step: Step) -> float:
    assert step.low_ns <= step.high_ns
    return (step.low_ns + step.high_ns) / 2


def test_a_guest_that_stood_still_for_two_seconds_lost_two_seconds() -> None:
    """A question that is under way then is answered when it goes on."""
    stopped, length = 3 * SECOND + 100 * MICROSECOND, 2 * SECOND

    def clock(host_ns: int) -> int:
        return host_ns - min(max(host_ns - stopped, 0), length)

    probes = [
        ClockProbe(asked_ns=at, node_ns=clock(at + 100), answered_ns=at + 200 * MICROSECOND)
        for at in range(0, 3 * SECOND, SECOND)
    ]
    during = ClockProbe(
        asked_ns=3 * SECOND, node_ns=clock(5 * SECOND + 150_000), answered_ns=5 * SECOND + 200_000
    )
    after = [
        ClockProbe(asked_ns=at, node_ns=clock(at + 100), answered_ns=at + 200 * MICROSECOND)
        for at in (6 * SECOND, 7 * SECOND)
    ]
    (step,) = fit([*probes, during, *after]).steps
    assert step.low_ns <= -length <= step.high_ns
    assert size(step) == pytest.approx(-length, abs=MILLISECOND)


def test_a_rate_that_changed_is_told_by_both_rates() -> None:
    middle = 10 * SECOND
    clock_fit = usual(lambda host_ns: host_ns + max(host_ns - middle, 0) * 3 // 100, during=20)
    assert clock_fit.refuted
    assert len(clock_fit.stretches) <= 3
    assert clock_fit.stretches[0].low_ppm == pytest.approx(0, abs=100)
    assert clock_fit.stretches[-1].high_ppm == pytest.approx(30_000, abs=100)
    assert len(clock_fit.steps) > 2 * (len(clock_fit.stretches) - 1)


def test_one_probe_bounds_nothing() -> None:
    clock_fit = fit([ClockProbe(asked_ns=5, node_ns=77, answered_ns=9)])
    assert (clock_fit.drift.low_ppm, clock_fit.drift.high_ppm) == (None, None)
    assert not clock_fit.refuted
    with pytest.raises(ValueError, match="no probes"):
        fit([])


def test_the_worst_round_trip_and_the_number_of_probes_are_told() -> None:
    clock_fit = usual(affine(0, 0), during=2, round_trip_ns=1234)
    assert (clock_fit.probes, clock_fit.worst_round_trip_ns) == (12, 1234)


@given(moments(), offsets, st.floats(-200, 200), st.data())
def test_the_hulls_leave_no_bound_out(
    times: list[tuple[int, int, int]], offset: int, ppm: float, data: st.DataObject
) -> None:
    """Against all pairs of brackets, one by one, with readings that need not fit any clock."""
    clock = affine(offset, ppm)
    shifts = data.draw(st.lists(st.integers(-(10**6), 10**6), min_size=len(times), max_size=len(times)))
    probes = [
        ClockProbe(
            asked_ns=clock_probe.asked_ns,
            node_ns=clock_probe.node_ns + shift,
            answered_ns=clock_probe.answered_ns,
        )
        for clock_probe, shift in zip(probed(times, clock), shifts, strict=True)
    ]
    least, most, possible = [], [], True
    for first, second in itertools.product(probes, probes):
        span, rise = first.answered_ns - second.asked_ns, first.node_ns - second.node_ns - 1000
        if span > 0:
            least.append(Fraction(rise, span))
        elif span < 0:
            most.append(Fraction(rise, span))
        else:
            possible = possible and rise <= 0
    possible = possible and not (least and most and max(least) > min(most))
    drift = line_through(probes)
    assert (drift is not None) == possible
    if drift is not None:
        expected = [max((rate for rate in least if rate > 0), default=None), min(most, default=None)]
        result = [drift.low_ppm, drift.high_ppm]
        assert result == [None if rate is None else float((rate - 1) * 10**6) for rate in expected]


def test_an_hour_of_probes_is_judged_in_no_time() -> None:
    """Even of a clock that no rate explains for long."""
    clock_fit = usual(lambda host_ns: host_ns + (host_ns // SECOND % 3) * 20 * MILLISECOND, during=3600)
    assert len(clock_fit.steps) > 1000
