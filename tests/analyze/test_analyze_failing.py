# SPDX-License-Identifier: Apache-2.0
"""How often a program fails: rates, their intervals, and whether they differ from native's."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from tare.analyze.failing import failure_rates, fisher_chance, rate_interval
from tare.records import NATIVE, Cell, FailureCount

CELL = Cell(workload="work", layout="1c1p1i")


def count(environment: str, failed: int, runs: int) -> FailureCount:
    return FailureCount(cell=CELL, environment=environment, runs=runs, failed=failed)


def test_a_program_that_never_fails_has_no_rates() -> None:
    assert failure_rates([count(NATIVE, 0, 200), count("docker", 0, 100)]) == ()


def test_failures_in_one_environment_alone_are_a_finding() -> None:
    native, docker, lxc = failure_rates(
        [count(NATIVE, 0, 200), count("docker", 20, 100), count("lxc", 1, 100)]
    )
    assert native.chance is None
    assert native.claim == "0 of 200 runs failed (0\N{EN DASH}1.8 %)"
    assert docker.claim.endswith("natively 0 of 200: more often than natively")
    assert lxc.claim.endswith("natively 0 of 200: no more often than chance allows")


def test_the_interval_is_clopper_and_pearsons() -> None:
    """Brown, Cai and DasGupta, Statistical Science 16 (2001), table: 5 of 10."""
    assert rate_interval(5, 10) == pytest.approx((0.1871, 0.8129), abs=1e-4)
    assert rate_interval(0, 10) == pytest.approx((0.0, 0.3085), abs=1e-4)
    assert rate_interval(10, 10)[1] == 1.0


def test_the_chance_is_fishers() -> None:
    """Agresti, Categorical Data Analysis: the lady tasting tea, 3 of 4 against 1 of 4."""
    assert fisher_chance(3, 4, 1, 4) == pytest.approx(0.4857, abs=1e-4)


@given(
    failed=some.integers(0, 30),
    more=some.integers(0, 30),
    native=some.integers(0, 60),
    rest=some.integers(1, 60),
)
def test_a_chance_is_one_and_does_not_depend_on_the_side(
    failed: int, more: int, native: int, rest: int
) -> None:
    runs, native_runs = failed + more + 1, native + rest
    chance = fisher_chance(failed, runs, native, native_runs)
    assert 0 < chance <= 1
    assert fisher_chance(native, native_runs, failed, runs) == pytest.approx(chance)
    assert fisher_chance(runs - failed, runs, native_runs - native, native_runs) == pytest.approx(chance)


@given(failed=some.integers(0, 50), more=some.integers(1, 50))
def test_an_interval_contains_the_rate(failed: int, more: int) -> None:
    low, high = rate_interval(failed, failed + more)
    assert low <= failed / (failed + more) <= high
