# SPDX-License-Identifier: Apache-2.0
"""The pictures of one page: each in a wide and a narrow version, with the same look for an environment in all."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from tare.drawing.axis import Axis, overhead_axis
from tare.drawing.interval_chart import CHARACTER_EM, Frame
from tare.drawing.marks import looks
from tare.drawing.svg import Picture, render

WIDTHS = ("wide", "narrow")
"""Classes of a picture; the style sheet shows one of them."""
_WIDE = Frame(plot_px=590, gutter_px=0, figures_px=370, row_px=21, font_px=13)
_NARROW = Frame(plot_px=350, gutter_px=0, figures_px=0, row_px=21, font_px=12.5)
_LONGEST_GUTTER_PX = {"wide": 230.0, "narrow": 136.0}

Specification: TypeAlias = dict[str, Any]
"""A chart in Vega-Lite."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One picture, drawn for a wide and a narrow page."""

    wide: str
    narrow: str
    logarithmic: bool


class Artist:
    """Draws pictures, each with its own identity in the page."""

    def __init__(self, environments: Sequence[str], margin: float, control: str) -> None:
        """``margin``: the fraction that counts as no difference; ``control``: the name of native's second slot."""
        self.looks = looks(environments)
        self.margin = margin
        self._names = (*environments, control)
        self._drawn = 0

    def overheads(
        self,
        describe: Callable[[Axis, Frame], Specification],
        values: Iterable[float],
        title: str,
        description: str,
        names: Iterable[str] = (),
    ) -> Figure:
        """Draw a chart of fractions with room for ``values``; ``description`` is the picture in words.

        ``names``: of the rows, where they are not environments alone.
        """
        every, axes = list(values), []

        def on_axis(frame: Frame) -> Specification:
            axes.append(overhead_axis(every, self.margin, frame.plot_px))
            return describe(axes[-1], frame)

        figure = self.rows(on_axis, title, description, names)
        return replace(figure, logarithmic=axes[-1].constant is not None)

    def rows(
        self,
        describe: Callable[[Frame], Specification],
        title: str,
        description: str,
        names: Iterable[str] = (),
    ) -> Figure:
        """Draw a chart whose rows are environments, or have other ``names`` too."""
        every = (*self._names, *names)
        frames = (_with_gutter(_WIDE, every, "wide"), _with_gutter(_NARROW, every, "narrow"))
        return self.figure([describe(frame) for frame in frames], title, description)

    def figure(self, charts: Sequence[Specification], title: str, description: str) -> Figure:
        """Draw the chart for a wide page and the one for a narrow page."""
        wide, narrow = (
            self.picture(chart, title, description, width)
            for chart, width in zip(charts, WIDTHS, strict=True)
        )
        return Figure(wide=wide, narrow=narrow, logarithmic=False)

    def picture(self, chart: Specification, title: str, description: str, classes: str) -> str:
        self._drawn += 1
        identity = f"picture{self._drawn}"
        return render(
            chart, Picture(identity=identity, title=title, description=description, classes=classes)
        )


def _with_gutter(whole: Frame, names: Iterable[str], width: str) -> Frame:
    """Give the names the room they need, up to a limit, at the plot's cost."""
    longest = max(map(len, names))
    gutter_px = min(longest * CHARACTER_EM * whole.font_px + 14, _LONGEST_GUTTER_PX[width])
    return replace(whole, gutter_px=gutter_px, plot_px=whole.plot_px - gutter_px)
