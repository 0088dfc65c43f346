# SPDX-License-Identifier: Apache-2.0
"""The values of which the machine-readable result is made: a number, an estimate with its interval, a cell's name."""

import math
from typing import Any

from tare.records import Cell, Estimate, Outcome
from tare.treat.pairing import cell_of

FRACTION = "1"
"""The unit of an overhead: a pure number, where 0.05 is 5 %."""


def number(value: float | None) -> float | None:
    """JSON has no infinity and no not-a-number: they are missing."""
    return value if value is not None and math.isfinite(value) else None


def estimate(of: Estimate, unit: str = FRACTION) -> dict[str, Any]:
    return {
        "point": number(of.point),
        "low": number(of.low),
        "high": number(of.high),
        "level": number(of.level),
        "n": of.n,
        "unit": unit,
    }


def without_interval(value: float, unit: str, n: int) -> dict[str, Any]:
    return {"point": number(value), "low": None, "high": None, "level": None, "n": n, "unit": unit}


def cell(of: Cell) -> dict[str, str]:
    return {"workload": of.workload, "layout": of.layout}


def trial(outcome: Outcome) -> dict[str, Any]:
    """Which trial it was, of which environment, in which block and cell."""
    return {
        "trial": outcome.trial.identity,
        "block": outcome.trial.block,
        "cell": cell(cell_of(outcome)),
        "environment": outcome.trial.environment.name,
    }
