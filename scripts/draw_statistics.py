# SPDX-License-Identifier: Apache-2.0
"""The pictures of docs/statistics-in-pictures.md, from simulations with a fixed seed and Tare's own estimators.

    python -m scripts.draw_statistics

Writes docs/images/statistics-*.svg; a test holds that they are what this draws.
"""

import math
import random
from collections.abc import Mapping, Sequence
from html import escape
from itertools import accumulate
from pathlib import Path
from statistics import NormalDist, fmean, median

import numpy as np

from tare.statistics.aligned_ranks import bounds, points
from tare.statistics.boundary import boundary, spending

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "images"
SEED = 2
TRUE = math.log(1.05)
"""The planted overhead, a logarithm."""
WIDTH_PX = 640
INK, SOFT, LINE, NATIVE, OTHER, WRONG = "#1b2026", "#5a636d", "#d5dbe1", "#6a737d", "#0b62a8", "#c2410c"


class Drawing:
    """Shapes on white paper, in pixels."""

    def __init__(self, height_px: int, title: str) -> None:
        self._shapes = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH_PX} {height_px}" role="img"',
            f'aria-label="{escape(title)}" font-family="Arial, Helvetica, sans-serif" font-size="16">',
            f'<rect width="{WIDTH_PX}" height="{height_px}" fill="#ffffff"/>',
        ]

    def line(self, x1: float, y1: float, x2: float, y2: float, colour: str = LINE, look: str = "") -> None:
        self._shapes.append(
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" {look}/>'
        )

    def dot(self, x: float, y: float, colour: str, radius: float = 3.5) -> None:
        self._shapes.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" fill="{colour}"/>')

    def area(self, x: float, y: float, width: float, height: float, colour: str) -> None:
        self._shapes.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{colour}"/>'
        )

    def path(self, places: Sequence[tuple[float, float]], colour: str) -> None:
        said = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        self._shapes.append(f'<polyline points="{said}" fill="none" stroke="{colour}" stroke-width="2"/>')

    def text(self, x: float, y: float, words: str, colour: str = INK, anchor: str = "start") -> None:
        self._shapes.append(
            f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" text-anchor="{anchor}">{escape(words)}</text>'
        )

    def __str__(self) -> str:
        return "\n".join([*self._shapes, "</svg>"]) + "\n"


def pictures() -> dict[str, str]:
    """File → SVG."""
    drawn = {
        "drift": drift(),
        "intervals": intervals(),
        "words": words(),
        "looks": looks(),
        "spikes": spikes(),
    }
    return {f"statistics-{name}.svg": str(drawing) for name, drawing in drawn.items()}


def drift() -> Drawing:
    """The same slow machine, measured arm after arm and in blocks."""
    drawing = Drawing(256, "Runs on a machine that becomes slower: all native runs first, and in blocks")
    blocks = [["native", "box", "native"], ["box", "native", "native"], ["native", "native", "box"]]
    orders = {
        "all native runs, then all of the box": ["native"] * 20 + ["box"] * 10,
        "in blocks, in random order": [arm for block in range(10) for arm in blocks[block % 3]],
    }
    for place, (heading, order) in enumerate(orders.items()):
        _drift(drawing, 30 + 310 * place, heading, order)
    drawing.dot(30, 240, NATIVE)
    drawing.text(40, 246, "native", SOFT)
    drawing.dot(120, 240, OTHER)
    drawing.text(130, 246, "the box, truly 5 % slower", SOFT)
    return drawing


def _drift(drawing: Drawing, left: float, heading: str, order: Sequence[str]) -> None:
    drawn = random.Random(SEED)  # noqa: S311 - a simulation
    times = [
        0.1 * number / len(order) + (TRUE if arm == "box" else 0.0) + drawn.gauss(0, 0.008)
        for number, arm in enumerate(order)
    ]
    for number, (arm, time) in enumerate(zip(order, times, strict=True)):
        drawing.dot(left + 9 * number + 5, 200 - 900 * time, OTHER if arm == "box" else NATIVE)
    drawing.line(left, 212, left + 275, 212, SOFT)
    drawing.text(left, 20, heading)
    drawing.text(left, 40, f"measured: {_measured(order, times):+.1f} %", SOFT)
    drawing.text(left + 275, 229, "time of day", SOFT, "end")


def _measured(order: Sequence[str], times: Sequence[float]) -> float:
    """The overhead in per cent, from the means of all runs of each arm."""
    arms = {
        arm: fmean(time for own, time in zip(order, times, strict=True) if own == arm)
        for arm in ("native", "box")
    }
    return 100 * math.expm1(arms["box"] - arms["native"])


def intervals() -> Drawing:
    """60 campaigns of ten blocks, each with its interval, and how many of 4000 hold the truth."""
    drawn = np.random.default_rng(SEED)
    runs = drawn.normal(0, 0.03, (4000, 10, 3)) + drawn.normal(0, 0.05, (4000, 10, 1))
    ratios, controls = runs[..., 2] + TRUE - runs[..., :2].mean(axis=-1), runs[..., 1] - runs[..., 0]
    low, high = bounds(ratios, controls, 0.05)
    middle = points(ratios, controls)
    misses = (low > TRUE) | (high < TRUE)
    drawing = Drawing(270, "60 of 4000 simulated campaigns: most intervals hold the truth")

    def height(value: float) -> float:
        return 145 - 1000 * (value - TRUE)

    drawing.line(30, height(TRUE), 620, height(TRUE), INK)
    for number in range(60):
        x, colour = 40 + 9.6 * number, WRONG if misses[number] else OTHER
        drawing.line(x, height(low[number]), x, height(high[number]), colour, 'stroke-width="2"')
        drawing.dot(x, height(middle[number]), colour, 2.5)
    drawing.text(30, 20, f"60 campaigns of ten blocks: {misses[:60].sum()} intervals miss the truth")
    drawing.text(30, 42, f"of 4000 such campaigns: {100 * misses.mean():.1f} %", SOFT)
    drawing.text(30, 258, "line: the planted 5 %; bars: each campaign's 95 % interval", SOFT)
    return drawing


WORDS = (
    ("slower by 3.0 to 7.0 %", 3.0, 7.0),
    ("within ±1 % of native", -0.6, 0.7),
    ("within ±1 %, and above 0", 0.2, 0.8),
    ("within ±5 % of native", -1.5, 3.4),
    ("costs at most 9.0 %", -6.0, 9.0),
    ("undecided", -9.0, 13.0),
)
"""Verdict → an interval that leads to it."""


def words() -> Drawing:
    """One interval for each verdict word."""
    drawing = Drawing(270, "Which word an interval leads to")

    def place(percent: float) -> float:
        return 400 + 16 * percent

    drawing.area(place(-1), 30, place(1) - place(-1), 190, "#e3ebf3")
    for percent in (-10, -5, 0, 5, 10):
        drawing.line(place(percent), 30, place(percent), 220, INK if percent == 0 else LINE)
        drawing.text(place(percent), 238, f"{percent:+d} %" if percent else "0", SOFT, "middle")
    for row, (verdict, low, high) in enumerate(WORDS):
        y = 50 + 31 * row
        drawing.text(20, y + 4, verdict)
        drawing.line(place(low), y, place(high), y, OTHER, 'stroke-width="3"')
        drawing.dot(place((low + high) / 2), y, OTHER)
    drawing.text(20, 262, "grey: the margin of ±1 % that was declared before the start", SOFT)
    return drawing


PLANNED = (10, 16, 24, 32)
CAMPAIGNS = 10_000


def looks() -> Drawing:
    """How many campaigns without any overhead have claimed one up to each block."""
    drawn = random.Random(SEED)  # noqa: S311 - a simulation
    errors = dict(
        zip(PLANNED, boundary(PLANNED, tuple(spending(n, PLANNED[-1]) for n in PLANNED)), strict=True)
    )
    rules = [_limits(dict.fromkeys(range(6, 33), 0.05)), _limits(errors)]
    peeking, planned = [0] * 33, [0] * 33
    for _ in range(CAMPAIGNS):
        sums = list(accumulate(drawn.gauss(0, 1) for _ in range(32)))
        for shares, limits in zip((peeking, planned), rules, strict=True):
            first = next((n for n, limit in limits.items() if abs(sums[n - 1]) > limit), None)
            for n in range(first or 33, 33):
                shares[n] += 1
    return _looks(peeking, planned)


def _limits(errors: Mapping[int, float]) -> dict[int, float]:
    """Number of values → their largest sum that claims nothing, at each look's own level of error."""
    return {n: math.sqrt(n) * NormalDist().inv_cdf(1 - error / 2) for n, error in errors.items()}


def _looks(peeking: Sequence[int], planned: Sequence[int]) -> Drawing:
    drawing = Drawing(280, "False claims by looking after each block, and by planned looks")

    def place(n: int, count: float) -> tuple[float, float]:
        return 60 + 17 * n, 230 - 8 * 100 * count / CAMPAIGNS

    for percent in (0, 5, 10, 15, 20):
        _, y = place(0, CAMPAIGNS * percent / 100)
        drawing.line(60, y, 610, y, SOFT if percent == 0 else LINE)
        drawing.text(52, y + 4, f"{percent} %", SOFT, "end")
    for shares, colour in ((peeking, WRONG), (planned, OTHER)):
        drawing.path([place(n, shares[n]) for n in range(6, 33)], colour)
    for n in PLANNED:
        drawing.dot(*place(n, planned[n]), OTHER)
        drawing.text(place(n, 0)[0], 247, str(n), SOFT, "middle")
    often, seldom = (100 * shares[-1] / CAMPAIGNS for shares in (peeking, planned))
    drawing.text(70, 19, f"looking after every block: {often:.0f} % claim what is not there", WRONG)
    drawing.text(70, 42, f"four planned looks that share the error: {seldom:.1f} %", OTHER)
    drawing.text(610, 270, "blocks so far", SOFT, "end")
    return drawing


def spikes() -> Drawing:
    """Thirty runs of which few take much longer."""
    drawn = random.Random(SEED)  # noqa: S311 - a simulation
    ratios = [drawn.gauss(0, 0.01) + (0.4 if number % 10 == 4 else 0.0) for number in range(30)]  # noqa: PLR2004
    drawing = Drawing(150, "Thirty runs, three of them much slower: the typical and the mean overhead")

    def place(value: float) -> float:
        return 60 + 1200 * value

    drawing.line(40, 95, 610, 95, SOFT)
    for number, ratio in enumerate(ratios):
        drawing.dot(place(ratio), 88 - 9 * (number % 5), OTHER)
    for name, value, y in (("typical", median(ratios), 20), ("mean", fmean(ratios), 38)):
        drawing.line(place(value), y + 4, place(value), 95, WRONG if name == "mean" else INK)
        drawing.text(
            place(value) + 5, y, f"{name} {100 * math.expm1(value):+.1f} %", WRONG if name == "mean" else INK
        )
    for percent in (0, 10, 20, 30, 40, 50):
        drawing.text(place(math.log1p(percent / 100)), 113, f"{percent} %", SOFT, "middle")
    drawing.text(40, 140, "time beyond native's, run by run", SOFT)
    return drawing


def main() -> None:
    for name, text in pictures().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
        print(FOLDER / name)


if __name__ == "__main__":
    main()
