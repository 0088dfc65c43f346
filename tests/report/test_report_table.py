# SPDX-License-Identifier: Apache-2.0
import io
import re
from dataclasses import replace

import pytest
from rich.cells import cell_len
from rich.console import Console

from tare.analyze.qualification import word_said
from tare.drawing.table import name_cell, name_width
from tare.drawing.words import point_percent
from tare.records import Analysis, Direction
from tare.report.table import print_tables
from tests.report.report_example import Figure, example, renamed, several_cells, with_verdicts

HUGE = Figure("time_s", 1e-7, "s", Direction.LESS, 0.01, (4937.0,))


def printed(analysis: Analysis, width: int = 80, *, show_all: bool = False) -> str:
    stream = io.StringIO()
    print_tables(analysis, Console(file=stream, width=width, highlight=False), show_all=show_all)
    return stream.getvalue()


def flowing(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("width", [80, 100, 160])
@pytest.mark.parametrize("show_all", [False, True])
def test_no_line_is_wider_than_the_terminal(width: int, show_all: bool) -> None:
    long = renamed(several_cells(), workload="w" * 120, environment="e" * 120, text="t " * 100)
    for analysis in (several_cells(), long):
        assert all(
            cell_len(line) <= width for line in printed(analysis, width, show_all=show_all).splitlines()
        )


def test_at_80_columns_every_primary_row_stands_on_one_line() -> None:
    analysis, lines = example(), printed(example()).splitlines()
    for verdict in analysis.verdicts:
        summary = verdict.overhead.summary
        if summary.primary:
            said, n = re.escape(word_said(verdict)), verdict.overhead.typical.n
            pattern = rf" *{summary.environment} .* %  .* % .* {said}.* {n} *"
            assert any(re.fullmatch(pattern, line) for line in lines)


@pytest.mark.parametrize(
    ("name", "width", "lines"),
    [
        ("qemu-paravirtual", 16, ["qemu-paravirtual"]),
        ("qemu-paravirtual-veth", 16, ["qemu-", "paravirtual-veth"]),
        ("qemu-emulated (guest)", 16, ["qemu-emulated", "(guest)"]),
        ("e" * 20, 16, ["e" * 16, "e" * 4]),
    ],
)
def test_a_name_too_long_for_its_column_is_broken_between_its_words(
    name: str, width: int, lines: list[str]
) -> None:
    assert name_cell(name, width).plain.splitlines() == lines


def test_the_column_of_names_takes_the_room_that_is_there() -> None:
    assert name_width([], 50) == name_width(["short"], 5) == 16
    assert name_width(["a" * 20, "a" * 30], 50) == 30
    assert name_width(["a" * 30], 20) == 20


def test_no_figure_is_cut_however_large() -> None:
    analysis = example(environments=("qemu-paravirtual",), figures=[HUGE], losing=False)
    (verdict,) = analysis.verdicts
    assert point_percent(verdict.overhead.typical) in printed(analysis)
    assert verdict.overhead.typical.point > 1000


def test_a_pipe_gets_no_escape_sequence() -> None:
    assert "\x1b" not in printed(several_cells())


def test_the_control_stands_beside_the_environments() -> None:
    assert re.search(r"native again .*% .*% .*the noise floor +10", printed(example()))


def test_the_primary_metric_comes_first_and_is_marked() -> None:
    marks = re.findall(
        r"^(\w+)( \* primary)?(?:, as time)? \(native median", printed(example(), show_all=True), re.MULTILINE
    )
    assert marks[0] == ("hpl_flop_per_s", " * primary")
    assert all(not mark for _, mark in marks[1:])
    assert len(marks) == 13


def test_native_stands_with_its_absolute_value_and_unit() -> None:
    assert re.search(
        r"hpl_flop_per_s \* primary, as time \(native median \d+(\.\d+)? Gflop/s, n = 10\)",
        printed(example()),
    )


def test_by_default_only_metrics_with_a_decision_are_shown_and_the_rest_is_counted() -> None:
    analysis = example(blocks=4)
    text = printed(analysis)
    assert "12 metrics without any decision hidden; --all shows every row" in text
    assert "ptrans_byte_per_s" not in text
    assert "ptrans_byte_per_s" in printed(analysis, show_all=True)


def test_with_all_every_verdict_has_a_row() -> None:
    analysis = example()
    text = printed(analysis, 120, show_all=True)
    for said in set(map(word_said, analysis.verdicts)):
        expected = sum(word_said(verdict) == said for verdict in analysis.verdicts)
        rows = re.findall(rf"%.* {re.escape(said)}.* \d+ *$", text, re.MULTILINE)
        assert len(rows) == expected


def test_above_the_tables_stands_a_sentence_for_each_environment() -> None:
    text = flowing(printed(example()))
    for verdict in example().verdicts:
        if verdict.overhead.summary.primary:
            assert verdict.sentence in text


def test_losses_skips_and_dropped_blocks_are_said() -> None:
    text = flowing(printed(example()))
    assert "docker (hpcc on 1c2p1i): 2 trials failed: the docker node did not start within 30 s" in text
    assert "lxc (hpcc on 1c2p1i): 1 trial invalid: node and host clock disagree" in text
    assert "docker (hpcc on 1c2p1i): 2 blocks dropped as incomplete" in text
    assert "podman was skipped: podman is not installed. To get it: apt install podman" in text


@pytest.mark.parametrize(
    ("blocks", "said"),
    [
        (1, "podman was skipped in 1 block: "),
        (4, "podman was skipped in 4 blocks: "),
        (0, "podman was missing when the run was last continued: "),
    ],
)
def test_what_was_skipped_for_a_while_is_not_said_to_be_skipped_altogether(blocks: int, said: str) -> None:
    (podman,) = example().skipped
    text = flowing(printed(replace(example(), skipped=(replace(podman, blocks=blocks),))))
    assert f"{said}podman is not installed. To get it: apt install podman" in text


def test_a_campaign_cut_by_its_budget_says_so() -> None:
    text = printed(replace(example(), planned_trials=100, cut_by_budget=True))
    assert "70 of 100 planned trials were run: the time budget ended first" in flowing(text)


def test_outcomes_left_out_as_their_trials_were_run_before_are_counted_and_named() -> None:
    repeated = tuple(f"b{block:03}-hpcc-1c2p1i-native-0" for block in range(7))
    text = flowing(printed(replace(example(), repeated_trials=(*repeated, repeated[0]))))
    assert "Warning: 8 outcomes left out, as the journal holds an earlier one of the same trial" in text
    assert "b000-hpcc-1c2p1i-native-0" in text
    assert "and 2 more" in text


def test_a_missing_interval_is_called_missing() -> None:
    assert re.search(r"none \(n = 4\)", printed(example(blocks=4)))


def test_nothing_to_compare_is_said() -> None:
    text = printed(with_verdicts(example(), (), controls=()))
    assert "no complete block: nothing to compare" in text
    assert "docker: no verdict" in text


def test_several_instances_say_how_they_make_one_figure() -> None:
    assert "2 instances at once: rates are summed" in printed(several_cells())


def test_markup_and_escape_sequences_in_names_are_shown_as_text() -> None:
    hostile = renamed(
        example(), workload="[bold]x[/bold]", environment="[link=a]b", text="\x1b]0;title\x07[red]"
    )
    text = printed(hostile)
    assert "[bold]x[/bold]" in text
    assert "[link=a]b" in text
    assert "\x1b" not in text
    assert "\x07" not in text
