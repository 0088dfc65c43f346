# SPDX-License-Identifier: Apache-2.0
import math

import pytest
from tests.analyze.verdict_example import summary_of

from tare.analyze import arm_spreads
from tare.records import Direction


def steps(n: int) -> list[float]:
    return [math.log(1 + number / 100) for number in range(n)]


def test_native_comes_first_with_both_its_runs_and_then_each_environment() -> None:
    spreads = arm_spreads([summary_of(steps(12), "docker"), summary_of(steps(12), "lxc")])
    assert [(spread.environment, spread.n) for spread in spreads] == [
        ("native", 24),
        ("docker", 12),
        ("lxc", 12),
    ]


def test_below_twenty_runs_there_is_no_95th_percentile() -> None:
    for n, there in ((19, False), (20, True)):
        docker = arm_spreads([summary_of(steps(n))])[1]
        assert (docker.p95 is not None) is there


def test_median_percentile_and_slowest_of_times() -> None:
    docker = arm_spreads([summary_of(steps(21), native=1.0)])[1]
    assert docker.p50.point == pytest.approx(1.10)
    assert docker.p95 == pytest.approx(1.19)
    assert docker.slowest == pytest.approx(1.20)


def test_of_a_rate_the_slow_end_is_the_low_one() -> None:
    docker = arm_spreads([summary_of(steps(21), direction=Direction.MORE, native=1.0)])[1]
    assert docker.p50.point == pytest.approx(1 / 1.10)
    assert docker.p95 == pytest.approx(1 / 1.19)
    assert docker.slowest == pytest.approx(1 / 1.20)
    assert docker.p50.low is not None
    assert docker.p50.high is not None
    assert docker.p50.low < docker.p50.point < docker.p50.high


def test_without_blocks_there_is_nothing_to_describe() -> None:
    assert arm_spreads([summary_of([])]) == ()
