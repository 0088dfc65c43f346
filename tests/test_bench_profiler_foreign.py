# SPDX-License-Identifier: Apache-2.0
"""``bench.profiler_foreign`` finds a planted cost whatever the program does, and claims no more than it saw."""

import math

import numpy as np
import pytest
from bench.profiler_foreign import RankRun, crossed, cut, differing, plans, switched, verdict
from hypothesis import given
from hypothesis import strategies as st

from tare.records import Estimate


def run(*spent_ns: float) -> RankRun:
    return RankRun(len(spent_ns), np.cumsum([0, *spent_ns]).astype(np.int64))


def an_estimate(low: float, high: float) -> Estimate:
    return Estimate(point=(low + high) / 2, low=low, high=high, level=0.95, n=100)


@given(
    st.lists(st.tuples(st.floats(1, 50), st.floats(1, 50), st.booleans()), min_size=1, max_size=9),
    st.floats(0.9, 1.1),
    st.floats(0.5, 2),
)
def test_neither_unequal_blocks_nor_an_unequal_speed_of_two_runs_shift_the_cost(
    pairs: list[tuple[float, float, bool]], cost: float, speed: float
) -> None:
    """Of any pair: what costs is found, as the blocks are the same ones in both runs."""
    order = [begins for _, _, begins in pairs]
    works = [work * 1e9 for first, second, _ in pairs for work in (first, second)]
    through = [way for begins in order for way in (begins, not begins)]
    first = run(*(work * (cost if way else 1) for work, way in zip(works, through, strict=True)))
    second = run(*(speed * work * (1 if way else cost) for work, way in zip(works, through, strict=True)))
    costs = [*crossed([first, first], [second, second], order)]
    assert costs == pytest.approx([math.log(cost)] * len(pairs), abs=1e-6)


def test_of_a_run_that_made_fewer_calls_only_whole_pairs_count() -> None:
    whole, short = run(1e9, 2e9, 3e9, 4e9), run(1e9, 2e9, 3e9)
    assert len([*crossed([whole], [short], [True, False])]) == 1


def test_two_runs_of_a_pair_hand_every_block_to_the_profiler_once() -> None:
    first, second = (plans([[1, 5, 9]], [True], opposite=opposite) for opposite in (False, True))
    assert first == ["1 1\n5 0\n9 1\n"]
    assert second == ["1 0\n5 1\n9 1\n"]


def test_blocks_begin_at_the_same_time_in_all_ranks_and_hold_calls_of_each() -> None:
    often = np.arange(0, 100, 1, dtype=np.int64)
    seldom = np.array([3, 40, 41, 95], dtype=np.int64)
    assert cut([often, seldom], 10) == [[4, 14, 44], [1, 2, 4]]


def test_a_program_without_calls_has_no_blocks() -> None:
    assert cut([np.array([], dtype=np.int64)], 10) == [[]]


def test_a_claim_holds_only_with_its_whole_interval() -> None:
    assert verdict(an_estimate(-0.001, 0.009)) == "holds"
    assert verdict(an_estimate(0.005, 0.011)) == "undecided"
    assert verdict(an_estimate(0.012, 0.02)) == "does not hold"
    assert verdict(None) == "not measured"


def test_what_makes_handles_is_never_handed_past_the_profiler_and_polls_are_not_counted() -> None:
    names = ["MPI_Send", "PMPI_Send", "MPI_Comm_dup", "MPI_Send_init", "MPI_Testall", "MPI_Init", "other"]
    assert switched(names) == [
        "SWITCHED(0, MPI_Send, COUNTED)",
        "SWITCHED(1, MPI_Testall, UNCOUNTED)",
        "SWITCHED(2, PMPI_Send, COUNTED)",
    ]


def test_runs_whose_calls_differ_are_said_to() -> None:
    assert differing([[RankRun(100, np.array([]))], [RankRun(90, np.array([]))]]) == pytest.approx(0.1)
