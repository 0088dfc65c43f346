# SPDX-License-Identifier: Apache-2.0
"""Starts on several hosts are told with a bound that holds for any delays, and exactly within one host."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.measure.test_measure_barrier import heard, ready, repeating

from tare.measure.clock_line import ClockProbe
from tare.measure.starts import start_clocks, start_offsets
from tare.measure.stopwatch import go_together

SECOND = 10**9
HOSTS = ("one", "two", "three")
ways_ns = st.integers(0, SECOND // 10)


def probes(ahead_ns: int, ways: Sequence[tuple[int, int]], begin_ns: int = 10**12) -> list[ClockProbe]:
    """Of a clock this far ahead; each way there and back takes as long as it likes."""
    made, now = [], begin_ns
    for there, back in ways:
        made.append(ClockProbe(asked_ns=now, node_ns=now + there + ahead_ns, answered_ns=now + there + back))
        now += there + back
    return made


@st.composite
def starts(draw: st.DrawFn) -> tuple[list[str], list[list[ClockProbe]], list[dict[str, int]], list[int]]:
    """Instances on hosts, their probes, what their stopwatches say, and when they truly began."""
    ahead = {host: draw(st.integers(-(10**15), 10**15)) for host in HOSTS}
    hosts = draw(st.lists(st.sampled_from(HOSTS), min_size=2, max_size=6))
    before = [
        probes(ahead[host], draw(st.lists(st.tuples(ways_ns, ways_ns), min_size=1, max_size=5)))
        for host in hosts
    ]
    begun = [10**12 + SECOND + draw(st.integers(0, SECOND)) for _ in hosts]
    said = [{"executed_ns": moment + ahead[host]} for moment, host in zip(begun, hosts, strict=True)]
    return hosts, before, said, begun


@given(starts())
def test_the_skew_is_within_its_bound_for_any_delays(
    made: tuple[list[str], list[list[ClockProbe]], list[dict[str, int]], list[int]],
) -> None:
    hosts, before, said, begun = made
    offsets = start_offsets(said, start_clocks(before, hosts))
    skew_s, bound_s = max(each.offset_s for each in offsets), max(each.bound_s for each in offsets)
    assert abs(skew_s - (max(begun) - min(begun)) * 1e-9) <= bound_s + 1e-9
    if len(set(hosts)) == 1:
        assert bound_s == 0
        assert [each.offset_s for each in offsets] == pytest.approx([(t - min(begun)) * 1e-9 for t in begun])


def test_another_host_is_told_the_moment_by_its_own_clock(tmp_path: Path) -> None:
    far, here = probes(3 * SECOND, [(300_000, 100_000)]), probes(0, [(100, 100)])
    clocks = start_clocks([far, here], ["far", None])
    with ready(repeating(tmp_path / "far"), repeating(tmp_path / "here")) as both:
        moment_ns = go_together(both, [far, here], clocks)
        assert heard(tmp_path / "here", both) == f"GO {moment_ns}"
        told_ns = int(heard(tmp_path / "far", both).removeprefix("GO "))
    assert abs(told_ns - moment_ns - 3 * SECOND) <= 200_000 == pytest.approx(clocks[0].bound_ns, abs=1001)


def test_a_guests_own_clock_starts_nothing() -> None:
    guest = start_clocks([probes(3 * SECOND, [(1, 1)])])[0]
    assert not guest.trusted
    assert start_clocks([probes(0, [(1, 1)])])[0].trusted
