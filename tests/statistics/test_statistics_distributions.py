# SPDX-License-Identifier: Apache-2.0
"""SciPy is the reference: its own functions, which the analysis does without."""

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from tare.statistics.distributions import (
    beta_quantile,
    binomial_beyond,
    chi_squared_quantile,
    normal_quantile,
    normal_share,
    root,
    student_quantile,
    student_share,
)

FREEDOM = st.integers(1, 20_000)
SHARES = st.floats(1e-9, 0.49) | st.floats(0.51, 1 - 1e-9)


@given(st.floats(-35, 8))
def test_the_normal_share_is_scipys(z: float) -> None:
    assert normal_share(z) == pytest.approx(float(special.ndtr(z)), rel=1e-12)


@given(SHARES)
def test_the_normal_quantile_is_scipys(share: float) -> None:
    assert normal_quantile(share) == pytest.approx(float(special.ndtri(share)), rel=1e-13)


@given(FREEDOM, st.floats(-40, 40))
def test_students_share_is_scipys(freedom: int, t: float) -> None:
    assert student_share(freedom, t) == pytest.approx(float(special.stdtr(freedom, t)), rel=1e-11, abs=1e-300)


@pytest.mark.parametrize(("freedom", "t"), [(17, -1.6383560438182505)])
def test_students_share_next_to_where_the_fractions_change_is_scipys(freedom: int, t: float) -> None:
    """Both sides are beyond it by their last digits."""
    assert student_share(freedom, t) == pytest.approx(float(special.stdtr(freedom, t)), rel=1e-11)


@given(FREEDOM, SHARES)
def test_students_quantile_is_scipys(freedom: int, share: float) -> None:
    assert student_quantile(freedom, share) == pytest.approx(
        float(special.stdtrit(freedom, share)), rel=1e-11
    )


@given(st.integers(1, 5000), st.floats(0, 1), st.floats(0.001, 0.5))
def test_the_binomial_tail_is_scipys(tries: int, share: float, chance: float) -> None:
    count = int(share * tries)
    expected = float(special.bdtrc(count, tries, chance)) if count < tries else 0.0
    assert binomial_beyond(count, tries, chance) == pytest.approx(expected, rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("share", [1e-12, 1e-6, 0.025, 0.3, 0.499])
def test_students_quantile_with_four_degrees_of_freedom_is_that_of_its_closed_form(share: float) -> None:
    """1/2 + 3/4 (y - y^3/3) with y = t / sqrt(4 + t^2) is a share, here from the tail: 1 - y is small."""
    t = student_quantile(4, share)
    y, short = -t / math.sqrt(4 + t * t), 4 / (4 + t * t - t * math.sqrt(4 + t * t))
    assert short == pytest.approx(1 - y, abs=1e-12)
    assert 3 / 4 * short**2 * (1 - short / 3) == pytest.approx(share, rel=1e-13)


def test_a_certain_share_of_students_t_lies_infinitely_far() -> None:
    assert (student_quantile(5, 0.0), student_quantile(5, 1.0)) == (-math.inf, math.inf)


@given(FREEDOM, st.floats(1e-6, 0.999))
def test_the_quantile_of_chi_squared_is_scipys(freedom: int, beyond: float) -> None:
    assert chi_squared_quantile(freedom, beyond) == pytest.approx(
        float(special.chdtri(freedom, beyond)), rel=1e-10
    )


@given(st.integers(1, 20_000), st.floats(0, 1), st.sampled_from([0.05, 0.95]))
def test_the_quantile_of_the_beta_distribution_is_scipys(runs: int, part: float, share: float) -> None:
    slow = round(part * (runs - 1))
    expected = float(special.betaincinv(slow + 1, runs - slow, share))
    assert beta_quantile(slow + 1, runs - slow, share) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("function", "low", "high", "expected"),
    [
        (math.cos, 0.0, 3.0, math.pi / 2),
        (lambda x: x**3 - 2, 0.0, 100.0, 2 ** (1 / 3)),
        (lambda x: math.erfc(x) - 1e-9, 0.0, 20.0, 4.320005384913445),
        (lambda x: x, -1.0, 1.0, 0.0),
        (lambda x: x - 1, 1.0, 2.0, 1.0),
        (lambda x: min(0.0, 1 - x), 1.0, 2.0, 1.0),
    ],
)
def test_the_root_is_right_to_its_last_digits_after_few_questions(
    function: Callable[[float], float], low: float, high: float, expected: float
) -> None:
    asked: list[float] = []

    def counted(x: float) -> float:
        asked.append(x)
        return function(x)

    value = root(counted, low, high)
    assert value == pytest.approx(expected, rel=1e-14, abs=1e-290)
    assert len(asked) < 30


def test_a_function_with_one_sign_has_no_root() -> None:
    with pytest.raises(ValueError, match="no change of sign"):
        root(lambda x: x * x + 1, -1.0, 1.0)
