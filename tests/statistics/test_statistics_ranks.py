# SPDX-License-Identifier: Apache-2.0
import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from numpy.typing import NDArray
from scipy.stats import rankdata

from tare.statistics.ranks import average_ranks


@given(arrays(np.float64, array_shapes(min_dims=1, max_dims=3, max_side=8), elements=st.integers(-3, 3)))
def test_ranks_and_their_ties_are_scipys(values: NDArray[np.float64]) -> None:
    assert average_ranks(values).tolist() == rankdata(values, axis=-1).tolist()
