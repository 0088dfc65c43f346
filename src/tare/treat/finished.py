# SPDX-License-Identifier: Apache-2.0
"""How far each arm of a campaign has come."""

from collections.abc import Sequence

from tare.records import NATIVE, Cell, Outcome
from tare.treat.pairing import cell_of


def finished_blocks(outcomes: Sequence[Outcome]) -> dict[tuple[Cell, str], int]:
    """Per cell and environment other than native: of how many leading blocks all its trials have ended.

    That is its own and the two native ones, however they ended: blocks that were dropped count too. Blocks are
    counted from number 0 without a gap, so that a block which a broken run left half done is where it ends.
    """
    ended: dict[tuple[Cell, str], dict[int, set[int]]] = {}
    for outcome in outcomes:
        trial = outcome.trial
        blocks = ended.setdefault((cell_of(outcome), trial.environment.name), {})
        blocks.setdefault(trial.block, set()).add(trial.replicate)
    return {
        (cell, environment): _leading(blocks, ended.get((cell, NATIVE), {}))
        for (cell, environment), blocks in ended.items()
        if environment != NATIVE
    }


def _leading(own: dict[int, set[int]], native: dict[int, set[int]]) -> int:
    count = 0
    while count in own and native.get(count) == {0, 1}:
        count += 1
    return count
