# SPDX-License-Identifier: Apache-2.0
"""One row for each cell: what is promised, how often it is broken, and what that costs."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bench.statistics.markdown import table

HEAD = ("cell", "promise", "false words, %", "interval leaves out the truth, %", "price")
NONE = "-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    cell: str
    promise: str
    false: str = NONE
    missed: str = NONE
    price: str = NONE


def rows_said(rows: Iterable[Row]) -> str:
    return table(HEAD, [(row.cell, row.promise, row.false, row.missed, row.price) for row in rows])


def shares(counts: Sequence[float], campaigns: int) -> str:
    """Each in per cent, with the largest standard error of the simulation, which is never said to be 0."""
    parts = [count / campaigns for count in counts]
    error = max(_standard_error(count, campaigns) for count in counts)
    return f"{' · '.join(f'{100 * part:.1f}' for part in parts)} (±{100 * error:.1f})"


def _standard_error(count: float, campaigns: int) -> float:
    """Of a share, by Agresti and Coull's moderate estimate: of none or all it is not 0."""
    moderate = (count + 2) / (campaigns + 4)
    return math.sqrt(moderate * (1 - moderate) / (campaigns + 4))
