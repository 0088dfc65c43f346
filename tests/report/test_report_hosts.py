# SPDX-License-Identifier: Apache-2.0
"""The hosts of a list, in every output: what they have, how fast they are, and the overhead by their number."""

import io
from collections.abc import Mapping
from dataclasses import replace

import pytest
from rich.console import Console

from tare.analyze import dependences
from tare.records import Analysis, Cell, Estimate, FactorCells, HostSpeed, Level, Verdict
from tare.records.diagnostics import HostEffect
from tare.report import hosts
from tare.report.arrange import layout_of
from tare.report.document import render_report
from tare.report.machine import to_json
from tests.analyze.factor_example import at_levels
from tests.report.report_example import example, with_verdicts
from tests.report.report_page import Page

FACTS = {
    "node1": {"usable processors": "2 (0, 1)", "kernel": "6.1", "governor": "performance", "uptime": "1 h"},
    "node2": {"usable processors": "2 (0, 1)", "kernel": "6.1", "governor": "<powersave>", "uptime": "2 h"},
}
LEVELS = tuple(Level(key="hosts", text=str(count), number=float(count)) for count in (1, 2, 4))
LAYOUTS = ("4c1p1i", "4c1p1i on 2", "4c1p1i on 4")
CELLS = FactorCells(
    workload="work",
    setting="4c1p1i",
    key="hosts",
    levels=LEVELS,
    cells=tuple((Cell(workload="work", layout=layout),) for layout in LAYOUTS),
    in_layouts=True,
)


def estimate(low: float, high: float) -> Estimate:
    return Estimate(point=(low + high) / 2, low=low, high=high, level=0.95, n=8)


def analysis(facts: Mapping[str, Mapping[str, str]] = FACTS) -> Analysis:
    plain = example(environments=("docker",), losing=False)
    return replace(
        plain,
        sessions=tuple(replace(session, hosts=facts) for session in plain.sessions),
        host_speeds=(HostSpeed(host="node2", slower=estimate(0.30, 0.34), is_slow=True),),
        host_effects=(
            HostEffect(
                workload="cg", metric="time_s", host="node2", slower=estimate(0.2, 0.24), is_slow=True
            ),
            HostEffect(
                workload="cg", metric="time_s", host="node1", slower=estimate(-0.2, -0.1), is_slow=False
            ),
        ),
    )


def section(text: str, anchor: str) -> str:
    own = text[text.index(f'id="{anchor}"') :]
    return own[: own.index("</section>")]


def test_the_page_has_the_facts_of_each_host_with_those_that_differ() -> None:
    text = render_report(analysis())
    assert Page(text).faults == []
    own = section(text, "hosts")
    assert "governor" in own
    assert "&lt;powersave&gt;" in own
    assert "uptime" not in own
    alike = section(render_report(analysis(dict.fromkeys(FACTS, FACTS["node1"]))), "hosts")
    assert "governor" not in alike


def test_the_page_and_the_terminal_say_what_a_host_costs_a_workload() -> None:
    own = Page(section(render_report(analysis()), "hosts")).text
    assert "cg, time_s: with node2 " in own
    stream = io.StringIO()
    hosts.table(analysis(), Console(file=stream, width=200, highlight=False), show_all=False)
    printed = stream.getvalue()
    assert "cg, time_s, node2: +22.0 %" in printed
    assert "(n = 8, slow)" in printed


def test_programs_get_each_effect_with_its_interval() -> None:
    first, second = to_json(analysis())["host_effects"]
    assert (first["host"], first["is_slow"], second["is_slow"]) == ("node2", True, False)
    assert (first["slower"]["low"], first["slower"]["high"]) == pytest.approx((0.2, 0.24))


def test_a_result_without_a_list_has_no_section_of_hosts() -> None:
    assert 'id="hosts"' not in render_report(example(environments=("docker",), losing=False))


def by_hosts() -> Analysis:
    plain = at_levels({"lxc": (0.02, 0.05, 0.12)}, LEVELS)
    judged = [_on(verdict, LAYOUTS[place]) for place, verdict in enumerate(plain)]
    return with_verdicts(
        example(environments=("lxc",), losing=False),
        judged,
        controls=(),
        outcomes=(),
        dependences=dependences(judged, [CELLS]),
    )


def _on(verdict: Verdict, layout: str) -> Verdict:
    summary = verdict.overhead.summary
    cell = replace(summary.cell, layout=layout)
    return replace(verdict, overhead=replace(verdict.overhead, summary=replace(summary, cell=cell)))


def test_the_overhead_by_the_number_of_hosts_is_a_figure_with_a_row_for_each() -> None:
    own = section(render_report(by_hosts()), "factors")
    assert "work on 4c1p1i by hosts, wall_s" in own
    assert own.count("<svg") - own.count('class="glyph"') == 2
    assert "lxc: costs more with more hosts: " in own
    assert "at 4 than at 1" in own


def test_a_layout_is_read_from_a_setting_over_hosts() -> None:
    assert str(layout_of(Cell(workload="w", layout="4c1p1i on 2"))) == "4c1p1i on 2"
