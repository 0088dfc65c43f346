# SPDX-License-Identifier: Apache-2.0
"""Order experiments, courses of iterations and tests of clocks, as terminal, page and programs are told of them."""

import io
import json
import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from tare.analyze import order_verdicts, steadiness, timer_agreements
from tare.records import (
    NATIVE,
    Analysis,
    Cell,
    ClockQuality,
    ClockTest,
    IterationSeries,
    Ordering,
    TimerSummary,
)
from tare.report.clocks import quality_said
from tare.report.document import render_report
from tare.report.machine import to_json
from tare.report.order import FRESH, ORDER_TITLE, STEADY_TITLE, courses_said
from tare.report.table import print_tables
from tare.treat import order_summaries
from tests.report.report_example import example
from tests.report.report_page import Page
from tests.series_example import ordered

DOCUMENTATION = Path(__file__).parents[2] / "docs" / "json.md"
CELL = Cell(workload="work", layout="1c1p1i")
VALUES = (1, 2, 4)


def quality(backward: int = 0) -> ClockQuality:
    clock = ClockTest(resolution_ns=1, least_step_ns=20, readings=20000, backward_steps=0)
    return ClockQuality(
        node=0,
        own_clock=True,
        source="kvm-clock",
        tsc_flags=("constant_tsc",),
        invariant_tsc=False,
        clocks={"CLOCK_MONOTONIC_RAW": clock},
        pairs=1,
        exchanges=99999,
        backward_exchanges=backward,
        worst_backward_ns=80 if backward else 0,
    )


@cache
def analysis(backward: int = 0) -> Analysis:
    """An ageing box and a native that does not age, iterations, and a box whose CPU time tells too little."""
    chance = np.random.default_rng(1)
    outcomes = []
    for block in range(8):
        for name, growth in ((NATIVE, 0.0), ("box", 0.05)):
            for ordering, values in zip(Ordering, (VALUES, VALUES[::-1], (2, 4, 1)), strict=True):
                times = [
                    value * (1 + growth * place) * chance.normal(1, 0.001)
                    for place, value in enumerate(values)
                ]
                outcomes.append(ordered(block, name, ordering, values, times))
    outcomes[3] = replace(outcomes[3], clock_quality=(quality(backward),))
    whole = example(blocks=6, losing=False)
    series = IterationSeries(cell=CELL, environment="box", metric="time_s", starts=((0.0,) * 9,) * 4)
    ratios = tuple(-0.1 + 0.001 * place for place in range(8))
    timers = TimerSummary(
        cell=CELL,
        environment="box",
        log_ratios=ratios,
        control_log_ratios=tuple(0.001 * ratio for ratio in ratios),
    )
    return replace(
        whole,
        outcomes=(*whole.outcomes, *outcomes),
        planned_trials=len(whole.outcomes) + len(outcomes),
        orders=order_verdicts(order_summaries(outcomes, {(CELL, "size"): ("time_s",)})),
        steadiness=steadiness([series]),
        timers=timer_agreements([timers]),
    )


def printed(shown: Analysis, width: int = 100) -> str:
    stream = io.StringIO()
    print_tables(shown, Console(file=stream, width=width, no_color=True))
    return stream.getvalue()


def test_the_terminal_says_whether_state_accumulates_and_what_to_do() -> None:
    text = printed(analysis())
    assert ORDER_TITLE in text
    assert "work on 1c1p1i by size, time_s" in text
    assert re.search(r"box: state accumulates, time_s takes \+\d", " ".join(text.split()))
    assert FRESH in " ".join(text.split())


def test_a_series_makes_no_cell_of_its_own() -> None:
    assert "~ascending" not in printed(analysis())


def test_the_answer_of_an_environment_holds_its_order_experiment() -> None:
    ageing = replace(analysis().orders[1], claim="state accumulates, and more")
    summary = replace(ageing.summary, environment="docker")
    text = printed(replace(analysis(), orders=(replace(ageing, summary=summary),)))
    assert "work on 1c1p1i by size: state accumulates, and more" in " ".join(text.split())


def test_a_campaign_without_any_of_it_says_nothing_of_it() -> None:
    text = printed(example(blocks=6))
    assert ORDER_TITLE not in text
    assert STEADY_TITLE not in text


def test_courses_are_said_with_their_counts() -> None:
    (shown,) = analysis().steadiness
    assert courses_said(shown) == "9 iterations in each of 4 starts: flat in 4"
    assert courses_said(shown) in " ".join(printed(analysis()).split())


def test_a_timer_that_stands_apart_is_told() -> None:
    assert "CPU time over wall time, as the node tells both, differs from native's by -9." in " ".join(
        printed(analysis()).replace("\N{MINUS SIGN}", "-").split()
    )


def test_clocks_are_told_in_words() -> None:
    shown = "; ".join(quality_said(quality()))
    assert "a clock of its own, source kvm-clock, time stamp counter not invariant (constant_tsc)" in shown
    assert "resolution 1 ns, smallest step 20 ns" in shown
    assert "processors agree" in shown


def test_a_few_exchanges_show_nothing() -> None:
    assert "too few to show" in quality_said(replace(quality(), exchanges=10))[-1]


def test_a_node_with_one_processor_compares_nothing() -> None:
    shown = quality_said(replace(quality(), pairs=0, exchanges=0))
    assert "not compared between processors" in shown[-1]


def test_a_clock_that_goes_backward_is_told_in_the_terminal() -> None:
    assert "BACKWARD between processors: 3 of 99999 readings" in " ".join(printed(analysis(3)).split())
    assert "BACKWARD" not in printed(analysis())


@pytest.mark.parametrize("backward", [0, 3])
def test_the_page_has_all_of_it(backward: int) -> None:
    text = Page(render_report(analysis(backward))).text
    for entry in (ORDER_TITLE, STEADY_TITLE, "state accumulates", "kvm-clock", "flat in 4"):
        assert entry in text
    assert ("BACKWARD" in text) == bool(backward)


def test_programs_are_told_what_the_documentation_names() -> None:
    document = json.loads(json.dumps(to_json(analysis()), allow_nan=False))
    page = DOCUMENTATION.read_text()
    for part in ("orders", "iterations", "cpu_over_wall", "clock_tests"):
        assert f"`{part}`" in page
        assert document[part]
        for key in document[part][0]:
            assert f"`{key}`" in page, f"{part}: {key}"
    ageing = document["orders"][1]
    assert (ageing["environment"], ageing["word"], ageing["growth"]["n"]) == ("box", "accumulates", 8)
    assert [entry["value"] for entry in ageing["late_over_early"]] == [1, 2, 4]
    assert len(ageing["blocks"][0]["starts"]) == 3
