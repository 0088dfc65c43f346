# SPDX-License-Identifier: Apache-2.0
"""After-effects where the arms of a block take turns: by slices, and by the freezer."""

import math
import random
from collections.abc import Iterable, Sequence

import numpy as np

from bench.simulation.scenarios import Floats
from bench.words.product import judged, leads_in, turns_of_freezer, turns_of_slices
from bench.words.records import CELL, NATIVES, Place, planned, summarized, summary_of
from bench.words.rows import Row
from bench.words.tallies import row_of, tallied
from bench.words.whole_runs import RUN
from tare.records import Summary

SLICES, TURNS = 24, 40
_SLICE = 0.02


def in_slices(left: float, campaigns: int, seed: int) -> Row:
    generator = np.random.default_rng([seed, 2])
    claims = [judged(_slices(left, number, generator)) for number in range(campaigns)]
    return row_of(f"slices, {left * 100:g} % left, n = 10", [tallied(claims, 0.0)], campaigns)


def _slices(left: float, number: int, generator: np.random.Generator) -> tuple[Summary, ...]:
    """Ten blocks of three arms by the product's own order of turns, two starts of each program."""
    trials = planned(10, 1, 1, number, slices=True)
    source = random.Random(number)  # noqa: S311 - an order
    values: dict[Place, Floats] = {}
    for block in range(10):
        starts = [_taken(turns_of_slices(3, SLICES // 2, source), left, led_in=leads_in()) for _ in range(2)]
        for place, arm in enumerate((*NATIVES, ("arm0", 0))):
            own = np.concatenate([start[place] for start in starts])
            values[CELL.workload, block, arm] = own + generator.normal(0.0, _SLICE, len(own))
    return summarized(trials, {place: own.tolist() for place, own in values.items()})


def _taken(rounds: Iterable[Sequence[int]], left: float, *, led_in: bool = False) -> Floats:
    """What the turns of each arm take more because the third ran before; shape (arms, rounds)."""
    before, taken = -1, list[Floats]()
    for order in rounds:
        before = order[0] if led_in and not taken else before
        row = np.zeros(3)
        for arm in order:
            row[arm] = math.log1p(left) if before == 2 else 0.0  # noqa: PLR2004 - the environment
            before = arm
        taken.append(row)
    return np.array(taken).T


def in_freezer(left: float, campaigns: int, seed: int) -> Row:
    """A run of 40 turns: its time is the sum of its turns."""
    generator = np.random.default_rng([seed, 3])
    claims = []
    for number in range(campaigns):
        source = random.Random(number)  # noqa: S311 - an order
        runs = generator.normal(0.0, RUN, (3, 10))
        for block in range(10):
            taken = _taken(turns_of_freezer(3, TURNS, source), left)
            runs[:, block] += np.log(np.exp(taken).mean(axis=1))
        claims.append(judged([summary_of(runs)]))
    return row_of(f"the freezer, {left * 100:g} % left, n = 10", [tallied(claims, 0.0)], campaigns)
