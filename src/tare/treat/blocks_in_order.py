# SPDX-License-Identifier: Apache-2.0
"""Whether a result was measured block by block, as pairing takes for granted."""

from collections.abc import Sequence

from tare.records import Cell, Outcome
from tare.treat.pairing import cell_of


def blocks_out_of_order(outcomes: Sequence[Outcome]) -> tuple[tuple[Cell, int], ...]:
    """Cells and numbers of the blocks in the middle of which trials of another block of the cell were run.

    Such a block compares what was measured at different times, so a drift of the machine is in its log-ratio.
    Trials are taken in the order in which they started, equal times in the order given.
    """
    cells: dict[Cell, list[int]] = {}
    for outcome in sorted(outcomes, key=lambda each: each.started_utc):
        cells.setdefault(cell_of(outcome), []).append(outcome.trial.block)
    return tuple((cell, block) for cell, blocks in cells.items() for block in _interrupted(blocks))


def _interrupted(blocks: Sequence[int]) -> list[int]:
    """Numbers that stand in more than one run of equal numbers."""
    begun: dict[int, int] = {}
    for place, block in enumerate(blocks):
        if not place or blocks[place - 1] != block:
            begun[block] = begun.get(block, 0) + 1
    return sorted(block for block, count in begun.items() if count > 1)
