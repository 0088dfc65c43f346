# SPDX-License-Identifier: Apache-2.0
"""The analysis as tables and sentences for a terminal of 80 columns or more; colour only repeats words."""

from collections.abc import Iterable

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from tare.drawing.table import add_name_column, name_cell, name_width, ruled_table
from tare.drawing.words import MARK, STYLE, counted, interval_percent, least_level, point_percent, quantity
from tare.foreign import one_line
from tare.records import Analysis, Overhead, Verdict, Word
from tare.report import arrange, clocks, losses
from tare.report.answer_table import print_answer_table, print_answers
from tare.report.bounds import bounded, left_out_said
from tare.report.calibration import citation
from tare.report.causes import print_reasons
from tare.report.curve_table import print_curves
from tare.report.curves import curve_metrics
from tare.report.emulation import emulated, restored
from tare.report.integrity import print_integrity
from tare.report.stops import decisions_said, stops_said
from tare.report.topics import TABLE_ORDER
from tare.report.trust import alone_said
from tare.report.weaker import HEADING, weaker

_FIGURES_WIDTH = 64


def print_tables(analysis: Analysis, console: Console, *, show_all: bool = False) -> None:
    """Print the answer, then every cell's metrics, then what else a reader must know.

    Without ``show_all`` the primary metrics are whole; of the others only what is slower or faster has a row,
    and a metric on which nothing is decided is hidden and counted.
    """
    left_out, analysis = left_out_said(analysis), bounded(analysis)
    print_integrity(analysis, console)
    heading = f"{one_line(analysis.campaign)}: overhead against native; above 0 is slower"
    console.print(Text(heading, style="bold"))
    print_answers(analysis, console)
    print_reasons(analysis, console)
    print_answer_table(analysis, console)
    for cell in arrange.cells(analysis):
        metrics = [metric for metric in arrange.metrics(analysis) if metric.cell == cell]
        console.print(Text(f"\n{arrange.place(cell)}", style="bold"))
        if note := arrange.instances_note(cell):
            console.print(Text(note))
        _print_cell(metrics, console, show_all=show_all)
        curves = (metric for metric in curve_metrics(analysis) if metric.cell == cell)
        print_curves(curves, console, show_all=show_all)
    for topic in TABLE_ORDER:
        topic.table(analysis, console, show_all=show_all)
    if left_out:
        console.print(Text(f"\n{left_out}", style="dim"))
    console.print(_ending(analysis))


def _print_cell(metrics: list[arrange.MetricSection], console: Console, *, show_all: bool) -> None:
    if not metrics:
        console.print(Text("no complete block: nothing to compare"))
    names = [verdict.overhead.summary.environment for metric in metrics for verdict in metric.verdicts]
    width = name_width(names, console.width - _FIGURES_WIDTH)
    shown = [metric for metric in metrics if show_all or metric.primary or metric.decided]
    for metric in shown:
        console.print(_metric(metric, width, whole=show_all or metric.primary))
    if hidden := len(metrics) - len(shown):
        told = f"{counted(hidden, 'metric')} without any decision hidden; --all shows every row"
        console.print(Text(f"\n{told}", style="dim"))


def _metric(metric: arrange.MetricSection, width: int, *, whole: bool) -> Group:
    differing = (Word.SLOWER, Word.FASTER)
    rows = [verdict for verdict in metric.verdicts if whole or verdict.word in differing]
    parts: list[RenderableType] = [Text(), _title(metric)]
    if rows:
        parts.append(_rows(metric, rows, width))
    parts.extend(_others(verdict for verdict in metric.verdicts if verdict not in rows))
    return Group(*parts)


def _rows(metric: arrange.MetricSection, verdicts: Iterable[Verdict], width: int) -> Table:
    table = ruled_table(show_header=metric.primary)
    level = least_level(overhead.typical for overhead in metric.overheads)
    add_name_column(table, "environment", width)
    table.add_column("overhead", justify="right", no_wrap=True, min_width=8)
    table.add_column(f"interval (≥ {level})", justify="right", no_wrap=True, min_width=18)
    table.add_column("verdict", overflow="fold", width=19)
    table.add_column("n", justify="right", no_wrap=True, min_width=3)
    for verdict in verdicts:
        word = Text(f"{MARK[verdict.word]} {verdict.said}{_remarks(verdict)}", style=STYLE[verdict.word])
        table.add_row(*_cells(verdict.overhead, word, width))
    if metric.control:
        table.add_row(
            *_cells(metric.control, Text(f"  {arrange.control_word(metric.control)}"), width), style="dim"
        )
    return table


def _cells(overhead: Overhead, told: Text, width: int) -> tuple[str | Text, ...]:
    typical = overhead.typical
    figures = (point_percent(typical), interval_percent(typical))
    return (name_cell(overhead.summary.environment, width), *figures, told, str(typical.n))


def _others(verdicts: Iterable[Verdict]) -> Iterable[Text]:
    names: dict[tuple[Word, str], list[str]] = {}
    for verdict in verdicts:
        own = names.setdefault((verdict.word, verdict.said), [])
        own.append(one_line(verdict.overhead.summary.environment))
    for (word, said), alike in names.items():
        yield Text(f" {MARK[word]} {said}: {', '.join(alike)}", style="dim")


def _remarks(verdict: Verdict) -> str:
    remarks = [alone_said(verdict)]
    if verdict.below_noise_floor and verdict.word in (Word.SLOWER, Word.FASTER):
        remarks.append(", but below the noise floor")
    if verdict.overhead.tail_cost:
        remarks.append(f"; tail cost: mean {point_percent(verdict.overhead.mean)}")
    return "".join(remarks)


def _title(metric: arrange.MetricSection) -> Text:
    summary = metric.reference.summary
    title = Text(one_line(metric.name), style="bold")
    if metric.primary:
        title.append(" * primary")
    native = quantity(metric.reference.native_median, one_line(summary.unit))
    return title.append(f" (native median {native}, n = {len(summary.blocks)})", style="not bold")


def _ending(analysis: Analysis) -> Group:
    lines = [Text(), *map(Text, arrange.open_claims(analysis))]
    for overhead in losses.dropped(analysis):
        blocks = counted(overhead.summary.dropped_blocks, "block")
        where = f"{one_line(overhead.summary.environment)} ({arrange.place(overhead.summary.cell)})"
        lines.append(Text(f"{where}: {blocks} dropped as incomplete"))
    return Group(
        *lines,
        *map(Text, stops_said(analysis)),
        *map(Text, decisions_said(analysis)),
        *_no_usual_guests(analysis),
        *_weaker(analysis),
        *clocks.remarks(analysis),
        *losses.remarks(analysis),
        *_busy(analysis),
        *(Text(f"journal: {one_line(words)}", style="dim") for words in analysis.integrity.remarks),
        Text(citation(analysis.calibration), style="dim"),
    )


def _no_usual_guests(analysis: Analysis) -> Iterable[Text]:
    for said in filter(None, (emulated(analysis.outcomes), restored(analysis.outcomes))):
        yield Text(one_line(said), style="yellow")


def _weaker(analysis: Analysis) -> Iterable[Text]:
    if said := weaker(analysis.outcomes):
        yield Text(HEADING)
        yield from (Text(f"- {one_line(sentence)}") for sentence in said)


def _busy(analysis: Analysis) -> Iterable[Text]:
    if analysis.busy is not None:
        yield Text(one_line(analysis.busy.sentence), style="yellow")
