# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from numpy.typing import NDArray
from scipy.stats import rankdata

from tare.statistics.tails import average_ranks


@given(arrays(np.float64, array_shapes(min_dims=1, max_dims=3, max_side=8), elements=st.integers(-3, 3)))
def test_ranks_and_their_ties_are_scipys(values: NDArray[np.float64]) -> None:
    assert average_ranks(values).tolist() == rankdata(values, axis=-1).tolist()


@given(st.lists(st.integers(0, 5), min_size=1, max_size=12))
def test_ranks_add_up_whatever_ties_there_are(values: list[int]) -> None:
    n = len(values)
    assert float(np.sum(average_ranks(np.array(values, dtype=float)))) == pytest.approx(n * (n + 1) / 2)
