# SPDX-License-Identifier: Apache-2.0
"""The analysis as tables and sentences for a terminal of 80 columns or more; colour only repeats words."""

from collections.abc import Iterable

from rich.console import Console, Group
from rich.text import Text

from tare.drawing.words import counted
from tare.foreign import one_line
from tare.records import Analysis
from tare.report import arrange, clocks, integrity, losses
from tare.report.answers import print_answer_table, print_answers
from tare.report.bounds import bounded, left_out_said
from tare.report.calibration import citation
from tare.report.causes import print_reasons
from tare.report.curves import curve_metrics, print_curves
from tare.report.emulation import emulated, restored
from tare.report.hosts import uneven_paths_said
from tare.report.stops import decisions_said, stops_said
from tare.report.surfaces import print_surfaces, surface_metrics
from tare.report.topics import TABLE_ORDER
from tare.report.verdicts import print_metrics
from tare.report.weaker import HEADING, weaker


def print_tables(analysis: Analysis, console: Console, *, show_all: bool = False) -> None:
    """Print the answer, then every cell's metrics, then what else a reader must know.

    Without ``show_all`` the primary metrics are whole; of the others only what is slower or faster has a row,
    and a metric on which nothing is decided is hidden and counted.
    """
    left_out, analysis = left_out_said(analysis), bounded(analysis)
    integrity.table(analysis, console)
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
        curves = [metric for metric in curve_metrics(analysis) if metric.cell == cell]
        surfaces = [metric for metric in surface_metrics(analysis) if metric.cell == cell]
        if metrics or not (curves or surfaces):
            print_metrics(metrics, console, show_all=show_all)
        print_curves(curves, console, show_all=show_all)
        print_surfaces(surfaces, console, show_all=show_all)
    for topic in TABLE_ORDER:
        topic.table(analysis, console, show_all=show_all)
    if left_out:
        console.print(Text(f"\n{left_out}", style="dim"))
    console.print(_ending(analysis))


def _ending(analysis: Analysis) -> Group:
    lines = [Text(), *map(Text, arrange.open_claims(analysis))]
    for overhead in losses.dropped(analysis):
        blocks = counted(overhead.summary.dropped_blocks, "block")
        where = f"{one_line(overhead.summary.environment)} ({arrange.place(overhead.summary.cell)})"
        lines.append(Text(f"{where}: {blocks} dropped as incomplete"))
    for verdict, said in losses.busy(analysis):
        summary = verdict.overhead.summary
        lines.append(
            Text(one_line(f"{summary.environment} ({arrange.place(summary.cell)}): {said}"), style="yellow")
        )
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
    for said in filter(
        None,
        (
            emulated(analysis.outcomes),
            restored(analysis.outcomes),
            uneven_paths_said(analysis.outcomes),
        ),
    ):
        yield Text(one_line(said), style="yellow")


def _weaker(analysis: Analysis) -> Iterable[Text]:
    if said := weaker(analysis.outcomes):
        yield Text(HEADING)
        yield from (Text(f"- {one_line(sentence)}") for sentence in said)


def _busy(analysis: Analysis) -> Iterable[Text]:
    if analysis.busy is not None:
        yield Text(one_line(analysis.busy.sentence), style="yellow")
