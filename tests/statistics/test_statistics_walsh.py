# SPDX-License-Identifier: Apache-2.0
"""What is found without listing all averages is what the list holds."""

from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.statistics import signed_rank
from tare.statistics.signed_rank import walsh_averages

VALUES = (
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=60)
    | st.lists(st.integers(0, 3).map(float), min_size=1, max_size=60)
    | st.lists(st.sampled_from([0.1, 0.1 + 2**-56, 0.3, 1e300, 5e-324]), min_size=17, max_size=60)
)


@given(VALUES, st.data())
def test_the_average_of_each_rank_is_that_of_the_sorted_list(
    values: list[float], data: st.DataObject
) -> None:
    listed = walsh_averages(values)
    ranks = data.draw(st.lists(st.integers(0, len(listed) - 1), min_size=1, max_size=4))
    assert signed_rank.ranked_walsh(values, ranks) == [float(listed[rank]) for rank in ranks]


@given(VALUES, st.data())
def test_as_many_averages_are_at_most_a_bound_as_the_list_says(
    values: list[float], data: st.DataObject
) -> None:
    listed = walsh_averages(values)
    bound = data.draw(st.sampled_from(listed.tolist()) | st.floats(-2e6, 2e6))
    assert signed_rank.walsh_at_most(values, bound) == int(np.sum(listed <= bound))


@pytest.mark.parametrize("noise", ["normal", "spikes", "ties"])
def test_few_bounds_are_tried_however_many_values_there_are(
    noise: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is a pass over the values in n log n; two passes for each bound, which leaves out a quarter at least."""
    passes = Mock(side_effect=signed_rank._ends)
    monkeypatch.setattr(signed_rank, "_ends", passes)
    n = 20_000
    values = np.random.default_rng(1).normal(size=n)
    values = {"normal": values, "spikes": np.exp(9 * values), "ties": values.round(1)}[noise]
    middle = n * (n + 1) // 4
    (value,) = signed_rank.ranked_walsh(values.tolist(), [middle])
    assert signed_rank.walsh_at_most(values.tolist(), float(np.nextafter(value, -np.inf))) <= middle
    assert signed_rank.walsh_at_most(values.tolist(), value) > middle
    assert passes.call_count <= 2 * np.log(n / 16) / np.log(4 / 3) + 2
