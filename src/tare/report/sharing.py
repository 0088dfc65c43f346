# SPDX-License-Identifier: Apache-2.0
"""What company costs an instance, in each environment and natively: for programs, for a terminal, for the page."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tare.drawing.artist import Artist, Figure, Specification
from tare.drawing.axis import Axis
from tare.drawing.canvas import Row
from tare.drawing.interval_chart import Frame, Section, interval_chart, interval_row, span, word_label
from tare.drawing.marks import CONTROL, MarkStyle
from tare.drawing.table import add_name_column, name_cell, name_width, ruled_table
from tare.drawing.words import (
    MARK,
    STYLE,
    counted,
    index,
    index_interval,
    interval_percent,
    least_level,
    point_percent,
)
from tare.foreign import one_line
from tare.records import NATIVE, Analysis, Direction, SharedCell, SharingLoss, SharingSummary, Withheld, Word
from tare.report.arrange import layout_of, place
from tare.report.load_shapes import BusyBlocksShape
from tare.report.page import MISSING, PageSection, section
from tare.report.shape import ByName, CellShape, EstimateShape, JsonShape, Number, key, without_interval
from tare.report.trust import alone_said
from tare.report.verdicts import StandingShape

EXPLANATION = (
    "How much more time the same work takes an instance with company than alone, "
    "in the same environment and block"
)
_OF_GROUPS = "An instance of a group is compared with the one in its place when its group is alone."
_FAIRNESS = (
    "Spread: (most - least) / mean of the instances' times per work; Jain's index is 1 when all rates are equal; "
    "noise alone makes some spread. Skew: median and longest delay of an instance's start after the first. "
    "CV: coefficient of variation of one instance's times per work from block to block."
)
_FIGURES_WIDTH = 64
"""What all but the names take in the wider of the tables."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedMetric:
    """One metric of one cell with company: what it costs in each environment, native first."""

    cells: SharedCell
    losses: tuple[SharingLoss, ...]

    @property
    def name(self) -> str:
        return self.losses[0].summary.metric

    @property
    def primary(self) -> bool:
        return self.losses[0].summary.primary

    @property
    def several(self) -> bool:
        """Whether there are several instances, which may share more or less fairly."""
        return len(self.losses[0].each) > 1


def shared_metrics(analysis: Analysis) -> tuple[SharedMetric, ...]:
    """Cell after cell with company, in each the primary metric first."""
    by_metric: dict[tuple[SharedCell, str, str, Direction], list[SharingLoss]] = {}
    for loss in analysis.sharing:
        own = loss.summary
        by_metric.setdefault((own.cells, own.metric, own.unit, own.direction), []).append(loss)
    return tuple(SharedMetric(cells=key[0], losses=tuple(losses)) for key, losses in by_metric.items())


def company_note(cells: SharedCell) -> str:
    """Such as "2 instances in one node", or "2 groups of 2 instances"."""
    layout, alone = layout_of(cells.shared), layout_of(cells.alone)
    group = f"{alone.instances} instances"
    if "+" in cells.shared.layout:
        return f"{'one instance' if alone.instances == 1 else f'a group of {group}'} beside a neighbour"
    if alone.instances > 1 and layout.nodes > alone.nodes:
        return f"{layout.nodes // alone.nodes} groups of {group}"
    return f"{layout.instances} instances in {'one node' if layout.nodes == 1 else f'{layout.nodes} nodes'}"


def skew_said(loss: SharingLoss) -> str:
    """Median and largest start of an instance after the first, over trials, in ms; empty with one instance.

    With their bound if the clocks of several hosts were compared.
    """
    if loss.skew_s is None or loss.longest_skew_s is None:
        return ""
    bound = f" \N{PLUS-MINUS SIGN} {1000 * loss.skew_bound_s:.2f}" if loss.skew_bound_s else ""
    return f"{1000 * loss.skew_s:.2f}, {1000 * loss.longest_skew_s:.2f}{bound}"


class SkewShape(JsonShape):
    """How much later than the first another instance's program began."""

    median: EstimateShape = key("without interval, in seconds; `n` counts trials")
    maximum: Number = key("in seconds")
    bound: Number = key(
        "largest error of any trial's, as clocks of several hosts are compared; 0 on one host, `null`: not known"
    )


class LossesShape(JsonShape):
    """The losses of one block."""

    block: int = key("its number")
    log_losses: list[Number] = key("for each instance, ln of the ratio of the times per work")


def _skew(loss: SharingLoss) -> SkewShape | None:
    if loss.skew_s is None:
        return None
    median = without_interval(loss.skew_s, "s", len(loss.summary.skews_s))
    return SkewShape(median=median, maximum=loss.longest_skew_s, bound=loss.skew_bound_s)


def _blocks(summary: SharingSummary) -> list[LossesShape]:
    return [
        LossesShape(block=block, log_losses=losses)
        for block, losses in zip(summary.blocks, summary.log_losses, strict=True)
    ]


class LossShape(JsonShape):
    """One object per cell with company, metric and environment, native included.

    [sharing.md](sharing.md) defines the figures.
    """

    cell: CellShape = key("the cell with company", "summary.cells.shared")
    alone: CellShape = key("the cell of the instance alone", "summary.cells.alone")
    environment: str = key("as in a verdict", "summary.environment")
    metric: str = key("as in a verdict", "summary.metric")
    direction: ByName[Direction] = key("as in a verdict", "summary.direction")
    primary: bool = key("as in a verdict", "summary.primary")
    loss: EstimateShape = key(
        "how much more time the same work takes with company, all instances joined; above 0 is a loss",
        "typical",
    )
    word: ByName[Word] = key(
        "as in a verdict, by the declared margin: it holds together with the other losses"
    )
    by_itself: ByName[Word] = key("the word if it were the campaign's only loss", "alone")
    standing: StandingShape = key("the loss among all losses of its family")
    withheld: Withheld | None = key("as in a verdict")
    each: list[EstimateShape] = key("the same for each instance, by its number")
    variations: list[EstimateShape] = key(
        "coefficient of variation of each instance's times per work with company, from block to block; empty with one "
        "block"
    )
    beyond_native: EstimateShape | None = key("how much more is lost than natively; `null` for native")
    spread: EstimateShape | None = key(
        "median of (most - least) / mean of the instances' times per work; `null` with one instance"
    )
    jain_index: EstimateShape | None = key(
        "median of Jain's index of the instances' rates; `null` with one instance"
    )
    barrier_skew: SkewShape | None = key(
        "how much later than the first an instance began; `null` with one instance", _skew
    )
    blocks: list[LossesShape] = key("the values themselves", lambda of: _blocks(of.summary))
    dropped_blocks: int = key(
        "blocks begun that lack a trial of this environment, with company or alone", "summary.dropped_blocks"
    )
    busy: BusyBlocksShape = key("complete blocks in which others kept the host busy", "summary.busy")


class SharingJson(JsonShape):
    sharing: list[LossShape] = key("what company costs an instance; empty without a sharing experiment")


def table(analysis: Analysis, console: Console, *, show_all: bool) -> None:
    """Print the losses by primary metrics, with ``show_all`` by all; nothing without a sharing experiment."""
    metrics = shared_metrics(analysis)
    if not metrics:
        return
    console.print(Text("\nSharing", style="bold"))
    console.print(Text(f"{EXPLANATION}."))
    shown = [metric for metric in metrics if show_all or metric.primary]
    for metric in shown:
        width = name_width(
            (loss.summary.environment for loss in metric.losses), console.width - _FIGURES_WIDTH
        )
        below = (*_only_by_themselves(metric), *_beyond_native(metric))
        console.print(_title(metric), _losses(metric, width), *below, sep="\n")
        if metric.several:
            console.print("", _fairness(metric, width), *_variations(metric), sep="\n")
    for said in filter(None, (jointly_said(shown), _FAIRNESS * any(metric.several for metric in shown))):
        console.print(Text(f"\n{said}", style="dim"))
    if hidden := len(metrics) - len(shown):
        hint = f"sharing by {counted(hidden, 'other metric')} hidden; --all shows every row"
        console.print(Text(f"\n{hint}", style="dim"))


def jointly_said(metrics: Sequence[SharedMetric]) -> str:
    """What holds together, and what an instance of a group is compared with."""
    sizes = {loss.standing.size for metric in metrics if metric.primary for loss in metric.losses}
    said = [_OF_GROUPS] if any(layout_of(metric.cells.alone).instances > 1 for metric in metrics) else []
    if (size := max(sizes, default=1)) > 1:
        said.append(
            f"The {size} verdicts by primary metrics hold together: the chance that any of them is wrong is at most "
            "5 %. Each is read from its interval, which holds jointly with the others."
        )
    return " ".join(said)


def _title(metric: SharedMetric) -> Text:
    cells = metric.cells
    title = Text(f"\n{place(cells.shared)}", style="bold")
    title.append(f", {one_line(metric.name)}", style="bold")
    title.append(
        f" ({company_note(cells)}; alone: {cells.alone.layout})",
        style="not bold",
    )
    return title


def _losses(metric: SharedMetric, width: int) -> Table:
    printed = _empty_table(width)
    level = least_level(loss.shown for loss in metric.losses)
    printed.add_column("loss", justify="right", no_wrap=True, width=8)
    printed.add_column(f"interval (≥ {level})", justify="right", no_wrap=True, min_width=18)
    printed.add_column("verdict", overflow="fold", width=19)
    printed.add_column("n", justify="right", no_wrap=True, min_width=3)
    for loss in metric.losses:
        word = Text(f"{MARK[loss.word]} {loss.said}", style=STYLE[loss.word])
        figures = (point_percent(loss.shown), interval_percent(loss.shown))
        printed.add_row(name_cell(loss.summary.environment, width), *figures, word, str(loss.shown.n))
    return printed


def _only_by_themselves(metric: SharedMetric) -> Iterable[Text]:
    for loss in metric.losses:
        if said := alone_said(loss).removeprefix("; "):
            yield Text(f" {one_line(loss.summary.environment)} {said}, not among all losses", style="dim")


def _beyond_native(metric: SharedMetric) -> Iterable[Text]:
    for loss in metric.losses:
        if beyond := loss.beyond_native:
            figures = f"{point_percent(beyond)}, interval {interval_percent(beyond)} (n = {beyond.n})"
            name = one_line(loss.summary.environment)
            yield Text(f" {name} beyond native's loss: {figures}", style="dim")


def _variations(metric: SharedMetric) -> Iterable[Text]:
    for loss in metric.losses:
        if loss.variations:
            each = ", ".join(
                f"{point_percent(own).removeprefix('+')} ({interval_percent(own)})" for own in loss.variations
            )
            name = one_line(loss.summary.environment)
            yield Text(f" {name}, CV of each instance: {each}; n = {loss.variations[0].n}", style="dim")


def _fairness(metric: SharedMetric, width: int) -> Table:
    printed = _empty_table(width)
    for title in ("spread", "Jain's index", "skew in ms"):
        printed.add_column(title, justify="right", no_wrap=True)
    for loss in metric.losses:
        if loss.spread and loss.jain_index:
            printed.add_row(
                name_cell(loss.summary.environment, width),
                f"{point_percent(loss.spread).removeprefix('+')} ({interval_percent(loss.spread)})",
                f"{index(loss.jain_index.point)} ({index_interval(loss.jain_index)})",
                skew_said(loss),
            )
    return printed


def _empty_table(width: int) -> Table:
    printed = ruled_table()
    add_name_column(printed, "environment", width)
    return printed


def html(analysis: Analysis, artist: Artist) -> Sequence[PageSection]:
    """The primary metric of every cell with company in one picture, and all figures."""
    metrics = shared_metrics(analysis)
    if not metrics:
        return [MISSING]
    shown = section(
        "sharing",
        "Sharing",
        explanation=EXPLANATION,
        figure=_figure([metric for metric in metrics if metric.primary], artist),
        shared=metrics,
        margin=analysis.margin,
        company_note=company_note,
        jointly_said=jointly_said(metrics),
        alone_said=alone_said,
        skew_said=skew_said,
        index=index,
        index_interval=index_interval,
    )
    return [shown]


def _figure(primary: Sequence[SharedMetric], artist: Artist) -> Figure | None:
    if not primary:
        return None
    return artist.overheads(
        lambda axis, frame: sharing_chart(primary, artist.looks, axis, artist.margin, frame),
        loss_extent(primary),
        "Loss by company, primary metrics",
        losses_described(primary),
    )


def loss_extent(metrics: Iterable[SharedMetric]) -> Iterator[float]:
    """All losses that a chart of ``metrics`` must have room for."""
    for metric in metrics:
        for estimate in (loss.shown for loss in metric.losses):
            yield from (value for value in (estimate.point, estimate.low, estimate.high) if value is not None)


def losses_described(metrics: Iterable[SharedMetric]) -> str:
    """The picture in words, for those who hear the page."""
    return "; ".join(
        f"{one_line(loss.summary.environment)}, {place(metric.cells.shared)}, {one_line(metric.name)}: "
        f"{point_percent(loss.shown)}, interval {interval_percent(loss.shown)}, n = {loss.shown.n}"
        for metric in metrics
        for loss in metric.losses
    )


def sharing_chart(
    metrics: Sequence[SharedMetric], looks: Mapping[str, MarkStyle], axis: Axis, margin: float, frame: Frame
) -> Specification:
    """Describe the chart in Vega-Lite; native's own loss is shaded behind the others."""
    sections = [
        Section(
            rows=[_row(loss, looks) for loss in metric.losses],
            heading=f"{place(metric.cells.shared)}: {metric.name}",
            band=next(
                (span(loss.shown) for loss in metric.losses if loss.summary.environment == NATIVE), None
            ),
        )
        for metric in metrics
    ]
    return interval_chart(sections, axis, margin, frame)


def _row(loss: SharingLoss, looks: Mapping[str, MarkStyle]) -> Row:
    name = loss.summary.environment
    return interval_row(
        name,
        loss.summary.metric,
        loss.shown,
        word_label(loss.said),
        CONTROL if name == NATIVE else looks[name],
        decided=loss.word is not Word.UNDECIDED,
        quiet=name == NATIVE,
    )
