# SPDX-License-Identifier: Apache-2.0
"""How far each arm of a campaign has come."""

from collections.abc import Sequence

from tare.records import NATIVE, Cell, Outcome, Trial


def finished_blocks(
    outcomes: Sequence[Outcome], passed_over: Sequence[Trial] = ()
) -> dict[tuple[Cell, str], int]:
    """Number of leading blocks whose trials have all ended, per cell and non-native environment that ran.

    These are its own trial and the two native ones, however they ended: dropped blocks count too, as do blocks that
    went on without it and in which it is ``passed_over``. Blocks count from number 0 without a gap, so the count ends
    at a block that a broken run left half done.
    """
    ended: dict[tuple[Cell, str], dict[int, set[int]]] = {_arm(outcome.trial): {} for outcome in outcomes}
    for trial in (*(outcome.trial for outcome in outcomes), *passed_over):
        if (blocks := ended.get(_arm(trial))) is not None:
            blocks.setdefault(trial.block, set()).add(trial.replicate)
    return {
        (cell, environment): _leading(blocks, ended.get((cell, NATIVE), {}))
        for (cell, environment), blocks in ended.items()
        if environment != NATIVE
    }


def _arm(trial: Trial) -> tuple[Cell, str]:
    return Cell(workload=trial.workload.name, layout=trial.setting), trial.environment.name


def _leading(own: dict[int, set[int]], native: dict[int, set[int]]) -> int:
    count = 0
    while count in own and native.get(count) == {0, 1}:
        count += 1
    return count
