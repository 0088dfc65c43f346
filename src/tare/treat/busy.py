# SPDX-License-Identifier: Apache-2.0
"""How busy the host was, trial by trial and block by block, and which blocks are left out for it.

The load alone decides, never a measured value. docs/method.md ("A busy machine") gives the rules and their reasons.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from tare.records import BlockValue, HostLoad, Outcome, Summary
from tare.records.busy import BusyBlocks, busiest

LEAST_QUIET = 6
"""Quiet blocks that decide without the busy ones: the fewest that give an interval."""
MOST_BUSY = 0.25
"""Part of fewer blocks than that which may be left out: *too few blocks* is then the better advice."""
MOST_STOLEN = 0.5
"""Part of the processors: beyond it nothing can be concluded, even with turns."""


def block_loads(outcomes: Sequence[Outcome]) -> dict[int, HostLoad]:
    """The busiest trial's load of each block, over all cells; blocks without a known load are left out."""
    loads: dict[int, HostLoad | None] = {}
    for outcome in outcomes:
        loads[outcome.trial.block] = busiest((loads.get(outcome.trial.block), outcome.load))
    return {block: load for block, load in loads.items() if load is not None}


def counted(load: HostLoad | None, *, by_turns: bool, net: bool) -> HostLoad | None:
    """The load, without processor time that a hypervisor took from all arms equally during turns.

    That time comes and goes within tenths of a second, so the slices of a round share it, and nobody on this host can
    end it. A metric that is ``net`` of other programs' time does not contain it. The rest of both shows in native
    against native.
    """
    if load is None or not by_turns or load.steal > MOST_STOLEN * load.processors:
        return load
    return replace(load, steal=0.0, foreign=0.0 if net else load.foreign)


def apart(blocks: Iterable[int], loads: Mapping[int, HostLoad | None]) -> BusyBlocks:
    """Those of the complete ``blocks`` in which the host was busy, and whether enough others are left."""
    every = sorted(blocks)
    busy = {block: load for block in every if (load := loads.get(block)) is not None and load.busy}
    return BusyBlocks(
        blocks=tuple(busy),
        loads=tuple(busy.values()),
        left_out=_is_enough(len(every) - len(busy), len(every)),
    )


def _is_enough(quiet: int, blocks: int) -> bool:
    return quiet >= LEAST_QUIET or (blocks < LEAST_QUIET and blocks - quiet <= MOST_BUSY * blocks)


def parted(
    blocks: Sequence[BlockValue], until: int | None = None
) -> tuple[tuple[BlockValue, ...], tuple[BlockValue, ...]]:
    """Blocks that count and busy ones that are left out, decided by those with a number smaller than ``until``."""
    seen = [block for block in blocks if until is None or block.block < until]
    if not apart([block.block for block in seen], {block.block: block.busiest for block in seen}).left_out:
        return tuple(blocks), ()
    quiet = tuple(block for block in blocks if not _is_busy(block))
    return quiet, tuple(block for block in blocks if _is_busy(block))


def _is_busy(block: BlockValue) -> bool:
    return block.busiest is not None and block.busiest.busy


def only_busy(summary: Summary) -> tuple[int, int]:
    """Blocks left out in which the host of one trial alone was busy, and those of them in which it was the own."""
    alone = [
        block.load is not None and block.load.busy
        for block in summary.busy_blocks
        if sum(load is not None and load.busy for load in (block.load, *block.native_loads)) == 1
    ]
    return len(alone), sum(alone)


def busy_loads(summary: Summary, until: int | None = None) -> list[HostLoad]:
    """Loads of the busy blocks that count all the same, as too few others are left."""
    own = (block for block in summary.blocks if until is None or block.block < until)
    return [block.busiest for block in own if block.busiest is not None and block.busiest.busy]
