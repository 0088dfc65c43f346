# SPDX-License-Identifier: Apache-2.0
"""The most that the load of others can have made of a difference, and what is left of the difference without it.

A trial that lost the share s of its processors' time took at most 1 / (1 - s) times as long. Of a difference that the
load cannot explain something is left when every block is moved against it by that much: the environment's own time
where it seems slower, native's where it seems faster. docs/method.md ("A busy machine") has the figures.
"""

import math
from dataclasses import replace

from tare.records import BlockValue, Estimate, HostLoad, Summary, Word
from tare.records.busy import LoadEffect

KAPPA = 1.5
"""A trial loses at most so many times what others took: their caches and wake-ups cost as well. What they took is not
divided by the number of the trial's processors: all may have come from one and have kept the processes on the others
waiting. ``bench/load_cost.py`` measures it (docs/method.md)."""
_MOST_SHARE = 0.999
"""Of such a load nothing is known; a move by a factor of 1000 leaves nothing of any difference."""


def share_lost(load: HostLoad | None) -> float:
    """The largest part of its time that a trial can have lost to this load; 0 where none is known."""
    if load is None:
        return 0.0
    return min(_MOST_SHARE, KAPPA * _taken(load))


def moved(summary: Summary, word: Word) -> Summary:
    """The log-ratios as they are if the load cost only the environment (``SLOWER``) or only native (``FASTER``)."""
    costs = [_costs(block, word) for block in summary.blocks]
    ratios = zip(summary.log_ratios, costs, strict=True)
    controls = zip(summary.control_log_ratios, costs, strict=True)
    return replace(
        summary,
        log_ratios=tuple(ratio - own + (first + second) / 2 for ratio, (own, first, second) in ratios),
        control_log_ratios=tuple(control - second + first for control, (_, first, second) in controls),
    )


def _costs(block: BlockValue, word: Word) -> tuple[float, float, float]:
    """Logarithms of what the load can have cost the environment and the two natives.

    A trial whose load nobody knows may have met the largest of its block.
    """
    loads = (load or block.busiest for load in (block.load, *block.native_loads))
    own, first, second = (-math.log1p(-share_lost(load)) for load in loads)
    return (0.0, first, second) if word is Word.FASTER else (own, 0.0, 0.0)


def hull(first: Estimate, second: Estimate) -> Estimate:
    """``first`` with an interval that contains both."""
    ends = (first.low, second.low), (first.high, second.high)
    low, high = (
        pick(end for end in pair if end is not None) if None not in pair else None
        for pick, pair in zip((min, max), ends, strict=True)
    )
    return replace(first, low=low, high=high)


def effect(
    summary: Summary, word: Word, measured: Estimate, left: Estimate, until: float = math.inf
) -> LoadEffect | None:
    """What the load in these blocks could make of a difference in the direction of ``word``; ``None``: nothing.

    ``left``: ``measured`` with every block moved by its load. How far that moves the end next to 0 is the load's part.
    """
    own = [block for block in summary.blocks if block.block < until]
    if word is Word.FASTER:
        loads, ends = (
            [load or block.busiest for block in own for load in block.native_loads],
            (left, measured),
        )
        near = [end.high for end in ends]
    else:
        loads, ends = [block.load or block.busiest for block in own], (measured, left)
        near = [end.low for end in ends]
    known = [load for load in loads if load is not None]
    if None in near or not any(map(share_lost, known)):
        return None
    farther, nearer = (math.log1p(end) for end in near if end is not None)
    return LoadEffect(
        used=max(map(_taken, known)),
        processors=max(load.processors for load in known),
        most=math.expm1(max(0.0, farther - nearer)),
    )


def _taken(load: HostLoad) -> float:
    return max(max(0.0, load.foreign) + max(0.0, load.steal), load.throttled)


def differs(estimate: Estimate, word: Word, threshold: float = 0.0) -> bool:
    """Whether the whole interval lies beyond the threshold, on the side of ``word``."""
    if estimate.low is None or estimate.high is None:
        return False
    return estimate.high < threshold if word is Word.FASTER else estimate.low > threshold


def direction(estimate: Estimate) -> Word:
    return Word.SLOWER if estimate.point > 0 else Word.FASTER
