# SPDX-License-Identifier: Apache-2.0
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.statistics.means import Quantity, arithmetic_mean, geometric_mean, harmonic_mean, mean_of

RATES = st.lists(st.floats(0.1, 100), min_size=1, max_size=10)


@pytest.mark.parametrize(
    ("quantity", "instead"), [(Quantity.RATE, "harmonic mean"), (Quantity.RATIO, "geometric mean")]
)
def test_rates_and_ratios_are_not_averaged_arithmetically(quantity: Quantity, instead: str) -> None:
    with pytest.raises(ValueError, match=instead):
        arithmetic_mean([1.0, 2.0], quantity)


def test_costs_and_logarithms_are() -> None:
    assert (
        arithmetic_mean([1.0, 2.0], Quantity.COST) == arithmetic_mean([1.0, 2.0], Quantity.LOGARITHM) == 1.5
    )


@given(RATES)
def test_the_mean_rate_is_all_the_work_per_all_the_time(rates: list[float]) -> None:
    time_s = sum(1 / rate for rate in rates)
    assert harmonic_mean(rates) == pytest.approx(len(rates) / time_s)
    assert mean_of(rates, Quantity.RATE) == harmonic_mean(rates)


@given(RATES)
def test_the_mean_ratio_does_not_depend_on_which_arm_is_the_base(ratios: list[float]) -> None:
    assert geometric_mean([1 / ratio for ratio in ratios]) == pytest.approx(1 / geometric_mean(ratios))
    assert mean_of(ratios, Quantity.RATIO) == geometric_mean(ratios)
    assert mean_of(ratios, Quantity.COST) >= geometric_mean(ratios) * (1 - 1e-9)


def test_a_mean_of_nothing_is_refused() -> None:
    for mean in (harmonic_mean, geometric_mean, lambda values: arithmetic_mean(values, Quantity.COST)):
        with pytest.raises(ValueError, match="no values"):
            mean([])
    assert math.isnan(geometric_mean([math.nan]))
