# SPDX-License-Identifier: Apache-2.0
"""The look of each environment, the same in every picture and key of a page."""

from collections.abc import Sequence
from dataclasses import dataclass

OUTLINES = {
    "circle": "M5,0A5,5,0,1,1,-5,0A5,5,0,1,1,5,0Z",
    "square": "M-4.5,-4.5H4.5V4.5H-4.5Z",
    "triangle-up": "M0,-5L5.5,4.5H-5.5Z",
    "diamond": "M0,-6L5,0L0,6L-5,0Z",
    "cross": "M-2,-5.5H2V-2H5.5V2H2V5.5H-2V2H-5.5V-2H-2Z",
    "triangle-down": "M0,5L-5.5,-4.5H5.5Z",
    "triangle-right": "M5,0L-4.5,5.5V-5.5Z",
}
"""Vega's symbol names, each with an SVG path for the keys, within ±6 px."""
COLOURS = 8
"""The style sheet's ``--e0`` to ``--e7``; with 7 shapes they give 56 different looks."""
PAPER = "var(--paper)"


@dataclass(frozen=True, slots=True)
class MarkStyle:
    shape: str
    colour: str

    @property
    def outline(self) -> str:
        return OUTLINES[self.shape]


CONTROL = MarkStyle("circle", "var(--control)")


def looks(environments: Sequence[str]) -> dict[str, MarkStyle]:
    """One look per environment, by its place in the list."""
    shapes = tuple(OUTLINES)
    return {
        name: MarkStyle(shapes[number % len(shapes)], f"var(--e{number % COLOURS})")
        for number, name in enumerate(environments)
    }
