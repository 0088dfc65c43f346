# SPDX-License-Identifier: Apache-2.0
"""The few kinds of marks in the pictures, as a Vega-Lite description.

Every position, tick and label is given with the data, so that no picture depends on the metrics of a font that the
reader may not have. A mark's values are rows: field → number, text or ``None``.
"""

from collections.abc import Sequence
from typing import Any, TypeAlias

from tare.drawing.axis import Axis

Row: TypeAlias = dict[str, Any]
_BAND_OPACITY = 0.18


class Canvas:
    """Layers over one pair of scales; x and y are fields of the rows, unless a place in px is given."""

    def __init__(self, x: Axis, y: Axis, font_px: float) -> None:
        self._scales = {"x": _scale(x), "y": _scale(y)}
        self._font_px = font_px
        self._layers: list[dict[str, Any]] = []

    def _add(self, rows: Sequence[Row], mark: dict[str, Any], encoding: dict[str, Any]) -> None:
        layer = {"data": {"values": list(rows)}, "mark": {"aria": False} | mark, "encoding": encoding}
        self._layers.append(layer)

    def _along(self, *fields: str) -> dict[str, Any]:
        """Place the fields ``x``, ``y``, and their other ends ``x2``, ``y2``, on the scales."""
        shared = {name: {"type": "quantitative", "axis": None, "scale": self._scales[name]} for name in "xy"}
        return {name: {"field": name} | shared.get(name, {}) for name in fields}

    def bands(self, rows: Sequence[Row]) -> None:
        """Fill from ``x`` to ``x2`` and ``y`` to ``y2``."""
        self._add(rows, {"type": "rect", "fill": "var(--band)"}, self._along("x", "x2", "y", "y2"))

    def bars(self, rows: Sequence[Row]) -> None:
        """Fill from ``x`` to ``x2`` and ``y`` to ``y2`` with the colour ``fill``; ``told`` is its tooltip.

        ``opacity`` from 0 to 1 is the colour's, in all rows or in none.
        """
        mark = {"type": "rect", "stroke": "var(--paper)", "strokeWidth": 1, "aria": True}
        tooltip = {"description": {"field": "told", "type": "nominal"}}
        faint = _own("opacity", channel="fillOpacity") if rows and "opacity" in rows[0] else {}
        self._add(rows, mark, self._along("x", "x2", "y", "y2") | _own("fill") | faint | tooltip)

    def horizontals(self, rows: Sequence[Row]) -> None:
        """Rule the whole width at ``y`` in the colour ``stroke``."""
        self._add(rows, {"type": "rule"}, self._along("y") | _own("stroke"))

    def lines(self, rows: Sequence[Row], stroke_px: float = 1, *, dashed: bool = False) -> None:
        """Draw a line from ``x``, ``y`` to ``x2``, ``y2`` in the colour ``stroke``."""
        mark = {"type": "rule", "strokeWidth": stroke_px, "strokeDash": [2, 3] if dashed else []}
        self._add(rows, mark, self._along("x", "x2", "y", "y2") | _own("stroke"))

    def points(self, rows: Sequence[Row], size: float, *, titled: bool = True) -> None:
        """Draw ``shape`` with ``stroke`` and ``fill`` at ``x``, ``y``; the field ``told`` is its tooltip."""
        mark = {"type": "point", "size": size, "strokeWidth": 1.8, "opacity": 1, "aria": titled}
        tooltip = {"description": {"field": "told", "type": "nominal"}} if titled else {}
        self._add(rows, mark, self._along("x", "y") | _own("shape", "stroke", "fill") | tooltip)

    def texts(
        self,
        rows: Sequence[Row],
        *,
        x_px: float | None = None,
        y_px: float | None = None,
        align: str = "left",
        bold: bool = False,
    ) -> None:
        """Write ``text`` in the colour ``ink`` at ``x``, ``y`` or a fixed place."""
        mark: dict[str, Any] = {"type": "text", "align": align, "baseline": "middle"}
        mark |= {"fontSize": self._font_px, "font": "var(--sans)", "fontWeight": "bold" if bold else "normal"}
        encoding = {"text": {"field": "text", "type": "nominal"}} | _own("ink", channel="color")
        for name, fixed_px in (("x", x_px), ("y", y_px)):
            encoding |= self._along(name) if fixed_px is None else {name: {"value": fixed_px}}
        self._add(rows, mark, encoding)

    def paths(self, rows: Sequence[Row], stroke_px: float) -> None:
        """Draw a line through each ``series`` of points ``x``, ``y``, by ascending ``x``, in its colour ``stroke``."""
        mark = {"type": "line", "strokeWidth": stroke_px, "strokeJoin": "round"}
        self._add(rows, mark, self._along("x", "y") | _series("stroke"))

    def areas(self, rows: Sequence[Row]) -> None:
        """Fill from ``y`` to ``y2`` along each ``series``, thinly, in its colour ``fill``."""
        mark = {"type": "area", "fillOpacity": _BAND_OPACITY}
        self._add(rows, mark, self._along("x", "y", "y2") | _series("fill"))

    def specification(
        self, width_px: float, height_px: float, padding_px: dict[str, float]
    ) -> dict[str, Any]:
        """Give the finished chart; ``padding_px``: left, right, top and bottom."""
        return {
            "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
            "width": width_px,
            "height": height_px,
            "padding": padding_px,
            "autosize": "none",
            "background": "transparent",
            "config": {"view": {"stroke": None}},
            "layer": self._layers,
        }


def _scale(axis: Axis) -> dict[str, Any]:
    straight = {"type": "linear"}
    kind = straight if axis.constant is None else {"type": "symlog", "constant": axis.constant}
    return {"domain": [axis.low, axis.high], "nice": False, "zero": False} | kind


def _own(*fields: str, channel: str = "") -> dict[str, Any]:
    """Take the fields' values as they are, not as categories to be coloured."""
    return {channel or name: {"field": name, "type": "nominal", "scale": None} for name in fields}


def _series(colour: str) -> dict[str, Any]:
    """Join the rows of one ``series``."""
    return {"detail": {"field": "series", "type": "nominal"}} | _own(colour)
