# SPDX-License-Identifier: Apache-2.0
import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from tare.drawing.words import interval_percent
from tare.errors import HostError
from tare.records import Analysis, Damage, Fault, Integrity, Outcome, Status
from tare.report.document import render_report, write_report
from tare.report.machine import to_json
from tare.report.provenance import evidence
from tare.report.trust import tail_said
from tests.report.report_example import (
    DIGEST,
    ENVIRONMENTS,
    FIGURES,
    example,
    renamed,
    several_cells,
    with_verdicts,
)
from tests.report.report_page import Page

HOSTILE = (
    "</style></svg><script>alert(1)</script><img src=x onerror=alert(2)> & {{ 7*7 }} \x1b[31m\u202e\ud800"
)


EXAMPLES: dict[str, Callable[[], Analysis]] = {
    "one cell": example,
    "several cells": several_cells,
    "few blocks": lambda: example(blocks=4),
}


@cache
def page(name: str) -> Page:
    return Page(render_report(EXAMPLES[name]()))


@pytest.mark.parametrize("name", ["one cell", "several cells", "few blocks"])
def test_every_element_is_closed_in_order(name: str) -> None:
    assert page(name).faults == []


@pytest.mark.parametrize("name", ["one cell", "several cells"])
def test_the_page_loads_nothing_and_runs_nothing(name: str) -> None:
    shown = page(name)
    assert not shown.tags & {"script", "link", "img", "iframe", "object", "embed", "base", "form"}
    assert not [attribute for _, each in shown.elements for attribute in each if attribute.startswith("on")]
    assert all(target.startswith("#") for target in shown.attributes("href"))
    assert not re.search(r"https?:|url\(|@import", shown.style)


def test_no_address_stands_anywhere_in_the_file() -> None:
    assert not re.search(r"https?://", render_report(example()))


@pytest.mark.parametrize("name", ["one cell", "several cells"])
def test_identities_are_unique_and_every_reference_has_its_target(name: str) -> None:
    shown = page(name)
    identities = shown.attributes("id")
    assert len(set(identities)) == len(identities)
    labels = [part for value in shown.attributes("aria-labelledby") for part in value.split()]
    links = [target.removeprefix("#") for target in shown.attributes("href")]
    assert links
    assert set(labels) | set(links) <= set(identities)


def test_pictures_and_tables_can_be_heard() -> None:
    shown = page("one cell")
    charts = [each for tag, each in shown.elements if tag == "svg" and "chart" in each.get("class", "")]
    assert charts
    assert all(each["role"] == "img" and each["aria-labelledby"] for each in charts)
    assert all("scope" in each for tag, each in shown.elements if tag == "th")
    tags = [tag for tag, _ in shown.elements]
    assert tags.count("caption") == tags.count("table")
    assert ("html", {"lang": "en"}) in shown.elements


def test_the_answer_holds_each_environments_sentence() -> None:
    analysis = example()
    for verdict in analysis.verdicts:
        if verdict.overhead.summary.primary:
            assert verdict.sentence in page("one cell").text


def test_with_several_layouts_each_environment_has_a_sentence_for_each() -> None:
    answers = several_cells().answers
    assert len(answers) == 2 * len(ENVIRONMENTS)
    assert all(answer.sentence in page("several cells").text for answer in answers)


def test_the_noise_floor_of_the_primary_metric_is_said_at_the_top() -> None:
    control = next(control for control in example().controls if control.summary.primary)
    top = page("one cell").text.split("Samples of the primary metric")[0]
    assert f"interval {interval_percent(control.typical)} (n = {control.typical.n})" in top
    assert "This is the noise floor" in top


def test_a_machine_that_treats_two_natives_unlike_is_to_be_distrusted() -> None:
    first, *others = example().controls
    text = render_report(replace(example(), controls=(replace(first, native_p=0.01), *others)))
    assert f"Native differs from itself in {first.summary.metric} (" in text
    assert "): distrust the machine" in text
    assert ">differs from itself<" in text
    assert "differs from itself" not in page("one cell").text


def test_every_metric_has_its_figures_with_unit_and_count() -> None:
    text = page("one cell").text
    for control in example().controls:
        assert control.summary.metric in text
    assert re.search(r"native median \d+(\.\d+)? Gflop/s \(n = 10 blocks\)", text)


def test_what_was_lost_stands_with_reason_and_excerpt() -> None:
    analysis, text = example(), page("one cell").text
    lost = [outcome for outcome in analysis.outcomes if outcome.status is not Status.OK]
    assert len(lost) == 3
    for outcome in lost:
        assert outcome.reason is not None
        assert outcome.reason in text
    assert "Error response from daemon: context deadline exceeded" in text
    assert "2 trials failed (blocks 4, 7)" in text
    assert "docker, hpcc on 1c2p1i: 2 blocks dropped as incomplete" in text


def test_what_was_skipped_in_some_blocks_is_said_to_be_so() -> None:
    (podman,) = example().skipped
    assert "1 environment skipped" in render_report(example())
    text = render_report(replace(example(), skipped=(replace(podman, blocks=4),)))
    assert "environment skipped" not in text
    assert "Was skipped in 4 blocks: podman is not installed" in text


def test_trials_that_were_run_more_than_once_are_said() -> None:
    text = render_report(replace(example(), repeated_trials=("b000-hpcc-1c2p1i-native-0",)))
    assert "1 outcome left out" in text
    assert "b000-hpcc-1c2p1i-native-0" in text
    assert "every trial counts" not in text


def test_a_skipped_environment_stands_with_reason_and_remedy() -> None:
    assert re.search(r"podman is not installed\s*To get it: apt install podman", page("one cell").text)


def test_seed_image_host_and_evidence_are_there() -> None:
    text = page("one cell").text
    for expected in (DIGEST, "20250307", "AMD EPYC 7543", "OpenBLAS 0.3.21 SkylakeX", "fuse (bubblewrap)"):
        assert expected in text


def with_fact(analysis: Analysis, value: Callable[[Outcome], str]) -> Analysis:
    """Every outcome tells this one fact."""
    shown = tuple(replace(outcome, facts={"label": value(outcome)}) for outcome in analysis.outcomes)
    return replace(analysis, outcomes=shown)


def test_a_fact_that_differs_from_trial_to_trial_is_folded_by_environment() -> None:
    shown = with_fact(
        example(), lambda outcome: f"drift {outcome.trial.block} {outcome.trial.environment.name}"
    )
    (fact,) = evidence(shown)
    assert fact.values[1] == "10 different values, first drift 1 docker; drift 2 docker (docker)"
    assert len(fact.values) == 5
    assert fact.values[-1] == "and 2 more values"
    (label,) = to_json(shown)["evidence"]
    assert len(label["values"]) == 60
    assert label["values"][0]["environments"] == [label["values"][0]["value"].split()[-1]]


def test_a_fact_that_differs_between_environments_alone_is_told_of_each() -> None:
    shown = with_fact(
        example(), lambda outcome: "no" if outcome.trial.environment.name == "docker" else "yes"
    )
    (fact,) = evidence(shown)
    assert set(fact.values) == {"no (docker)", "yes (bubblewrap, fake, lxc, native, systemd-nspawn)"}


def test_each_instance_has_its_figures_only_where_there_are_several() -> None:
    assert "What each instance got" in page("several cells").text
    assert "What each instance got" not in page("one cell").text


def test_a_missing_interval_is_called_missing() -> None:
    text = page("few blocks").text
    assert "none (n = 4)" in text
    assert "no interval: 4 blocks are too few" in text


def test_foreign_text_is_shown_and_never_run() -> None:
    hostile = renamed(example(), workload=HOSTILE, environment='"><b onclick=x>', text=HOSTILE)
    shown = Page(render_report(hostile))
    assert shown.faults == []
    assert not shown.tags & {"script", "img"}
    assert "onclick" not in {name for _, each in shown.elements for name in each}
    assert "<script>alert(1)</script>" in shown.text
    assert "{{ 7*7 }}" in shown.text
    assert not re.search("[\x00-\x08\x0b-\x1f\u202e\ud800]", shown.text)


def test_an_environment_without_any_complete_block_says_why() -> None:
    reason = "its node never started"
    analysis = example()
    analysis = with_verdicts(
        analysis,
        [each for each in analysis.verdicts if each.overhead.summary.environment != "lxc"],
        outcomes=tuple(
            replace(each, status=Status.FAILED, reason=reason)
            if each.trial.environment.name == "lxc"
            else each
            for each in analysis.outcomes
        ),
    )
    assert f"lxc: no verdict: 10 of 10 trials lost: {reason}" in Page(render_report(analysis)).text


def _empty(analysis: Analysis) -> Analysis:
    return with_verdicts(analysis, (), controls=(), outcomes=(), cut_by_budget=True)


def test_a_result_without_any_outcome_still_has_a_page() -> None:
    shown = Page(render_report(_empty(example())))
    assert shown.faults == []
    assert "No environment was compared with native." in shown.text
    assert "The time budget ended before the plan: 0 of 70 trials were run." in shown.text


def test_a_result_without_sessions_or_skips_still_has_a_page() -> None:
    analysis = replace(example(figures=FIGURES[:1], losing=False), sessions=(), skipped=())
    shown = Page(render_report(analysis))
    assert shown.faults == []
    assert "Everything planned ran, and every trial counts." in shown.text


def test_an_unfinished_result_does_not_claim_that_everything_ran() -> None:
    analysis = replace(example(figures=FIGURES[:1], losing=False), sessions=(), skipped=())
    done = len(analysis.outcomes)
    shown = Page(render_report(replace(analysis, planned_trials=done + 3)))
    assert f"{done} of {done + 3} planned trials were run." in shown.text
    assert "Everything planned ran" not in shown.text


def test_the_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text("old")
    write_report(_empty(example()), path)
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert [each.name for each in tmp_path.iterdir()] == ["report.html"]


def test_a_place_that_cannot_be_written_is_named_with_the_way_out(tmp_path: Path) -> None:
    path = tmp_path / "absent" / "report.html"
    with pytest.raises(HostError, match=r"absent/report\.html: the report cannot be written: .*--output"):
        write_report(_empty(example()), path)


def test_a_failed_write_leaves_neither_the_new_nor_harms_the_old(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.mkdir()
    with pytest.raises(HostError):
        write_report(_empty(example()), path)
    assert list(tmp_path.iterdir()) == [path]


class PanicException(BaseException):
    """As the renderer raises it."""


def test_a_renderer_that_the_host_refuses_something_is_an_error_in_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refused(_: object) -> str:
        raise PanicException("Too many open files")

    monkeypatch.setattr("vl_convert.vegalite_to_svg", refused)
    with pytest.raises(HostError, match=r"pictures cannot be drawn: Too many open files; .*tare report"):
        render_report(example())


def test_an_interrupt_while_a_picture_is_drawn_remains_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("vl_convert.vegalite_to_svg", interrupted)
    with pytest.raises(KeyboardInterrupt):
        render_report(example())


def test_without_an_interval_no_level_is_claimed_and_no_count_said_twice() -> None:
    text = " ".join(page("few blocks").text.split())
    assert "noise floor none (n = 4)" in text.replace("\N{NO-BREAK SPACE}", " ")
    assert "(n = 4) (n = 4)" not in text.replace("\N{NO-BREAK SPACE}", " ")
    assert "level \N{GREATER-THAN OR EQUAL TO}" not in text


def test_panels_of_several_primary_metrics_say_which_they_show() -> None:
    analysis = example(figures=FIGURES[:2], environments=("docker", "lxc"))
    first, second = dict.fromkeys(verdict.overhead.summary.metric for verdict in analysis.verdicts)
    both = [
        replace(
            verdict,
            overhead=replace(verdict.overhead, summary=replace(verdict.overhead.summary, primary=True)),
        )
        for verdict in analysis.verdicts
    ]
    titles = re.findall(
        r"<h4>.*?</svg>(.*?) <span", render_report(with_verdicts(analysis, both, controls=()))
    )
    assert titles == [f"{name}, {metric}" for metric in (first, second) for name in ("docker", "lxc")]


def test_the_verdict_is_beside_the_name_so_that_a_small_screen_shows_it() -> None:
    html = render_report(EXAMPLES["one cell"]())
    heads = re.findall(r'<table class="figures">.*?<thead><tr>(.*?)</tr></thead>', html, re.DOTALL)
    assert heads
    assert all(re.findall(r"<th[^>]*>(.*?)</th>", head)[:2] == ["environment", "verdict"] for head in heads)


def test_sizes_and_rates_of_the_evidence_are_in_a_readers_units() -> None:
    facts = {"memory limit": "1073741824 byte", "drift": "-0.0 ppm; -6.5 to +2.5 ppm", "day": "2026-11-24"}
    analysis = example()
    shown = evidence(
        replace(analysis, outcomes=tuple(replace(each, facts=facts) for each in analysis.outcomes))
    )
    assert [fact.values for fact in shown] == [
        ("1 GiB",),
        ("0.0 ppm; \N{MINUS SIGN}6.5 to +2.5 ppm",),
        ("2026-11-24",),
    ]


def test_a_damaged_journal_is_not_called_checked() -> None:
    damage = Damage(file="a.jsonl", line=3, lines=1, fault=Fault.ALTERED, sentence="a.jsonl, line 3: altered")
    text = Page(render_report(replace(example(), integrity=Integrity(damage=(damage,))))).text
    assert "The journal is not as it was written" in text
    assert "every line checked" not in text


def test_a_mean_below_the_typical_run_is_no_cost() -> None:
    overhead = example().verdicts[0].overhead
    apart = replace(overhead, tail_cost=True)
    below, above = (
        replace(apart, mean=replace(apart.mean, point=apart.typical.point + shift)) for shift in (-0.1, 0.1)
    )
    assert [tail_said(each) for each in (overhead, below, above)] == ["", "tail gain", "tail cost"]
