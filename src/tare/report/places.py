# SPDX-License-Identifier: Apache-2.0
"""Places on curves and surfaces in words."""

from tare.drawing.words import quantity
from tare.records import Dimension
from tare.units import format_byte, parse_byte

_MOST_EXACT_BYTE = 1 << 53
"""A size beyond it has more digits than a number keeps."""


def place_label(place: float, dimension: Dimension) -> str:
    """``"64 KiB"``: bytes in powers of 1024 where that is exact; SI prefixes; ``"ranks = 4"`` for a count."""
    name, unit = dimension
    if unit is None:
        return f"{name} = {place:.10g}"
    if unit != "B":
        return quantity(place, unit)
    if place > _MOST_EXACT_BYTE:
        return f"{place:.3g} B"
    short = format_byte(place)
    return short if parse_byte(short) == place else f"{place:.0f} B"


def place_said(place: float, dimension: Dimension) -> str:
    """With the name of what varies: ``"stride 64 B"``, ``"ranks 4"``."""
    label = place_label(place, dimension)
    return label.replace(" = ", " ", 1) if dimension.unit is None else f"{dimension.name} {label}"
