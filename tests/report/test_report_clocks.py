# SPDX-License-Identifier: Apache-2.0
"""Wrong clocks, timer inversions and waiting, as the terminal, the page and programs are told of them."""

import io
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console

from tare.analyze import verdicts
from tare.records import Analysis, Cell, Outcome, Status, TimeEstimate, WaitCost, WaitSummary
from tare.report.clocks import EXPLANATION
from tare.report.document import render_report
from tare.report.helpers import WAITING_SHARE, WAITING_TITLE
from tare.report.machine import to_json
from tare.report.table import print_tables
from tare.statistics import median
from tare.treat import summaries
from tests.report.report_example import FIGURES, MARGIN, example, with_verdicts
from tests.report.report_page import Page

DOCUMENTATION = Path(__file__).parents[2] / "docs" / "json.md"
FAULT = "CLOCK_MONOTONIC of the node runs at another rate than the host's: +29990.1 to +30010.2 ppm"
INVERTED = "2.310 s of CPU time in 1.000 s on 1 processor"
HOSTS = ("wall_s", "cpu_s")


def changed(analysis: Analysis, environment: str, change: Callable[[Outcome], Outcome]) -> Analysis:
    """The same with other outcomes of one environment that ended well, judged anew."""
    outcomes = tuple(
        change(outcome)
        if outcome.status is Status.OK and outcome.trial.environment.name == environment
        else outcome
        for outcome in analysis.outcomes
    )
    treated = summaries(outcomes, {"hpcc": (FIGURES[0].name,)})
    return with_verdicts(analysis, verdicts(treated, MARGIN), outcomes=outcomes)


def timed_by_host(outcome: Outcome) -> Outcome:
    samples = tuple(sample for sample in outcome.samples if sample.name in HOSTS)
    return replace(outcome, clock_fault=FAULT, samples=samples)


def faulty(blocks: range = range(1, 100)) -> Analysis:
    def change(outcome: Outcome) -> Outcome:
        return timed_by_host(outcome) if outcome.trial.block in blocks else outcome

    return changed(example(losing=False), "lxc", change)


def inverted() -> Analysis:
    def change(outcome: Outcome) -> Outcome:
        facts = {**outcome.facts, "CPU time over wall time": INVERTED}
        return replace(outcome, timer_inversions=1, facts=facts) if outcome.trial.block == 3 else outcome

    return changed(example(losing=False), "docker", change)


def waiting() -> Analysis:
    times_s, shares = [0.01 * number for number in range(1, 11)], [0.002 * number for number in range(1, 11)]
    time = TimeEstimate(time_s=median.median_estimate(times_s), share=median.median_estimate(shares))
    summary = WaitSummary(
        cell=Cell(workload="hpcc", layout="1c2p1i"),
        environment="lxc",
        vcpu_wait_s=tuple(times_s),
        vcpu_wait_shares=tuple(shares),
        steal_s=(),
        steal_shares=(),
    )
    both = replace(summary, environment="docker")
    costs = (
        WaitCost(summary=summary, vcpu_wait=time, steal=None),
        WaitCost(summary=both, vcpu_wait=None, steal=time),
    )
    return replace(example(losing=False), wait_costs=costs)


def printed(shown: Analysis, width: int = 80) -> str:
    stream = io.StringIO()
    print_tables(shown, Console(file=stream, width=width, highlight=False))
    return stream.getvalue()


def flowing(text: str) -> str:
    return " ".join(text.split())


def test_wrong_clocks_are_told_with_their_number_and_with_what_that_means() -> None:
    text = flowing(printed(faulty()))
    assert EXPLANATION in text
    assert (
        f"lxc (hpcc on 1c2p1i): 10 of 10 trials timed by the host, without the program's own figures: such as {FAULT}"
        in text
    )


def test_a_metric_without_samples_says_that_the_clock_was_wrong() -> None:
    text = flowing(printed(faulty()))
    assert "lxc: hpcc on 1c2p1i: no verdict: 10 of 10 trials timed by the host" in text
    assert not any(
        verdict.overhead.summary.environment == "lxc" and verdict.overhead.summary.primary
        for verdict in faulty().verdicts
    )


def test_the_hosts_own_figures_are_judged_all_the_same() -> None:
    judged = [
        verdict.overhead.summary
        for verdict in faulty().verdicts
        if verdict.overhead.summary.environment == "lxc"
    ]
    assert {summary.metric for summary in judged} == set(HOSTS)
    assert all(len(summary.blocks) == 10 for summary in judged)


def test_one_faulty_trial_drops_its_block_and_the_verdict_stands_on_the_others() -> None:
    analysis = faulty(range(4, 5))
    (primary,) = [
        verdict.overhead.summary
        for verdict in analysis.verdicts
        if verdict.overhead.summary.environment == "lxc" and verdict.overhead.summary.primary
    ]
    assert (len(primary.blocks), primary.dropped_blocks) == (9, 1)
    text = flowing(printed(analysis))
    assert "lxc (hpcc on 1c2p1i): 1 of 10 trials timed by the host" in text
    assert "no verdict" not in text


def test_a_timer_inversion_is_counted() -> None:
    text = flowing(printed(inverted()))
    expected = (
        "docker (hpcc on 1c2p1i): in 1 of 10 trials the node told more CPU time than its processors had: "
    )
    assert expected + INVERTED in text
    assert EXPLANATION not in text


def test_waiting_is_told_by_host_and_guest_and_unknown_is_not_zero() -> None:
    text = printed(waiting()).partition(WAITING_TITLE)[2]
    assert WAITING_SHARE in flowing(text)
    figures = r" +55 ms +20\N{EN DASH}90 ms +1\.1 % +0\.4\N{EN DASH}1\.8 % +10"
    assert re.search(rf" lxc \(host\){figures}", text)
    assert re.search(r" lxc \(guest\) +not counted *\n", text)
    assert re.search(r" docker \(host\) +not known *\n", text)
    assert re.search(rf" docker \(guest\){figures}", text)


@pytest.mark.parametrize("analysis", [faulty(), inverted(), waiting()], ids=["faulty", "inverted", "waiting"])
@pytest.mark.parametrize("width", [80, 120])
def test_no_line_is_wider_than_the_terminal(analysis: Analysis, width: int) -> None:
    assert all(cell_len(line) <= width for line in printed(analysis, width).splitlines())


def test_a_clean_report_has_none_of_the_sections() -> None:
    plain = example()
    ids = set(Page(render_report(plain)).attributes("id"))
    assert not {"clocks", "waiting"} & ids
    assert "waited" not in printed(plain)
    assert "timed by the host" not in printed(plain)


@pytest.mark.parametrize(
    ("analysis", "anchor", "words"),
    [
        (faulty(), "clocks", [EXPLANATION, FAULT, "10 of 10 trials timed by the host"]),
        (inverted(), "clocks", [INVERTED, "(block 3)"]),
        (waiting(), "waiting", [WAITING_SHARE, "lxc (host)", "not counted", "docker (guest)", "not known"]),
    ],
    ids=["faulty", "inverted", "waiting"],
)
def test_the_page_has_a_section_that_can_be_reached(
    analysis: Analysis, anchor: str, words: list[str]
) -> None:
    page = Page(render_report(analysis))
    assert page.faults == []
    assert anchor in page.attributes("id")
    assert f"#{anchor}" in page.attributes("href")
    text = flowing(page.text).replace("\N{NO-BREAK SPACE}", " ")
    assert [word for word in words if word not in text] == []


def test_programs_get_each_faulty_trial() -> None:
    document = to_json(faulty(range(4, 6)))["clock_faults"]
    assert [(entry["environment"], entry["block"], entry["status"]) for entry in document] == [
        ("lxc", 4, "ok"),
        ("lxc", 5, "ok"),
    ]
    assert all(entry["fault"] == FAULT for entry in document)


def test_programs_get_inversions_and_waiting() -> None:
    assert to_json(inverted())["timer_inversions"] == [
        {"cell": {"workload": "hpcc", "layout": "1c2p1i"}, "environment": "docker", "inverted": 1, "of": 10}
    ]
    lxc, docker = to_json(waiting())["waiting"]
    assert (lxc["vcpu_wait_s"]["unit"], lxc["vcpu_wait_share"]["unit"]) == ("s", "1")
    assert lxc["steal_s"] is lxc["steal_share"] is docker["vcpu_wait_s"] is docker["vcpu_wait_share"] is None
    assert docker["steal_s"]["n"] == 10


@pytest.mark.parametrize("analysis", [faulty(), inverted(), waiting()], ids=["faulty", "inverted", "waiting"])
def test_every_key_is_documented(analysis: Analysis) -> None:
    document = to_json(analysis)
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    documented = set(re.findall(r"`(\w+)`", DOCUMENTATION.read_text(encoding="utf-8")))
    rows = [*document["waiting"], *document["clock_faults"], *document["timer_inversions"]]
    assert rows
    assert {key for row in rows for key in row} <= documented


def test_foreign_text_in_a_fault_cannot_break_the_page() -> None:
    evil = "</style><script>alert(1)</script>\x1b[31m"
    analysis = changed(example(losing=False), "lxc", lambda outcome: replace(outcome, clock_fault=evil))
    page = Page(render_report(analysis))
    assert page.faults == []
    assert "script" not in page.tags
    assert "\x1b" not in printed(analysis)
