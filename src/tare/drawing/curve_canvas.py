# SPDX-License-Identifier: Apache-2.0
"""Two more kinds of marks, for curves: lines through many points, and bands along them."""

from collections.abc import Sequence
from typing import Any

from tare.drawing.canvas import Canvas, Row

_BAND_OPACITY = 0.18


class CurveCanvas(Canvas):
    """A canvas whose rows may belong to a ``series``: those of one are joined, by rising ``x``."""

    def paths(self, rows: Sequence[Row], stroke_px: float) -> None:
        """Draw a line through the points ``x``, ``y`` of each ``series``, in its colour ``stroke``."""
        mark = {"type": "line", "strokeWidth": stroke_px, "strokeJoin": "round"}
        self._add(rows, mark, self._along("x", "y") | _series("stroke"))

    def areas(self, rows: Sequence[Row]) -> None:
        """Fill from ``y`` to ``y2`` along each ``series``, thinly, in its colour ``fill``."""
        mark = {"type": "area", "fillOpacity": _BAND_OPACITY}
        self._add(rows, mark, self._along("x", "y", "y2") | _series("fill"))


def _series(colour: str) -> dict[str, Any]:
    return {
        "detail": {"field": "series", "type": "nominal"},
        colour: {"field": colour, "type": "nominal", "scale": None},
    }
