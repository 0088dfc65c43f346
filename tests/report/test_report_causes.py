# SPDX-License-Identifier: Apache-2.0
"""Candidates and causes as a reader sees them: in the terminal, on the page, for programs."""

import json
import re
from dataclasses import replace
from io import StringIO
from unittest.mock import Mock

import pytest
from rich.console import Console

from tare.records import (
    Analysis,
    Attributed,
    Cell,
    Change,
    Estimate,
    Explanation,
    Intervention,
    InterventionVerdict,
    Role,
    Shift,
)
from tare.report import arrange
from tare.report.causes import print_causes, print_reasons
from tare.report.document import render_report
from tare.report.machine import to_json
from tare.report.reasons import reasons
from tests.attribution_example import BACKGROUND, Plant, attributed, seconds
from tests.report.report_example import example

QUOTA_OFF = Change(knob="quota-off", change="without it", subject="the CPU quota", changed="docker-quota-off")
CELL = Cell(workload="work", layout="1c1p1i")


def estimate(point: float) -> Estimate:
    return Estimate(point=point, low=point - 0.01, high=point + 0.01, level=0.95, n=10)


def intervention(metric: str = "wall_s", environment: str = "docker") -> InterventionVerdict:
    return InterventionVerdict(
        intervention=Intervention(
            parent="../..",
            parent_campaign="one",
            parent_session="0a",
            environment=environment,
            changes=(QUOTA_OFF,),
        ),
        turned=replace(QUOTA_OFF, changed=f"{environment}-quota-off"),
        cell=CELL,
        metric=metric,
        before=estimate(0.48),
        after=estimate(0.003),
        change=estimate(-0.32),
        shift=Shift.FALLS,
        role=Role.CAUSE,
        chance=0.001,
        sentence=f"the CPU quota is a cause: without it {environment}'s overhead falls ({metric})",
    )


def explanation(standing: Attributed, name: str = "system calls", environment: str = "docker") -> Explanation:
    is_cause = standing is Attributed.CAUSE
    return Explanation(
        cell=CELL,
        environment=environment,
        metric=name,
        primary=True,
        name=name,
        claim="25 to 28 % slower",
        is_gain=False,
        standing=standing,
        cause=None if standing is Attributed.UNEXPLAINED else "system-call-filter",
        title="the filter of system calls",
        grounds="each call takes longer",
        cure="docker run --security-opt seccomp=unconfined",
        change="without it",
        before=estimate(0.26) if is_cause else None,
        after=estimate(0.003) if is_cause else None,
    )


def analysis() -> Analysis:
    signals = {**BACKGROUND, "throttled_s": seconds(lambda run: run.lost_s)}
    slow = attributed(Plant(slowdown=lambda random: 0.5 * random.lognormal(0, 0.1), signals=signals))
    nothing = attributed(Plant())
    verdicts = (intervention(), intervention("cpu_s"))
    return replace(example(), attributions=(slow, nothing), interventions=verdicts)


def printed(shown: Analysis, *, whole: bool = False) -> str:
    stream = StringIO()
    console = Console(file=stream, width=110)
    print_reasons(shown, console)
    print_causes(shown, console, whole=whole)
    return " ".join(stream.getvalue().split())


def test_a_confirmed_cause_is_one_line_with_its_cure_and_what_came_back_of_each_metric() -> None:
    both = (explanation(Attributed.CAUSE), explanation(Attributed.CAUSE, "message latency"))
    text = printed(replace(example(), explanations=both))
    assert (
        "docker: cause of system calls and message latency: the filter of system calls; cure: docker run"
        in text
    )
    assert "without it: system calls from 26 % [25 % to 27 %] to 0.3 %" in text
    assert "message latency from 26 %" in text
    assert "to find out" not in text


def test_a_command_is_broken_only_between_its_words() -> None:
    text = render_report(replace(example(), explanations=(explanation(Attributed.CANDIDATE),)))
    words = re.findall(r'<span class="whole">(.*?)</span>', text)
    assert words[:2] == ["tare", "explain"]
    assert "--environment" in words
    assert "\N{WORD JOINER}" not in "".join(words), "who copies it gets the command"


def test_the_cells_of_a_result_are_gone_through_once_for_all_of_its_reasons(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = Mock(side_effect=arrange.cells)
    monkeypatch.setattr(arrange, "cells", asked)
    many = tuple(explanation(Attributed.CANDIDATE, environment=f"arm{place}") for place in range(9))
    assert len(reasons(replace(example(), explanations=many))) == 9
    assert asked.call_count == 1


def test_a_suspected_cause_says_so_and_gives_the_command_that_would_tell() -> None:
    text = printed(replace(example(), explanations=(explanation(Attributed.CANDIDATE),)))
    assert "docker: suspected cause of system calls 25 to 28 % slower" in text
    assert "to find out: tare explain RESULT --environment docker" in text


def test_what_was_tried_in_vain_is_told_and_no_command_is_given_again() -> None:
    tried = replace(explanation(Attributed.UNEXPLAINED), tried=("the CPU quota", "the seccomp filter"))
    text = printed(replace(example(), explanations=(tried,)))
    assert (
        "unexplained: system calls 25 to 28 % slower; no cause: the CPU quota and the seccomp filter" in text
    )
    assert "to find out" not in text


def test_what_is_undecided_is_not_called_no_cause_and_more_blocks_are_offered() -> None:
    tried = replace(explanation(Attributed.UNEXPLAINED), undecided=("the CPU quota",))
    text = printed(replace(example(), explanations=(tried,)))
    assert "slower; undecided: the CPU quota" in text
    assert "no cause" not in text
    assert "tare explain RESULT --environment docker --blocks 20" in text


def test_other_causes_of_the_same_claim_are_named_beside_the_first() -> None:
    both = replace(explanation(Attributed.CAUSE), further=("the CPU quota",))
    assert "a cause as well: the CPU quota" in printed(replace(example(), explanations=(both,)))


def test_claims_that_were_tried_differently_are_told_apart() -> None:
    tried = replace(explanation(Attributed.UNEXPLAINED), tried=("the CPU quota",))
    other = explanation(Attributed.UNEXPLAINED, "message latency")
    text = printed(replace(example(), explanations=(tried, other)))
    assert "unexplained: message latency 25 to 28 % slower to find out: tare explain" in text


def test_the_terminal_has_a_row_for_each_knob_and_metric() -> None:
    text = printed(analysis())
    assert text.count("docker-quota-off") == 2
    assert text.count("a cause") == 2


def test_the_whole_table_has_every_signal_of_each_loss() -> None:
    text = printed(analysis(), whole=True)
    assert text.count("minor_faults") == 1
    assert "docker: candidate: held back by a CPU quota" in text
    assert "nothing to explain" not in text


def test_without_anything_to_say_nothing_is_printed_and_the_page_has_no_section() -> None:
    silent = replace(analysis(), attributions=(), interventions=())
    assert printed(silent) == ""
    assert 'id="causes"' not in render_report(silent)


def test_the_page_has_the_sentences_and_the_table_and_escapes_what_is_not_its_own() -> None:
    hostile = replace(
        analysis(),
        interventions=(intervention(environment="<b>x"),),
        explanations=(explanation(Attributed.CAUSE, environment="<b>x"),),
    )
    text = render_report(hostile)
    assert 'id="causes"' in text
    assert "held back by a CPU quota" in text
    assert "&lt;b&gt;x" in text
    assert "<b>x" not in text


def test_programs_get_every_signal_with_its_rank_and_no_number_that_is_none() -> None:
    document = json.loads(json.dumps(to_json(analysis()), allow_nan=False))
    slow, nothing = document["attributions"]
    assert slow["standing"] == "candidate"
    assert slow["signals"][0]["signal"] == "throttled_s"
    assert [signal["rank"] for signal in slow["signals"]] == list(range(1, len(BACKGROUND) + 1))
    assert nothing["standing"] is None
    assert [intervention["standing"] for intervention in document["interventions"]] == ["cause", "cause"]
