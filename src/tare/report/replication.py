# SPDX-License-Identifier: Apache-2.0
"""A paper's own figures beside Tare's, with what is known against them."""

from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tare.drawing.table import add_name_column, name_cell, ruled_table
from tare.drawing.words import NO_VALUE, interval_percent, point_percent, prefixed, quantity
from tare.foreign import one_line
from tare.records import NATIVE, SCHEMA, ArmFigure, Coordinate, Integrity, Replication, Treatment
from tare.report import arrange
from tare.report.integrity import JournalShape
from tare.report.shape import (
    EstimateShape,
    JsonShape,
    MetricShape,
    Number,
    Versioned,
    key,
    printed,
)
from tare.units import format_byte, signed

WHAT = {
    Treatment.B16: "the highest and the lowest run left out, mean and standard deviation of the rest",
    Treatment.B17: "the highest and the lowest run left out, mean, standard deviation and coefficient of variation",
    Treatment.R15: "the mean of all runs with a 95 % t interval",
    Treatment.L12: "of the first five runs the shortest time or highest rate, in percent of native",
}
_TRIMMED = (
    "Runs that were left out are missing from the standard deviation: in simulations an interval made of it held the "
    "true overhead in 89 to 93 % of campaigns where 95 % was promised, and in 64 % of the average overhead where one "
    "environment spikes more often"
)
AGAINST = {
    Treatment.B16: f"{_TRIMMED}.",
    Treatment.B17: f"{_TRIMMED}. A coefficient of variation below 50 % says little: at 10 % ten runs still leave the "
    "overhead open by several points.",
    Treatment.R15: "Each arm has an interval of its own, but the overhead has none. Whether two intervals overlap does "
    "not say whether arms differ. Measured one arm after the other under drift, such intervals held the "
    "true overhead in 25 to 48 % of simulated campaigns.",
    Treatment.L12: "The best of five answers what can be reached, not what is usual, and favours the noisier "
    "environment: in simulations it was off by more than two points in half of all campaigns of equal "
    "noise, and in 87 to 95 % where the environment was noisier or had two modes, at times with the wrong sign.",
}
NOTE = (
    "For replication only; nothing in Tare's verdicts comes from it. The same runs as Tare's, the first native run of "
    "each block; rates are averaged as the papers did."
)

_NAME_WIDTH = 14


def table(
    replications: Sequence[Replication], treatment: Treatment, console: Console, *, show_all: bool
) -> None:
    """Print one table per cell and metric; without ``show_all`` the primary metrics alone."""
    console.print(Text(f"As {treatment.value} did: {WHAT[treatment]}", style="bold"))
    console.print(Text(NOTE))
    console.print(Text(f"Warning: {AGAINST[treatment]}", style="yellow"))
    groups = grouped(each for each in replications if each.primary or show_all)
    if not groups:
        console.print(Text("\nno metric has enough complete blocks for it"))
    for title, rows in groups.items():
        console.print(Text(f"\n{title}", style="bold"))
        console.print(_figures_table(rows))
    if any(each.at for each in replications) and not show_all:
        console.print(Text("\npoints of curves are hidden; --all shows them", style="dim"))


def grouped(replications: Iterable[Replication]) -> dict[str, list[Replication]]:
    """Title → the rows of one table, which share a cell, a metric and a place on a curve."""
    groups: dict[str, list[Replication]] = {}
    for each in replications:
        groups.setdefault(_title(each), []).append(each)
    return groups


def _title(each: Replication) -> str:
    words = [f"{arrange.place(each.cell)}: {one_line(each.metric)} ({one_line(each.unit)})"]
    words += [f"against the same alone on {each.against}"] if each.against != NATIVE else []
    words += ["each instance"] if each.instance is not None else []
    words += [f"{place.name} {_coordinate(place)}" for place in each.at]
    return ", ".join(words)


def _coordinate(place: Coordinate) -> str:
    if place.unit == "B":
        return format_byte(int(place.value))
    return quantity(place.value, place.unit or "").rstrip()


class FigureShape(JsonShape):
    """An arm's figure as the paper computes it, in the metric's own unit."""

    value: Number = key("the figure")
    low: Number = key("lower end of the interval, where the paper gives one")
    high: Number = key("upper end of the interval, where the paper gives one")
    deviation: Number = key("standard deviation; `null` below two runs")
    variation: Number = key("coefficient of variation, a fraction, where the paper gives one")
    runs: int = key("how many runs there were")
    used: int = key("how many of them the figure rests on")


class RunPlaceShape(JsonShape):
    """A coordinate of a place on a curve."""

    name: str = key("such as `size`")
    value: Number = key("where it is")
    unit: str | None = key("its unit; `null`: a count")


class ReplicationShape(MetricShape):
    """One object per cell, metric and environment."""

    unit: str = key("as in a verdict")
    primary: bool = key("as in a verdict")
    native: FigureShape = key("native's figure")
    here: FigureShape = key("the environment's figure")
    percent_of_native: Number = key("the environment's figure in percent of native's")
    overhead: Number = key("the overhead by the paper's figures, as a fraction, without an interval")
    typical: EstimateShape = key("Tare's estimate of the same overhead", "ours")
    against: str = key(
        '"native", or the layout in which the same environment is alone; `native` is then its figure'
    )
    instance: int | None = key("which of several instances; `null`: all together")
    at: list[RunPlaceShape] = key("the place on a curve; empty for a single figure")


class PrintedReplications(Versioned):
    """The object that `tare show RESULT --treatment PAPER --json` prints."""

    treatment: Treatment = key("the paper's short name")
    what: str = key("what the paper's treatment does")
    warning: str = key("what is known against the treatment")
    replications: list[ReplicationShape] = key("the paper's figures beside Tare's")
    journal: JournalShape = key("whether the journal is as it was written")


def json(replications: Sequence[Replication], treatment: Treatment, integrity: Integrity) -> dict[str, Any]:
    """Give the object of ``tare show --treatment --json``."""
    shown = PrintedReplications(
        schema_version=SCHEMA,
        treatment=treatment,
        what=WHAT[treatment],
        warning=AGAINST[treatment],
        replications=replications,
        journal=integrity,
    )
    return printed(PrintedReplications, shown)


def _figures_table(rows: Sequence[Replication]) -> Table:
    titles, *figures = in_words(rows)
    printed = ruled_table()
    add_name_column(printed, titles[0], _NAME_WIDTH)
    for title in titles[1:-1]:
        printed.add_column(title, justify="right", no_wrap=True)
    printed.add_column(titles[-1], justify="right", overflow="fold")
    for name, *others in figures:
        printed.add_row(name_cell(name, _NAME_WIDTH), *others)
    return printed


def in_words(rows: Sequence[Replication]) -> list[tuple[str, ...]]:
    """The titles of a table, then its rows, each below what it is compared with."""
    treatment = rows[0].treatment
    scale, unit = prefixed(rows[0].native.value, rows[0].unit)
    best = treatment is Treatment.L12
    spread = {Treatment.R15: "95 % interval", Treatment.B17: "sd, CV"}.get(treatment, "sd")
    titles = ("arm", one_line(unit), spread, "runs", "of native" if best else "overhead", "by Tare")
    words: list[tuple[str, ...]] = [titles]
    for place, each in enumerate(rows):
        number = "" if each.instance is None else f" {each.instance}"
        if place == 0 or each.native != rows[place - 1].native:
            reference = f"{NATIVE}{number}" if each.against == NATIVE else f"{each.environment} alone"
            words.append((reference, *_figures(each.native, scale), "", ""))
        theirs = f"{each.percent_of_native:.1f} %" if best else f"{signed(f'{100 * each.overhead:.1f}')} %"
        ours = f"{point_percent(each.ours)} ({interval_percent(each.ours)})"
        words.append((f"{each.environment}{number}", *_figures(each.here, scale), theirs, ours))
    return words


def _figures(figure: ArmFigure, scale: float) -> tuple[str, str, str]:
    return f"{figure.value / scale:.4g}", _spread(figure, scale), f"{figure.used} of {figure.runs}"


def _spread(figure: ArmFigure, scale: float) -> str:
    if figure.low is not None and figure.high is not None:
        return f"{figure.low / scale:.4g} to {figure.high / scale:.4g}"
    if figure.deviation is None:
        return NO_VALUE
    variation = "" if figure.variation is None else f", {100 * figure.variation:.1f} %"
    return f"{figure.deviation / scale:.3g}{variation}"
