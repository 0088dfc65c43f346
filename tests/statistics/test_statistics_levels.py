# SPDX-License-Identifier: Apache-2.0
import numpy as np

from tare.statistics.levels import levels


def test_a_cold_first_run_is_a_level_of_its_own() -> None:
    values = np.random.default_rng(1).normal(0.0, 0.01, 20)
    values[0] += 0.5
    assert levels(list(values)) == [0, 1]
