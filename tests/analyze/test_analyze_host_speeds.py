# SPDX-License-Identifier: Apache-2.0
"""A slow host is named, and equal hosts are not, whether they meet in a block or take turns."""

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest
from tests.series_example import outcome, trial

from tare.analyze import host_speeds
from tare.records import Outcome
from tare.report.hosts import slow_hosts_said

BLOCKS = 8


def outcomes(
    factors: dict[str, float], at_once: int, noise: float = 0.02, seed: int = 1, blocks: int = BLOCKS
) -> list[Outcome]:
    source, names = random.Random(seed), list(factors)  # noqa: S311 - noise that can be repeated
    return [
        with_times(block, {name: factors[name] * source.lognormvariate(0, noise) for name in chosen})
        for block in range(blocks)
        for chosen in [[names[(block * at_once + number) % len(names)] for number in range(at_once)]]
    ]


def with_times(block: int, times_s: dict[str, float]) -> Outcome:
    return replace(outcome(trial(block, "native"), [1.0]), host_times_s=times_s)


@pytest.mark.parametrize("at_once", [1, 2, 4])
def test_a_host_with_half_the_speed_is_named_and_no_other(at_once: int) -> None:
    speeds = host_speeds(outcomes({"a": 1.0, "b": 1.0, "slow": 2.0, "d": 1.0}, at_once, blocks=24 // at_once))
    assert [speed.host for speed in speeds if speed.is_slow] == ["slow"]
    assert speeds[0].slower.low is not None
    assert speeds[0].slower.high is not None
    assert speeds[0].slower.low < 1.0 < speeds[0].slower.high
    assert slow_hosts_said(speeds).startswith("slow host: slow takes ")


def test_of_two_hosts_the_slower_is_named_with_its_whole_loss() -> None:
    slow, quick = host_speeds(outcomes({"a": 1.0, "b": 1.5}, 2))
    assert (slow.host, slow.is_slow, quick.is_slow) == ("b", True, False)
    assert slow.slower.point == pytest.approx(0.5, abs=0.05)


def test_equal_hosts_are_rarely_called_slow() -> None:
    equal = dict.fromkeys("abcd", 1.0)
    called = [
        any(speed.is_slow for speed in host_speeds(outcomes(equal, 4, noise=0.1, seed=seed)))
        for seed in range(200)
    ]
    assert sum(called) <= 10


@pytest.mark.parametrize("made", [[], outcomes({"a": 1.0}, 1)])
def test_fewer_than_two_hosts_are_not_compared(made: Sequence[Outcome]) -> None:
    assert host_speeds(made) == ()
    assert slow_hosts_said(()) == ""
