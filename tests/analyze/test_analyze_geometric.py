# SPDX-License-Identifier: Apache-2.0
import math
from dataclasses import replace

import pytest
from tests.analyze.verdict_example import MARGIN, around, looks_of, summary_of, verdict_of

from tare.analyze import across_workloads, overhead, verdict


def test_it_is_the_geometric_mean_of_the_workloads_ratios() -> None:
    (workloads,) = across_workloads(
        [
            verdict_of(around(math.log(1.2), 0.01), workload="a"),
            verdict_of(around(math.log(1.8), 0.01), workload="b"),
        ]
    )
    assert workloads.overhead.point == pytest.approx(math.sqrt(1.2 * 1.8) - 1, abs=1e-3)
    assert (workloads.workloads, workloads.overhead.n) == (("a", "b"), 10)


def test_the_interval_is_over_blocks_so_opposite_noise_cancels() -> None:
    noise = around(0.0, 0.2)
    (workloads,) = across_workloads(
        [verdict_of(noise, workload="a"), verdict_of([0.1 - value for value in noise], workload="b")]
    )
    assert workloads.overhead.low == pytest.approx(
        math.expm1(0.05), abs=1.1e-3
    )  # native's own noise is 0.1 %
    assert workloads.overhead.high == pytest.approx(math.expm1(0.05), abs=1.1e-3)


def test_only_blocks_complete_for_all_workloads_count() -> None:
    late = verdict(overhead(summary_of(around(0.1, 0.1), workload="b", first_block=4)), MARGIN)
    (workloads,) = across_workloads([verdict_of(around(0.1, 0.1), workload="a"), late])
    assert workloads.overhead.n == 6


def test_without_a_common_block_there_is_no_figure() -> None:
    late = verdict(overhead(summary_of(around(0.1, 0.1), workload="b", first_block=40)), MARGIN)
    assert across_workloads([verdict_of(around(0.1, 0.1), workload="a"), late]) == ()


def test_one_workload_other_metrics_layouts_and_neighbours_make_none() -> None:
    values = around(0.1, 0.1)
    given = [
        verdict_of(values, workload="a"),
        verdict_of(values, workload="b", primary=False),
        verdict_of(values, workload="c", layout="1c2p1i"),
        verdict_of(values, workload="d", layout="1c1p1i+1xburn"),
        verdict_of(values, "lxc", workload="e"),
    ]
    assert across_workloads(given) == ()


def test_blocks_that_depend_on_each_other_have_a_wider_interval_here_too() -> None:
    walk = [0.30, 0.31, 0.33, 0.34, 0.36, 0.37, 0.38, 0.10, 0.11, 0.12, 0.14, 0.15, 0.16, 0.17]
    (workloads,) = across_workloads([verdict_of(walk, workload="a"), verdict_of(walk, workload="b")])
    assert workloads.overhead.low is not None
    assert workloads.overhead.low < 0


def test_looks_widen_it() -> None:
    arms = [verdict_of(around(0.1, 0.1, 16), workload=name) for name in "ab"]
    looked = [
        replace(arm, overhead=replace(arm.overhead, looks=looks_of((10, 16), (0.1, 0.25), arm)))
        for arm in arms
    ]
    (fixed,), (repeated,) = across_workloads(arms), across_workloads(looked)
    assert fixed.overhead.low is not None
    assert repeated.overhead.low is not None
    assert repeated.overhead.low < fixed.overhead.low


def test_a_workload_with_several_primary_metrics_counts_once() -> None:
    (workloads,) = across_workloads(
        [
            verdict_of(around(0.1, 0.01), workload="a", metric="one"),
            verdict_of(around(0.3, 0.01), workload="a", metric="two"),
            verdict_of(around(0.6, 0.01), workload="b"),
        ]
    )
    assert workloads.workloads == ("a", "b")
    assert workloads.overhead.point == pytest.approx(math.expm1(0.4), abs=2e-3)
    several = [verdict_of(around(0.1, 0.01), workload="a", metric=name) for name in ("one", "two")]
    assert across_workloads(several) == ()
