# SPDX-License-Identifier: Apache-2.0
"""Whether a result was measured block by block, as pairing assumes."""

from collections.abc import Sequence

from tare.records import Cell, Outcome
from tare.treat.pairing import cell_of


def blocks_out_of_order(outcomes: Sequence[Outcome]) -> tuple[tuple[Cell, int], ...]:
    """Cells and numbers of the blocks that were interrupted by trials of another block of the cell.

    Such a block compares measurements from different times, so its log-ratio contains the machine's drift. Trials are
    ordered by their start, ties as given.
    """
    cells: dict[Cell, list[int]] = {}
    for outcome in sorted(outcomes, key=lambda each: each.started_utc):
        cells.setdefault(cell_of(outcome), []).append(outcome.trial.block)
    return tuple((cell, block) for cell, blocks in cells.items() for block in _interrupted(blocks))


def _interrupted(blocks: Sequence[int]) -> list[int]:
    """Numbers that occur in more than one run of equal numbers."""
    begun: dict[int, int] = {}
    for place, block in enumerate(blocks):
        if not place or blocks[place - 1] != block:
            begun[block] = begun.get(block, 0) + 1
    return sorted(block for block, count in begun.items() if count > 1)
