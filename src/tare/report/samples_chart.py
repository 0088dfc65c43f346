# SPDX-License-Identifier: Apache-2.0
"""Raw samples block by block: the native pair as a bar, and what each environment measured beside it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tare.drawing.axis import Axis, value_axis
from tare.drawing.canvas import Canvas, Row
from tare.drawing.marks import CONTROL, MarkStyle
from tare.drawing.words import prefixed, quantity
from tare.foreign import one_line
from tare.records import BlockValue, Summary

PLOT_PX, HEIGHT_PX = 262.0, 104.0
_PADDING_PX = {"left": 46.0, "right": 6.0, "top": 6.0, "bottom": 20.0}
_SPREAD = 0.8
"""Share of a block's width over which its samples stand side by side."""
_FEW_BLOCKS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedScale:
    """What panels that are compared with each other share: blocks, the value axis and its unit."""

    blocks: tuple[int, ...]
    axis: Axis
    factor: float
    unit: str
    """With the prefix that ``factor`` stands for."""


def ground(summaries: Sequence[Summary]) -> SharedScale | None:
    """Lay the ground for one metric's samples; ``None`` when there is no complete block."""
    blocks = [block for summary in summaries for block in summary.blocks]
    values = [value for block in blocks for value in (*block.native, block.environment)]
    if not values:
        return None
    factor, unit = prefixed(max(values, key=abs), one_line(summaries[0].unit))
    return SharedScale(
        blocks=tuple(sorted({block.block for block in blocks})),
        axis=value_axis([value / factor for value in values]),
        factor=factor,
        unit=unit,
    )


def samples_chart(
    summaries: Sequence[Summary], every: Sequence[Summary], looks: Mapping[str, MarkStyle], on: SharedScale
) -> dict[str, Any]:
    """Describe a panel with the samples of ``summaries``, and the natives of ``every`` summary of the metric."""
    step = _SPREAD / (len(summaries) + 1)
    places = [step * number - _SPREAD / 2 + step / 2 for number in range(len(summaries) + 1)]
    natives = {block.block: block for summary in every for block in summary.blocks}
    across = Axis(low=on.blocks[0] - 0.6, high=on.blocks[-1] + 0.6)
    canvas = Canvas(across, on.axis, font_px=11)
    _grid(canvas, on)
    pairs = [_pair(block, places[0], on) for block in natives.values()]
    canvas.lines(pairs, stroke_px=1.5)
    ends = [{**pair, "y": pair[end]} for pair in pairs for end in ("y", "y2")]
    canvas.points([{**end, "shape": "stroke", "fill": None} for end in ends], size=18, titled=False)
    points = [
        _point(summary, block, place, looks[summary.environment], on)
        for summary, place in zip(summaries, places[1:], strict=True)
        for block in summary.blocks
    ]
    canvas.points(points, size=36 if len(summaries) == 1 else 16)
    return canvas.specification(PLOT_PX, HEIGHT_PX, _PADDING_PX)


def _pair(block: BlockValue, place: float, on: SharedScale) -> Row:
    x = block.block + place
    low, high = (value / on.factor for value in block.native)
    return {"x": x, "x2": x, "y": low, "y2": high, "stroke": CONTROL.colour}


def _point(summary: Summary, block: BlockValue, place: float, look: MarkStyle, on: SharedScale) -> Row:
    value = quantity(block.environment, one_line(summary.unit))
    return {
        "x": block.block + place,
        "y": block.environment / on.factor,
        "shape": look.shape,
        "stroke": look.colour,
        "fill": look.colour,
        "told": f"{one_line(summary.environment)}, block {block.block}: {value}",
    }


def _grid(canvas: Canvas, on: SharedScale) -> None:
    ticks = [
        {"y": tick, "text": label, "stroke": "var(--grid)", "ink": "var(--soft)"}
        for tick, label in zip(on.axis.ticks, on.axis.labels, strict=True)
    ]
    canvas.horizontals(ticks)
    canvas.texts(ticks, x_px=-6, align="right")
    every = 1 if len(on.blocks) <= _FEW_BLOCKS else 5
    numbers = [block for block in on.blocks if block == on.blocks[0] or block % every == 0]
    rows = [{"x": number, "text": str(number), "ink": "var(--soft)"} for number in numbers]
    canvas.texts(rows, y_px=HEIGHT_PX + 11, align="center")
