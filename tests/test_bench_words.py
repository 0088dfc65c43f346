# SPDX-License-Identifier: Apache-2.0
"""The tables of false words: an earlier tree's figures beside this one's, and what the simulated orders leave."""

import math
from itertools import pairwise

import pytest
from bench.statistics.markdown import beside, table
from bench.words.records import after_effects, is_false, planned
from bench.words.rows import shares

from tare.records import NATIVE
from tests.analyze.verdict_example import around, verdict_of


def test_an_earlier_figure_stands_before_one_that_differs() -> None:
    earlier = table(["cell", "false", "price"], [["slices", "90 %", "width 1"], ["gone", "1 %", "-"]])
    now = table(["cell", "false", "price"], [["slices", "4 %", "width 1"], ["new", "2 %", "-"]])
    assert beside(f"### Words\n\n{now}", earlier).splitlines()[2:] == [
        "| cell | false | price |",
        "| --- | --- | --- |",
        "| slices | 90 % → 4 % | width 1 |",
        "| new | 2 % | - |",
    ]


def test_a_share_of_none_has_an_error_too() -> None:
    assert shares([0, 50], 100) == "0.0 · 50.0 (±4.9)"
    assert shares([0], 100) == "0.0 (±1.3)"


def test_each_run_takes_what_the_one_before_it_left() -> None:
    trials = planned(4, 1, 1, 1)
    left = dict(after_effects(trials, {"arm0": 0.03}))
    for before, trial in pairwise(trials):
        after = before.environment.name == "arm0"
        arm = (trial.environment.name, trial.replicate)
        assert left[trial.workload.name, trial.block, arm] == (math.log1p(0.03) if after else 0.0)
    assert NATIVE in {arm[0] for _, _, arm in left}


@pytest.mark.parametrize(("overhead", "truth"), [(0.1, 0.0), (-0.1, 0.0), (0.0, 0.02)])
def test_a_word_that_says_something_else_of_the_truth_is_false(overhead: float, truth: float) -> None:
    verdict = verdict_of(around(math.log1p(overhead), 0.003))
    assert is_false(verdict, truth)
    assert not is_false(verdict, overhead)
