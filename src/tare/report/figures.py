# SPDX-License-Identifier: Apache-2.0
"""The report's pictures as files of their own, for papers and slides: light, of the page's width, with safe fonts."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from tare.drawing.artist import Artist, Specification
from tare.drawing.marks import CONTROL, MarkStyle
from tare.drawing.svg import Picture, standalone
from tare.foreign import one_line
from tare.records import Analysis
from tare.report import arrange
from tare.report.document import render_report
from tare.report.published import ShownView, figure_of

FONTS = "Arial, 'Liberation Sans', Helvetica, sans-serif"
"""They have the same widths, and every system and TeX distribution has one of them."""
_LONGEST_NAME = 80
_HEADING_PX = 36
_VARIABLE = re.compile(r"var\((--[a-z0-9]+)\)", re.ASCII)
_MARK = "<!--figure {}-->"
"""Foreign text has its angle brackets escaped."""
_SHOWN_ONCE = ("wide", "panel")
"""Classes of pictures that are no narrow version of another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StandaloneFigure:
    """One picture of the report."""

    name: str
    """Of its file, without an ending; safe in every file system and in LaTeX."""
    title: str
    description: str
    """The picture in words."""
    svg: str


class _Collector(Artist):
    """Draws nothing: keeps what would be drawn, and leaves a mark in its place."""

    def __init__(self, environments: Sequence[str], margin: float, control: str) -> None:
        super().__init__(environments, margin, control)
        self.kept: list[tuple[Specification, str, str]] = []

    def picture(self, chart: Specification, title: str, description: str, classes: str) -> str:
        if classes not in _SHOWN_ONCE:
            return ""
        # the page has a panel's heading beside it
        self.kept.append((_headed(chart, title) if classes == "panel" else chart, title, description))
        return _MARK.format(len(self.kept) - 1)


def _headed(chart: Specification, title: str) -> Specification:
    """With a metric and its unit above, and below it whose samples: a panel is too narrow for one line."""
    metric, _, samples = title.partition(", ")
    what, _, whose = samples.partition(": ")
    padding = chart["padding"] | {"top": chart["padding"]["top"] + _HEADING_PX}
    heading = {
        "text": metric,
        "subtitle": what if metric.startswith(whose) else samples,
        "anchor": "start",
        "fontSize": 12,
        "subtitleFontSize": 11,
        "font": FONTS,
        "subtitleFont": FONTS,
        "color": "var(--ink)",
        "subtitleColor": "var(--soft)",
    }
    return chart | {"title": heading, "padding": padding}


def figures(analysis: Analysis) -> tuple[list[StandaloneFigure], str]:
    """All pictures of the report, in its order, and a key that says whose marks are which."""
    collectors: list[_Collector] = []

    def collector(*given: Any) -> _Collector:
        collectors.append(_Collector(*given))
        return collectors[0]

    page = render_report(analysis, collector)
    kept, looks = collectors[0].kept, collectors[0].looks
    ordered = sorted(range(len(kept)), key=lambda place: page.index(_MARK.format(place)))
    drawn = [_figure(number, len(kept), *kept[place]) for number, place in enumerate(ordered, 1)]
    return drawn, _key(looks)


def view_figure(analysis: Analysis, shown: ShownView) -> str | None:
    """A paper's view as an SVG file of its own; ``None`` where there is nothing to draw."""
    collector = _Collector(arrange.environments(analysis), analysis.margin, arrange.CONTROL)
    if figure_of(shown, collector) is None:
        return None
    chart, title, description = collector.kept[0]
    headed = _headed(chart, f"{shown.paper}, {shown.view.name}, {shown.view.shows}")
    return standalone(_resolved(headed), Picture(identity="figure", title=title, description=description))


def _figure(number: int, count: int, chart: Specification, title: str, description: str) -> StandaloneFigure:
    subject, _, panel = title.rpartition(": ")
    said = subject if panel and subject.startswith(panel) else title
    name = re.sub(r"[^a-z0-9]+", "-", said.lower())[:_LONGEST_NAME].strip("-")
    picture = Picture(identity="figure", title=title, description=description)
    return StandaloneFigure(
        name=f"{number:0{len(str(count))}d}-{name}",
        title=title,
        description=description,
        svg=standalone(_resolved(chart), picture),
    )


def _key(looks: Mapping[str, MarkStyle]) -> str:
    marks = {"native": CONTROL, **looks}
    return "; ".join(
        f"{one_line(name)}: {look.shape}, {_resolved(look.colour)}" for name, look in marks.items()
    )


def _resolved(value: Any) -> Any:
    """The same with the light page's colours, and with fonts that others have, in the place of variables."""
    if isinstance(value, Mapping):
        return {name: _resolved(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_resolved(inner) for inner in value]
    return _VARIABLE.sub(lambda match: _light()[match[1]], value) if isinstance(value, str) else value


@cache
def _light() -> Mapping[str, str]:
    """Variable → value, from the first rule of the page's style sheet."""
    style = (files("tare.report") / "templates" / "style.css").read_text(encoding="utf-8")
    rule = style.partition(":root {")[2].partition("}")[0]
    given = dict(re.findall(r"(--[a-z0-9]+): ([^;]+);", rule))
    return given | {"--sans": FONTS}
