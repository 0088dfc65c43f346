# SPDX-License-Identifier: Apache-2.0
"""Verdicts, controls and what each instance got, by cell: for programs and a terminal."""

from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from tare.analyze.busy import left_out_said
from tare.analyze.load_said import short_said
from tare.analyze.qualification import qualification, word_said
from tare.drawing.table import add_name_column, name_cell, name_width, ruled_table
from tare.drawing.words import MARK, STYLE, counted, interval_percent, least_level, point_percent, quantity
from tare.foreign import one_line
from tare.records import Check, Direction, Effect, Estimate, Family, Overhead, Stop, Verdict, Withheld, Word
from tare.report import arrange, trust
from tare.report.arrange import MetricSection
from tare.report.load_shapes import LoadEffectShape
from tare.report.shape import (
    FRACTION,
    ByName,
    CellShape,
    EstimateShape,
    JsonShape,
    MetricShape,
    Number,
    key,
    without_interval,
)
from tare.report.stops import LookShape
from tare.treat import per_instance

_FIGURES_WIDTH = 64


class BlockShape(JsonShape):
    """The values of one block, in the metric's unit."""

    block: int = key("its number")
    native: list[Number] = key("the two slots")
    environment: Number = key("the environment's run")


class OverheadShape(JsonShape):
    """One overhead: of a verdict, or of a control. A control is native against native."""

    cell: CellShape = key("the cell that was compared", "summary.cell")
    environment: str = key('its name in the campaign; `"native again"` in a control', "summary.environment")
    metric: str = key("the sample's name", "summary.metric")
    unit: str = key("the sample's unit", "summary.unit")
    direction: ByName[Direction] = key("whether less or more is better", "summary.direction")
    primary: bool = key(
        "true for the workload's metrics that were declared before the start; all others are exploratory",
        "summary.primary",
    )
    typical: EstimateShape = key("the overhead, by aligned ranks; above 0 is slower")
    mean: EstimateShape = key("the mean overhead, with the t interval")
    tail_cost: bool = key("true when the two differ by more than half the interval's width")
    spike_rate: EstimateShape = key(
        "without interval: share of runs above 1.2 times their own median",
        lambda of: without_interval(of.spike_rate, FRACTION, len(of.summary.blocks)),
    )
    native_spike_rate: EstimateShape = key(
        "the same for native, of two runs in each block",
        lambda of: without_interval(of.native_spike_rate, FRACTION, 2 * len(of.summary.blocks)),
    )
    native_median: EstimateShape = key(
        "without interval: native's absolute value in `unit`; its `n` counts blocks, of two runs each",
        lambda of: without_interval(of.native_median, of.summary.unit, len(of.summary.blocks)),
    )
    noise_floor: EstimateShape = key("native against native in the same blocks")
    looks: list[LookShape] = key("each look that was reached; the last one is `typical`")
    stopped: ByName[Stop] | None = key("why no further blocks are run; `null`: more may come")
    blocks: list[BlockShape] = key("the values themselves", "summary.blocks")
    dropped_blocks: int = key(
        "blocks begun that lack this environment or a native slot", "summary.dropped_blocks"
    )
    busy_blocks: list[BlockShape] = key(
        "the values of blocks that are left out because others kept the host busy; empty where too few other blocks "
        "are left: then `blocks` has them",
        "summary.busy_blocks",
    )
    busy_blocks_why: str | None = key(
        "who took how much in the blocks left out; `null` where none is",
        lambda of: left_out_said(of.summary),
    )


class ControlShape(OverheadShape):
    """Native judged against native."""

    native_p: Number = key(
        'the p-value of "both natives are alike", adjusted among all controls; at 0.05 or less native differs from '
        "itself"
    )


class StandingShape(JsonShape):
    """A claim among all claims of its family ([method.md](method.md), "Many comparisons")."""

    family: Family = key("the claim's family; primary claims were declared before the start")
    size: int = key("how many claims it has")
    difference_p: float = key('p-value of "no difference", by itself')
    adjusted_difference_p: float = key(
        "the same among all claims: 0.05 or less where `together` leaves out 0"
    )
    equivalence_p: float = key('p-value of "not within the margin", by itself')
    adjusted_equivalence_p: float = key(
        "the same among all claims: 0.05 or less where both ends of `together` lie within the margin"
    )
    together: EstimateShape = key(
        "the overhead with the interval from which the word is read, and which is printed beside it: it holds "
        "together with those of all other claims of the family; `typical` holds by itself"
    )


class FindingShape(JsonShape):
    """A check of the values behind an interval for which there were enough blocks."""

    check: Check = key("what was looked for")
    effect: ByName[Effect] = key(
        "the consequence of a finding: it widens the interval, qualifies the verdict, or is only stored"
    )
    statistic: Number = key("the check's statistic")
    limit: Number = key("the largest statistic that is not remarkable; `null` where `p` decides")
    p: Number = key("its p-value; `null` where `limit` decides")
    n: int = key("how many values were checked")
    found: bool = key("whether it found anything")
    sentence: str = key("the finding in words; empty when nothing was found")


class SlowRunsShape(JsonShape):
    """Runs that took more than a fifth more time than the middle one ([method.md](method.md))."""

    runs: int = key("how many the environment had")
    slow: int = key("how many of them were slow")
    by: Number = key(
        "by how much these exceeded the middle one, in the mean, as a fraction; `null` without any"
    )
    native_runs: int = key("how many both native slots had")
    native_slow: int = key("how many of them were slow")
    native_by: Number = key("as `by`")


class QualificationShape(JsonShape):
    """Why the claim is about the typical run alone; at least one key is not `null`."""

    mean: EstimateShape | None = key("the mean overhead, where it may lie beyond what the claim allows")
    slow: SlowRunsShape | None = key(
        "runs, in turns slices, that may cost more in the mean than the claim allows"
    )
    slow_starts: SlowRunsShape | None = key("the same of the nodes' starts, in turns")


class VerdictShape(OverheadShape):
    """The conclusion about one overhead."""

    word: ByName[Word] = key("the verdict; bounded: it costs at most `at_most`")
    within: Number = key("the narrowest of the nested margins that holds, as a fraction; `null` if none does")
    at_most: Number = key("the upper bound of a bounded cost, as a fraction; otherwise `null`")
    sentence: str = key("the verdict in words")
    qualification: QualificationShape | None = key(
        "why the sentence says *typically*; `null`: the claim holds for the mean too, or nothing is claimed",
        qualification,
    )
    withheld: Withheld | None = key(
        "why no claim is made although there are figures: too few blocks are left without a busy host, or native "
        "against itself differs by more than the claim; `null`: nothing is withheld. The word is then "
        '`"undecided"`, and so is `alone` ([method.md](method.md))'
    )
    released: bool = key(
        "whether the claim rests on busy blocks and holds even if all of their load cost this arm alone, or native "
        "alone where it is faster; `typical` and `together` then begin at what is left of the difference in that case"
    )
    load: LoadEffectShape | None = key(
        "what the load of others alone could make of the difference, if it is released, or would not be claimed of "
        "times without that load; `null` otherwise"
    )
    more_blocks: int | None = key(
        "about how many further blocks would decide; `null` when decided or not estimable"
    )
    below_noise_floor: bool = key(
        "true when the whole interval lies within what native against native showed"
    )
    warnings: list[str] = key(
        "sentences on the trials behind it: many excluded by rules, another program, another BLAS kernel; mostly empty"
    )
    alone: ByName[Word] | None = key(
        "the word of this claim if it were the campaign's only one; `null`: not determined"
    )
    standing: StandingShape | None = key("the claim among all claims of its family; `null`: not determined")
    findings: list[FindingShape] = key("the checks of the values behind the interval")

    @classmethod
    def taken(cls, record: Any, **given: Any) -> dict[str, Any]:
        """Take the keys that every overhead has from the verdict's overhead."""
        return super().taken(record, **OverheadShape.taken(record.overhead), **given)


class InstanceShape(MetricShape):
    """The values of one of several instances, over all trials of one environment, native included."""

    instance: int = key("its number, from 0")
    direction: ByName[Direction] = key("as in a verdict")
    median: EstimateShape = key(
        "without interval; `n` counts trials", lambda of: without_interval(of.median, of.unit, of.n)
    )
    minimum: Number = key("in the same unit")
    maximum: Number = key("in the same unit")


class VerdictsJson(JsonShape):
    verdicts: list[VerdictShape] = key("one object per cell, metric and environment")
    controls: list[ControlShape] = key("native judged against native, one object per cell and metric")
    instances: list[InstanceShape] = key(
        "the figures of each of several instances; empty with one instance",
        lambda analysis: per_instance(analysis.outcomes),
    )


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
    level = least_level(estimate for _, estimate in metric.shown)
    add_name_column(printed, "environment", width)
    printed.add_column("overhead", justify="right", no_wrap=True, min_width=8)
    printed.add_column(f"interval (≥ {level})", justify="right", no_wrap=True, min_width=18)
    printed.add_column("verdict", overflow="fold", width=19)
    printed.add_column("n", justify="right", no_wrap=True, min_width=3)
    for verdict in verdicts:
        word = Text(
            f"{MARK[verdict.word]} {word_said(verdict)}{_remarks(verdict)}", style=STYLE[verdict.word]
        )
        printed.add_row(*_cells(verdict.overhead, verdict.shown, word, width))
    if metric.control:
        printed.add_row(
            *_cells(
                metric.control,
                metric.control.typical,
                Text(f"  {arrange.control_word(metric.control)}"),
                width,
            ),
            style="dim",
        )
    return printed


def _cells(overhead: Overhead, shown: Estimate, word: Text, width: int) -> tuple[str | Text, ...]:
    figures = (point_percent(shown), interval_percent(shown))
    return (name_cell(overhead.summary.environment, width), *figures, word, str(shown.n))


def _others(verdicts: Iterable[Verdict]) -> Iterable[Text]:
    names: dict[tuple[Word, str], list[str]] = {}
    for verdict in verdicts:
        own = names.setdefault((verdict.word, word_said(verdict)), [])
        own.append(one_line(verdict.overhead.summary.environment))
    for (word, said), alike in names.items():
        yield Text(f" {MARK[word]} {said}: {', '.join(alike)}", style="dim")


def _remarks(verdict: Verdict) -> str:
    remarks = [trust.alone_said(verdict)]
    if verdict.below_noise_floor and verdict.word in (Word.SLOWER, Word.FASTER):
        remarks.append(", but below the noise floor")
    remarks.append(short_said(verdict))
    if tail := trust.tail_said(verdict.overhead):
        remarks.append(f"; {tail}: mean {point_percent(verdict.overhead.mean)}")
    return "".join(remarks)


def _title(metric: MetricSection) -> Text:
    summary = metric.reference.summary
    title = Text(one_line(metric.name), style="bold")
    if metric.primary:
        title.append(" * primary")
    title.append(metric.as_time)
    native = quantity(metric.reference.native_median, one_line(summary.unit))
    return title.append(f" (native median {native}, n = {len(summary.blocks)})", style="not bold")
