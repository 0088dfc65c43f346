# SPDX-License-Identifier: Apache-2.0
"""The clock check never accuses an honest clock, and always finds one that lies by more than the bound."""

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.measure.clock_line import ClockProbe
from tare.measure.clocks import compare, disagreement, host_ns, host_start_ns, offset_ns
from tare.records import Clocks

SECOND = 1_000_000_000
MILLISECOND = 1_000_000

parts_per_million = st.floats(-50, 50)
offsets_ns = st.integers(-(10**16), 10**16)
shares = st.floats(0, 1)


def round_trips_ns(longest: int) -> st.SearchStrategy[list[tuple[int, float]]]:
    """Up to five probes: how long each took (a pipe needs 1 µs), and at which share of it the node read its clock."""
    return st.lists(st.tuples(st.integers(1000, longest), shares), min_size=1, max_size=5)


@dataclass(frozen=True)
class NodeClock:
    """A clock with an offset, a rate, and perhaps a step."""

    offset_ns: int
    rate: float = 1.0
    step_ns: int = 0
    step_at_ns: int = 0

    def read(self, host: int) -> int:
        stepped = self.step_ns if host >= self.step_at_ns else 0
        return self.offset_ns + host + round(host * (self.rate - 1)) + stepped

    def probes(self, begin: int, round_trips: list[tuple[int, float]]) -> list[ClockProbe]:
        made = []
        for length, share in round_trips:
            made.append(
                ClockProbe(
                    asked_ns=begin, node_ns=self.read(begin + int(length * share)), answered_ns=begin + length
                )
            )
            begin += length
        return made

    def measure(
        self,
        before: list[tuple[int, float]],
        after: list[tuple[int, float]],
        duration_ns: int,
        waiting_ns: int = 0,
    ) -> Clocks:
        """Probes, a command, a wait for the other instances, probes."""
        first = self.probes(0, before)
        start = first[-1].answered_ns
        end = start + duration_ns
        last = self.probes(end + waiting_ns, after)
        return compare(self.read(start), self.read(end), first, last)


@given(
    offsets_ns,
    parts_per_million,
    round_trips_ns(SECOND),
    round_trips_ns(SECOND),
    st.integers(0, 1000 * SECOND),
    st.integers(0, 1000 * SECOND),
)
def test_an_honest_clock_is_never_accused(
    offset: int,
    ppm: float,
    before: list[tuple[int, float]],
    after: list[tuple[int, float]],
    duration: int,
    waiting: int,
) -> None:
    clock = NodeClock(offset_ns=offset, rate=1 + ppm * 1e-6)
    assert disagreement(clock.measure(before, after, duration, waiting)) is None


@given(
    offsets_ns,
    st.sampled_from([-0.03, 0.03]),
    round_trips_ns(MILLISECOND),
    round_trips_ns(MILLISECOND),
    st.integers(SECOND, 1000 * SECOND),
)
def test_a_clock_three_percent_off_is_always_found(
    offset: int,
    lie: float,
    before: list[tuple[int, float]],
    after: list[tuple[int, float]],
    duration: int,
) -> None:
    clock = NodeClock(offset_ns=offset, rate=1 + lie)
    assert disagreement(clock.measure(before, after, duration)) is not None


@given(
    offsets_ns,
    parts_per_million,
    st.sampled_from([-50, 50]),
    shares,
    round_trips_ns(MILLISECOND),
    round_trips_ns(MILLISECOND),
    st.integers(SECOND, 100 * SECOND),
)
def test_a_step_of_fifty_milliseconds_is_always_found(
    offset: int,
    ppm: float,
    step_ms: int,
    share: float,
    before: list[tuple[int, float]],
    after: list[tuple[int, float]],
    duration: int,
) -> None:
    begin = sum(length for length, _ in before)
    clock = NodeClock(
        offset_ns=offset,
        rate=1 + ppm * 1e-6,
        step_ns=step_ms * MILLISECOND,
        step_at_ns=begin + 1 + int(share * (duration - 1)),
    )
    assert disagreement(clock.measure(before, after, duration)) is not None


def test_the_arithmetic_by_hand() -> None:
    before = [
        ClockProbe(asked_ns=0, node_ns=1_000_500, answered_ns=4_000),
        ClockProbe(asked_ns=4_000, node_ns=1_005_000, answered_ns=6_000),  # the best: offset 1 000 000
    ]
    after = [
        ClockProbe(
            asked_ns=2_000_006_000, node_ns=2_001_008_500, answered_ns=2_000_010_000
        ),  # offset 1 000 500
    ]
    clocks = compare(1_010_000, 2_001_000_000, before, after)
    assert clocks.wall_s == pytest.approx(1.99999)
    assert clocks.host_wall_s == pytest.approx(1.99999 - 500e-9, abs=1e-12)
    assert clocks.round_trip_s == pytest.approx((2_000 + 4_000) / 2 * 1e-9 + 100e-6 * 2.000006, abs=1e-12)
    assert host_start_ns(1_010_000, before) == 10_000


def test_a_start_by_the_hosts_own_clock_is_told_exactly_however_slow_the_way() -> None:
    slow = [
        ClockProbe(
            asked_ns=0, node_ns=7_900_000, answered_ns=8_000_000
        ),  # in the middle it would be 3.9 ms off
        ClockProbe(asked_ns=8_000_000, node_ns=8_000_001, answered_ns=9_000_000),
    ]
    assert host_start_ns(10_000_000, slow) == 10_000_000
    beyond = [*slow, ClockProbe(asked_ns=9_000_000, node_ns=8_999_999, answered_ns=9_500_000)]
    assert offset_ns(beyond) == 8_999_999 - 9_250_000


@pytest.mark.parametrize("sign", [-1, 1])
def test_the_bound_is_the_same_on_both_sides(sign: int) -> None:
    at = Clocks(wall_s=1.0, host_wall_s=1.0 + sign * 0.25, round_trip_s=0.25)
    beyond = Clocks(wall_s=1.0, host_wall_s=1.0 + sign * 0.26, round_trip_s=0.25)
    assert disagreement(at) is None
    words = disagreement(beyond)
    assert words is not None
    assert "differ by 260.000 ms, and the round trips allow 250.000 ms" in words


def test_an_honest_clock_may_wait_long_for_other_instances() -> None:
    clock = NodeClock(offset_ns=0, rate=1 + 50e-6)
    waited = clock.measure([(1000, 0.5)], [(1000, 0.5)], SECOND // 100, waiting_ns=100 * SECOND)
    assert disagreement(waited) is None


def test_the_hosts_clock_counts_nanoseconds_upward() -> None:
    first = host_ns()
    assert 0 < host_ns() - first < SECOND
