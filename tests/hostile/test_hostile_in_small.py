# SPDX-License-Identifier: Apache-2.0
"""A few cases of each attack, so that every run of the tests makes some; `make test-hostile` makes them all."""

import os

import pytest

from tests.hostile import clock_steps, power_cuts, write_faults

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="native nodes need root"),
]


def test_no_failing_write_loses_a_trial_or_leaves_a_node() -> None:
    tried, faults = write_faults.attack_some(2, seed=1)
    assert (tried, faults) == (2, [])


def test_no_power_cut_loses_a_reported_trial() -> None:
    read, completed, faults = power_cuts.attack_all(2, seed=1)
    assert faults == []
    assert read > 30
    assert completed == 2


def test_steps_of_the_clock_change_nothing() -> None:
    with clock_steps.prepared() as (stage, library):
        assert list(clock_steps.attack(stage, library, seed=1)) == []
