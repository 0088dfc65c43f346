# SPDX-License-Identifier: Apache-2.0
"""Verdicts, controls and what each instance got, by cell: for programs and a terminal."""

from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from tare.drawing.table import add_name_column, name_cell, name_width, ruled_table
from tare.drawing.words import MARK, STYLE, counted, interval_percent, least_level, point_percent, quantity
from tare.foreign import one_line
from tare.records import Analysis, Overhead, Verdict, Word
from tare.report import arrange, in_json, trust
from tare.report.arrange import MetricSection
from tare.report.stops import look_json
from tare.treat import InstanceFigure, per_instance

_FIGURES_WIDTH = 64


def json(analysis: Analysis) -> dict[str, Any]:
    """Verdicts, controls and instances in ``tare show --json``, as docs/json.md describes them."""
    return {
        "verdicts": [_verdict(verdict) for verdict in analysis.verdicts],
        "controls": [_control(control) for control in analysis.controls],
        "instances": [_instance(figure) for figure in per_instance(analysis.outcomes)],
    }


def _overhead(overhead: Overhead) -> dict[str, Any]:
    summary = overhead.summary
    n = len(summary.blocks)
    return {
        "cell": in_json.cell(summary.cell),
        "environment": summary.environment,
        "metric": summary.metric,
        "unit": summary.unit,
        "direction": summary.direction.name.lower(),
        "primary": summary.primary,
        "typical": in_json.estimate(overhead.typical),
        "mean": in_json.estimate(overhead.mean),
        "tail_cost": overhead.tail_cost,
        "spike_rate": in_json.without_interval(overhead.spike_rate, in_json.FRACTION, n),
        "native_spike_rate": in_json.without_interval(overhead.native_spike_rate, in_json.FRACTION, 2 * n),
        "native_median": in_json.without_interval(overhead.native_median, summary.unit, n),
        "noise_floor": in_json.estimate(overhead.noise_floor),
        "looks": [look_json(look) for look in overhead.looks],
        "stopped": overhead.stopped and overhead.stopped.name.lower(),
        "blocks": [
            {
                "block": block.block,
                "native": [in_json.number(value) for value in block.native],
                "environment": in_json.number(block.environment),
            }
            for block in summary.blocks
        ],
        "dropped_blocks": summary.dropped_blocks,
    }


def _control(control: Overhead) -> dict[str, Any]:
    return _overhead(control) | {"native_p": in_json.number(control.native_p)}


def _verdict(verdict: Verdict) -> dict[str, Any]:
    return _overhead(verdict.overhead) | {
        "word": verdict.word.name.lower(),
        "within": in_json.number(verdict.within),
        "at_most": in_json.number(verdict.at_most),
        "sentence": verdict.sentence,
        "withheld": verdict.withheld and verdict.withheld.value,
        "more_blocks": verdict.more_blocks,
        "below_noise_floor": verdict.below_noise_floor,
        "warnings": list(verdict.warnings),
        **trust.claim_json(verdict),
    }


def _instance(figure: InstanceFigure) -> dict[str, Any]:
    return {
        "cell": in_json.cell(figure.cell),
        "environment": figure.environment,
        "metric": figure.metric,
        "instance": figure.instance,
        "direction": figure.direction.name.lower(),
        "median": in_json.without_interval(figure.median, figure.unit, figure.n),
        "minimum": in_json.number(figure.minimum),
        "maximum": in_json.number(figure.maximum),
    }


def print_metrics(metrics: Sequence[MetricSection], console: Console, *, show_all: bool) -> None:
    """Print the verdicts of one cell's metrics; without ``show_all`` the decided and the primary ones."""
    if not metrics:
        console.print(Text("no complete block: nothing to compare"))
    names = [verdict.overhead.summary.environment for metric in metrics for verdict in metric.verdicts]
    width = name_width(names, console.width - _FIGURES_WIDTH)
    shown = [metric for metric in metrics if show_all or metric.primary or metric.decided]
    for metric in shown:
        console.print(_metric(metric, width, whole=show_all or metric.primary))
    if hidden := len(metrics) - len(shown):
        said = f"{counted(hidden, 'metric')} without any decision hidden; --all shows every row"
        console.print(Text(f"\n{said}", style="dim"))


def _metric(metric: MetricSection, width: int, *, whole: bool) -> Group:
    differing = (Word.SLOWER, Word.FASTER)
    rows = [verdict for verdict in metric.verdicts if whole or verdict.word in differing]
    parts: list[RenderableType] = [Text(), _title(metric)]
    if rows:
        parts.append(_rows(metric, rows, width))
    parts.extend(_others(verdict for verdict in metric.verdicts if verdict not in rows))
    return Group(*parts)


def _rows(metric: MetricSection, verdicts: Iterable[Verdict], width: int) -> Table:
    printed = ruled_table(show_header=metric.primary)
    level = least_level(overhead.typical for overhead in metric.overheads)
    add_name_column(printed, "environment", width)
    printed.add_column("overhead", justify="right", no_wrap=True, min_width=8)
    printed.add_column(f"interval (≥ {level})", justify="right", no_wrap=True, min_width=18)
    printed.add_column("verdict", overflow="fold", width=19)
    printed.add_column("n", justify="right", no_wrap=True, min_width=3)
    for verdict in verdicts:
        word = Text(f"{MARK[verdict.word]} {verdict.said}{_remarks(verdict)}", style=STYLE[verdict.word])
        printed.add_row(*_cells(verdict.overhead, word, width))
    if metric.control:
        printed.add_row(
            *_cells(metric.control, Text(f"  {arrange.control_word(metric.control)}"), width), style="dim"
        )
    return printed


def _cells(overhead: Overhead, word: Text, width: int) -> tuple[str | Text, ...]:
    typical = overhead.typical
    figures = (point_percent(typical), interval_percent(typical))
    return (name_cell(overhead.summary.environment, width), *figures, word, str(typical.n))


def _others(verdicts: Iterable[Verdict]) -> Iterable[Text]:
    names: dict[tuple[Word, str], list[str]] = {}
    for verdict in verdicts:
        own = names.setdefault((verdict.word, verdict.said), [])
        own.append(one_line(verdict.overhead.summary.environment))
    for (word, said), alike in names.items():
        yield Text(f" {MARK[word]} {said}: {', '.join(alike)}", style="dim")


def _remarks(verdict: Verdict) -> str:
    remarks = [trust.alone_said(verdict)]
    if verdict.below_noise_floor and verdict.word in (Word.SLOWER, Word.FASTER):
        remarks.append(", but below the noise floor")
    if verdict.overhead.tail_cost:
        remarks.append(f"; tail cost: mean {point_percent(verdict.overhead.mean)}")
    return "".join(remarks)


def _title(metric: MetricSection) -> Text:
    summary = metric.reference.summary
    title = Text(one_line(metric.name), style="bold")
    if metric.primary:
        title.append(" * primary")
    native = quantity(metric.reference.native_median, one_line(summary.unit))
    return title.append(f" (native median {native}, n = {len(summary.blocks)})", style="not bold")
