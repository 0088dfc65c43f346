# SPDX-License-Identifier: Apache-2.0
"""Order experiments, start by start; part of a block is no block."""

import math
from dataclasses import replace

import pytest
from tests.series_example import ordered

from tare.records import NATIVE, Cell, Ordering, Outcome, Rule, Status
from tare.treat import order_summaries

METRICS = {(Cell(workload="work", layout="1c1p1i"), "size"): ("time_s",)}
ORDERS = {
    Ordering.ASCENDING: [1, 2, 4],
    Ordering.DESCENDING: [4, 2, 1],
    Ordering.RANDOM: [2, 4, 1],
}


def block(number: int, name: str = "box") -> list[Outcome]:
    return [
        ordered(number, name, ordering, values, [2.0 * value for value in values])
        for ordering, values in ORDERS.items()
    ]


def test_every_run_keeps_its_value_its_uptime_and_its_place() -> None:
    (order_summary,) = order_summaries(block(0), METRICS)
    assert (order_summary.environment, order_summary.option, order_summary.metric, order_summary.unit) == (
        "box",
        "size",
        "time_s",
        "s",
    )
    falling = order_summary.blocks[0].starts[1]
    assert falling.ordering is Ordering.DESCENDING
    assert [(run.value, run.uptime_s) for run in falling.runs] == [(4, 0.0), (2, 1.0), (1, 2.0)]
    assert [run.log_time for run in falling.runs] == pytest.approx([math.log(8), math.log(4), math.log(2)])


def test_native_is_an_environment_and_comes_first() -> None:
    summaries = order_summaries([*block(0, "alpha"), *block(0, NATIVE)], METRICS)
    assert [summary.environment for summary in summaries] == [NATIVE, "alpha"]


def test_a_block_without_one_of_its_starts_is_dropped_and_counted() -> None:
    (order_summary,) = order_summaries([*block(0), *block(1)[:2]], METRICS)
    assert ([each.block for each in order_summary.blocks], order_summary.dropped_blocks) == ([0], 1)


def test_a_failed_start_drops_its_block() -> None:
    broken = [*block(0), *block(1)]
    broken[4] = replace(broken[4], status=Status.FAILED, samples=())
    (order_summary,) = order_summaries(broken, METRICS)
    assert ([each.block for each in order_summary.blocks], order_summary.dropped_blocks) == ([0], 1)


def test_a_run_without_its_value_drops_its_block() -> None:
    lacking = block(0)
    lacking[0] = replace(lacking[0], samples=lacking[0].samples[:2])
    (order_summary,) = order_summaries(lacking, METRICS)
    assert (order_summary.blocks, order_summary.dropped_blocks) == ((), 1)


def test_a_disturbed_host_takes_the_block_of_every_environment() -> None:
    outcomes = [*block(0), *block(1), *block(0, NATIVE), *block(1, NATIVE)]
    outcomes[0] = replace(outcomes[0], status=Status.INVALID, excluded_by=Rule.FOREIGN_LOAD)
    summaries = order_summaries(outcomes, METRICS)
    assert [[each.block for each in summary.blocks] for summary in summaries] == [[1], [1]]


def test_what_the_campaign_does_not_ask_for_is_not_judged() -> None:
    assert order_summaries(block(0), {}) == ()
