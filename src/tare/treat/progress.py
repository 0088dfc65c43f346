# SPDX-License-Identifier: Apache-2.0
"""How a campaign went: how far each arm came, which trials rules excluded, and what ran before what."""

from collections import Counter
from collections.abc import Sequence

from tare.records import NATIVE, Cell, Exclusions, Outcome, Predecessors, Rule, Trial
from tare.treat.pairing import cell_of

NOTHING = "nothing"
"""Before the first trial of a result, after trials that took turns, and before those themselves."""


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


def exclusions(outcomes: Sequence[Outcome]) -> tuple[Exclusions, ...]:
    """Number of trials lost to rules in each cell and environment; ordered by both."""
    trials: Counter[tuple[Cell, str]] = Counter()
    lost: dict[tuple[Cell, str], Counter[Rule]] = {}
    for outcome in outcomes:
        key = (cell_of(outcome), outcome.trial.environment.name)
        trials[key] += 1
        if outcome.excluded_by is not None:
            lost.setdefault(key, Counter())[outcome.excluded_by] += 1
    keys = sorted(trials, key=lambda key: (key[0].workload, key[0].layout, key[1]))
    return tuple(
        Exclusions(
            cell=cell, environment=name, trials=trials[cell, name], excluded=dict(lost.get((cell, name), {}))
        )
        for cell, name in keys
    )


def predecessors(outcomes: Sequence[Outcome]) -> tuple[Predecessors, ...]:
    """One record per cell and non-native environment; failed trials count as predecessors too.

    A trial follows the whole run that began last before it on its (first) host, of whichever cell and block.
    """
    befores: dict[tuple[Cell, str], dict[int, str]] = {}
    last: dict[str, str] = {}
    for outcome in sorted(outcomes, key=lambda each: (each.started_utc, each.trial.block, each.trial.slot)):
        name, hosts = outcome.trial.environment.name, outcome.trial.hosts or ("",)
        by_turns = outcome.turns is not None
        before = NOTHING if by_turns else last.get(hosts[0], NOTHING)
        if name != NATIVE:
            befores.setdefault((cell_of(outcome), name), {})[outcome.trial.block] = before
        last.update(dict.fromkeys(hosts, NOTHING if by_turns else name))
    return tuple(
        Predecessors(cell=cell, environment=name, before=before) for (cell, name), before in befores.items()
    )


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
