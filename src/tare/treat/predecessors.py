# SPDX-License-Identifier: Apache-2.0
"""What ran just before each trial, in its cell and block."""

from collections.abc import Sequence

from tare.records import NATIVE, Cell, Outcome, Predecessors
from tare.treat.pairing import cell_of

NOTHING = "nothing"
"""Before the first trial of a cell in a block: anything earlier belongs to another cell or block."""


def predecessors(outcomes: Sequence[Outcome]) -> tuple[Predecessors, ...]:
    """One record per cell and non-native environment; failed trials count as predecessors too."""
    befores: dict[tuple[Cell, str], dict[int, str]] = {}
    last: dict[tuple[Cell, int], str] = {}
    for outcome in sorted(outcomes, key=lambda each: (each.trial.block, each.trial.slot)):
        cell, name, block = cell_of(outcome), outcome.trial.environment.name, outcome.trial.block
        if name != NATIVE:
            befores.setdefault((cell, name), {})[block] = last.get((cell, block), NOTHING)
        last[cell, block] = name
    return tuple(
        Predecessors(cell=cell, environment=name, before=before) for (cell, name), before in befores.items()
    )
