# SPDX-License-Identifier: Apache-2.0
"""Coefficients that cannot be negative, with the least squares."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.statistics.nonnegative import nonnegative_fit

cells = st.floats(0, 10).map(lambda value: round(value, 3))
tables = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.lists(cells, min_size=width, max_size=width), min_size=width, max_size=9)
)


@given(rows=tables, values=st.lists(st.floats(-5, 5), min_size=9, max_size=9))
def test_nothing_near_the_fit_has_a_smaller_sum_of_squares(
    rows: list[list[float]], values: list[float]
) -> None:
    own = values[: len(rows)]
    fitted = nonnegative_fit(rows, own)
    assert all(coefficient >= 0 for coefficient in fitted)
    least = squares(rows, own, fitted)
    for place in range(len(fitted)):
        for step in (1e-3, -1e-3):
            other = list(fitted)
            other[place] = max(other[place] + step, 0.0)
            assert squares(rows, own, other) >= least - 1e-7 * (1 + least)


def test_planted_coefficients_come_back_and_a_column_of_zeros_gets_none() -> None:
    rows = [(1.0, 2000.0, 0.0), (0.5, 100.0, 0.0), (0.1, 5000.0, 0.0), (0.0, 1.0, 0.0)]
    planted = (0.3, 2e-5, 0.0)
    fitted = nonnegative_fit(
        rows, [sum(cost * cell for cost, cell in zip(planted, row, strict=True)) for row in rows]
    )
    assert fitted == pytest.approx(planted, rel=1e-6, abs=1e-12)


def test_what_would_be_negative_is_0() -> None:
    assert nonnegative_fit([(1.0,), (2.0,)], [-1.0, -2.0]) == (0.0,)


def test_without_rows_there_is_no_coefficient() -> None:
    assert nonnegative_fit([], []) == ()


def squares(rows: list[list[float]], values: list[float], coefficients: object) -> float:
    return sum(
        (value - sum(cost * cell for cost, cell in zip(coefficients, row, strict=True))) ** 2  # type: ignore[call-overload]
        for row, value in zip(rows, values, strict=True)
    )
