# SPDX-License-Identifier: Apache-2.0
"""The values of which the machine-readable result is made: a number, an estimate with its interval, a cell's name."""

import math
from typing import Any

from tare.records import Cell, Estimate

FRACTION = "1"
"""The unit of an overhead: a pure number, where 0.05 is 5 %."""


def number(value: float | None) -> float | None:
    """JSON has no infinity and no not-a-number: they are missing."""
    return value if value is not None and math.isfinite(value) else None


def estimate(found: Estimate, unit: str = FRACTION) -> dict[str, Any]:
    return {
        "point": number(found.point),
        "low": number(found.low),
        "high": number(found.high),
        "level": number(found.level),
        "n": found.n,
        "unit": unit,
    }


def without_interval(value: float, unit: str, n: int) -> dict[str, Any]:
    return {"point": number(value), "low": None, "high": None, "level": None, "n": n, "unit": unit}


def cell(one: Cell) -> dict[str, str]:
    return {"workload": one.workload, "layout": one.layout}
