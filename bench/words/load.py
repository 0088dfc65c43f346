# SPDX-License-Identifier: Apache-2.0
"""A load of other programs that costs one arm, or all."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bench.simulation.intervals import Bools
from bench.words.agreement import contradictions
from bench.words.product import judged, names_load
from bench.words.records import CELL, NATIVES, is_false, leaves_out, planned, summarized, width
from bench.words.rows import Row, rows_said, shares
from tare.records import HostLoad, Verdict, Word

_RUN = 0.01
_PROCESSORS = 2
_FIVE = "at most 5 % without the load named"
_POWER = "a large effect gets its answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    name: str
    foreign: float
    """Processors that others use in a busy block."""
    blocks: int
    busy: float = 1.0
    """Share of the blocks, exactly; the others have no load."""
    costs: tuple[float, float] = (0.0, 1.0)
    """How much of the load natives and the environment bear: time grows as if so much of it were missing."""
    effect: float = 0.0
    """Planted overhead, as a fraction."""
    promise: str = _FIVE
    bursts: bool = False
    """Whether each trial is busy by itself, with a chance of ``busy``, instead of the whole block."""

    def __post_init__(self) -> None:
        if max(self.costs) * self.foreign >= _PROCESSORS:
            raise ValueError("more than all of the processors would be missing")


_ALL = (1.0, 1.0)
_CASES = (
    _Case(name="no load at all", foreign=0.0, blocks=10),
    _Case(name="one processor of two in a quarter of the blocks", foreign=1.0, busy=0.25, blocks=16),
    _Case(name="one processor of two in a quarter of the blocks", foreign=1.0, busy=0.25, blocks=32),
    _Case(name="0.3 of two in a quarter of the blocks", foreign=0.3, busy=0.25, blocks=32),
    _Case(
        name="one of two in a quarter, on natives alone", foreign=1.0, busy=0.25, blocks=32, costs=(1.0, 0.0)
    ),
    _Case(name="0.3 of two in half of the blocks", foreign=0.3, busy=0.5, blocks=32),
    _Case(
        name="bursts of 0.6 of two in three of ten trials",
        foreign=0.6,
        busy=0.3,
        blocks=32,
        costs=_ALL,
        bursts=True,
    ),
    _Case(
        name="bursts of one of two in one of ten trials",
        foreign=1.0,
        busy=0.1,
        blocks=32,
        costs=_ALL,
        bursts=True,
    ),
    _Case(name="a steady 0.15 of two, below the limit", foreign=0.15, blocks=10),
    _Case(name="a steady 0.15 of two, below the limit", foreign=0.15, blocks=32),
    _Case(name="a steady 0.15 of two, on natives alone", foreign=0.15, blocks=32, costs=(1.0, 0.0)),
    _Case(name="a steady 0.3 of two", foreign=0.3, blocks=10),
    _Case(name="a steady 0.3 of two that costs twice its share", foreign=0.3, blocks=10, costs=(0.0, 2.0)),
    _Case(
        name="a steady 0.3 of two that costs three times its share", foreign=0.3, blocks=10, costs=(0.0, 3.0)
    ),
    _Case(
        name="a true factor of two under 0.3 of two",
        foreign=0.3,
        blocks=10,
        costs=_ALL,
        effect=1.0,
        promise=_POWER,
    ),
    _Case(
        name="a true factor of two, a third of blocks busy",
        foreign=0.3,
        busy=1 / 3,
        blocks=18,
        costs=_ALL,
        effect=1.0,
        promise=_POWER,
    ),
    _Case(
        name="a true 5 %, a quarter of blocks busy",
        foreign=0.3,
        busy=0.25,
        blocks=16,
        costs=_ALL,
        effect=0.05,
        promise=_POWER,
    ),
    _Case(name="a true 5 %, quiet", foreign=0.0, blocks=16, costs=_ALL, effect=0.05, promise=_POWER),
)


def table_of(campaigns: int, seed: int) -> str:
    return rows_said(_row(case, campaigns, seed) for case in _CASES)


def _row(case: _Case, campaigns: int, seed: int) -> Row:
    generator = np.random.default_rng([seed, 11])
    said = [_verdict(case, number % 50, generator) for number in range(campaigns)]
    decided = sum(each.word is not Word.UNDECIDED for each in said)
    false = [each for each in said if is_false(each, case.effect)]
    unsaid = sum(not names_load(each) for each in false)
    against = sum(any(True for _ in contradictions(each)) for each in said)
    answered = sum(each.word is (Word.SLOWER if case.effect else Word.WITHIN) for each in said)
    return Row(
        cell=f"{case.name}, n = {case.blocks}",
        promise=case.promise,
        false=shares([unsaid], campaigns),
        missed=shares([sum(leaves_out(each, case.effect) for each in said)], campaigns),
        price=f"decided {100 * decided / campaigns:.0f} %, "
        f"{'slower' if case.effect else 'within'} {100 * answered / campaigns:.0f} %, {_figures(said, case)}; "
        f"false with the load named {100 * (len(false) - unsaid) / campaigns:.0f} %, "
        f"against the interval beside it {100 * against / campaigns:.0f} %",
    )


def _figures(said: Sequence[Verdict], case: _Case) -> str:
    points = [math.log1p(each.overhead.typical.point) for each in said]
    bias = float(np.mean(points)) - math.log1p(case.effect)
    return f"bias {100 * bias:+.1f}, width {np.nanmedian([width(each) for each in said]):.1f} points"


def _verdict(case: _Case, number: int, generator: np.random.Generator) -> Verdict:
    foreign = case.foreign * _busy(case, generator)
    runs = generator.normal(0.0, _RUN, (3, case.blocks))
    runs[2] += math.log1p(case.effect)
    shares_lost = np.array([case.costs[0], case.costs[0], case.costs[1]])[:, None] * foreign / _PROCESSORS
    runs -= np.log1p(-shares_lost)
    places = [
        (place, arm, block)
        for place, arm in enumerate((*NATIVES, ("arm0", 0)))
        for block in range(case.blocks)
    ]
    values = {(CELL.workload, block, arm): (float(runs[place, block]),) for place, arm, block in places}
    loads = {
        (block, arm): HostLoad(processors=_PROCESSORS, foreign=float(foreign[place, block]))
        for place, arm, block in places
    }
    return judged(summarized(planned(case.blocks, 1, 1, number), values, loads))[0]


def _busy(case: _Case, generator: np.random.Generator) -> Bools:
    """Which trials meet the load; shape (3, blocks)."""
    if case.bursts:
        return generator.random((3, case.blocks)) < case.busy
    busy = np.arange(case.blocks) < round(case.busy * case.blocks)
    return np.broadcast_to(generator.permutation(busy), (3, case.blocks))
