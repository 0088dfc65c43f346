# SPDX-License-Identifier: Apache-2.0
"""The clocks of hosts are compared before, during and after a trial, and the result says how well."""

from collections.abc import Callable

import pytest

from tare.errors import NodeError
from tare.measure import host_clocks
from tare.measure.clocks import host_ns
from tare.measure.host_clocks import HostClocks, host_clock

SECOND = 10**9


def ahead(offset_ns: int, ppm: float, origin_ns: int) -> Callable[[], int]:
    def read() -> int:
        now = host_ns()
        return now + offset_ns + int(ppm * (now - origin_ns) / 10**6)

    return read


def test_offsets_of_simulated_hosts_are_within_their_bounds() -> None:
    origin = host_ns()
    clocks = HostClocks({"near": ahead(0, 0, origin), "far": ahead(3 * SECOND, 50, origin)})
    clocks.probe()
    clocks.probe()
    found = clocks.found()
    assert {host: clock.exchanges for host, clock in found.items()} == {"near": 16, "far": 16}
    for host, true_s in (("near", 0.0), ("far", 3.0)):
        clock = found[host]
        assert clock.offset_s is not None
        assert clock.bound_s is not None
        assert abs(clock.offset_s - true_s) <= clock.bound_s + 50e-6 * clock.span_s
        assert clock.drift_low_ppm is not None
        assert clock.drift_low_ppm <= 50


def test_a_long_trial_is_glanced_at_and_a_short_one_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    clocks = HostClocks({"far": host_ns})
    clocks.probe()
    clocks.glance()
    assert clocks.found()["far"].exchanges == 8
    monkeypatch.setattr(host_clocks, "_PAUSE_NS", 0)
    clocks.glance()
    assert clocks.found()["far"].exchanges == 9


def test_a_host_whose_clock_stepped_has_no_offset() -> None:
    readings = iter(range(0, 100 * SECOND, SECOND))
    clocks = HostClocks({"far": lambda: next(readings)})
    clocks.probe()
    clock = clocks.found()["far"]
    assert (clock.offset_s, clock.bound_s, clock.drift_low_ppm) == (None, None, None)


def test_a_host_that_does_not_answer_ends_the_trial() -> None:
    def silent() -> int:
        raise NodeError("far does not answer any more")

    with pytest.raises(NodeError, match="does not answer"):
        HostClocks({"far": silent}).probe()


def test_without_a_list_of_hosts_nothing_is_compared() -> None:
    clocks = HostClocks({})
    clocks.probe()
    clocks.glance()
    assert clocks.found() == {}


def test_the_record_has_the_shortest_round_trip_and_the_whole_span() -> None:
    probes = HostClocks({"far": host_ns})
    probes.probe()
    clock = host_clock(probes._probes["far"])
    assert 0 <= clock.least_round_trip_s <= clock.span_s
