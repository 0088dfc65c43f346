# SPDX-License-Identifier: Apache-2.0
"""Slow slices, slow starts and slow runs: what is said of the mean although it holds of the typical run alone."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from bench.simulation.scenarios import Floats
from bench.words.product import MARGIN, is_unqualified, judged, shown
from bench.words.records import CELL, METRIC, NATIVES, planned, summarized, summary_of
from bench.words.rows import Row, rows_said, shares
from tare.records import Verdict, Word

_BLOCKS = 10
_ROUNDS = 24
_SLICE = 0.01
_FACTOR = 2.0
_PROMISE = "an unqualified word holds of the mean: at most 5 % false"
_OF_ESTIMATE = "of a difference none: slow runs that did not occur are not bounded"
Noise = Callable[[np.random.Generator, Floats], Floats]
"""Logarithms of times, shape (3, blocks, rounds), natives first → the same with slow ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    name: str
    slowed: Noise
    mean: float
    """Of the environment's time over native's, less 1."""
    typical: float = 0.0
    """Planted in all of the environment's slices, as a fraction."""
    rounds: int = _ROUNDS
    blocks: int = _BLOCKS


def _slices(native: tuple[float, float], here: tuple[float, float]) -> Noise:
    """Shares of single slices that take so many times as long."""

    def slowed(generator: np.random.Generator, times: Floats) -> Floats:
        made = times.copy()
        for arm, (rate, factor) in enumerate((native, native, here)):
            made[arm] += math.log(factor) * (generator.random(times[arm].shape) < rate)
        return made

    return slowed


def _starts(rate: float, factor: float, starts: int = 1, native: float = 0.0) -> Noise:
    """A share of the environment's starts in which every slice takes so many times as long."""

    def slowed(generator: np.random.Generator, times: Floats) -> Floats:
        made = times.copy()
        _, blocks, rounds = times.shape
        for arm, own in enumerate((native, native, rate)):
            slow = generator.random((blocks, starts)) < own
            made[arm] += math.log(factor) * np.repeat(slow, rounds // starts, axis=1)
        return made

    return slowed


def _unchanged(generator: np.random.Generator, times: Floats) -> Floats:
    del generator
    return times


_FEW_SLOW = (0.02, 4.0), (0.03, 1.25)
_CASES = (
    _Case(name="slices, nothing slow", slowed=_unchanged, mean=0.0),
    _Case(
        name="slices, 2 % four times as long, native 3 % a quarter",
        slowed=_slices(_FEW_SLOW[1], _FEW_SLOW[0]),
        mean=1.06 / 1.0075 - 1,
    ),
    _Case(
        name="1200 slices, 2 % four times as long, native 3 % a quarter",
        slowed=_slices(_FEW_SLOW[1], _FEW_SLOW[0]),
        mean=1.06 / 1.0075 - 1,
        rounds=60,
        blocks=20,
    ),
    _Case(
        name="slices, 5 % twice as long here, natively as often a quarter longer",
        slowed=_slices((0.05, 1.25), (0.05, 2.0)),
        mean=1.05 / 1.0125 - 1,
    ),
    _Case(name="slices, 1 % twice as long in all arms", slowed=_slices((0.01, 2.0), (0.01, 2.0)), mean=0.0),
    _Case(name="slices, one start in ten half as long again", slowed=_starts(0.1, 1.5), mean=0.05),
    _Case(name="slices, one of twenty program starts twice as long", slowed=_starts(0.05, 2.0, 2), mean=0.05),
    _Case(name="slices, one start in thirty half as long again", slowed=_starts(1 / 30, 1.5), mean=0.5 / 30),
    _Case(
        name="slices, a start in five 15 % longer, below what counts as slow",
        slowed=_starts(0.2, 1.15),
        mean=0.03,
    ),
    _Case(
        name="slices, slower by 2 %, 2 % of them four times as long",
        slowed=_slices((0.0, 1.0), _FEW_SLOW[0]),
        mean=1.02 * 1.06 - 1,
        typical=0.02,
    ),
    _Case(
        name="slices, slower by 2 %, one start in ten half as long again",
        slowed=_starts(0.1, 1.5),
        mean=1.02 * 1.05 - 1,
        typical=0.02,
    ),
    _Case(name="whole runs, one in ten half as long again", slowed=_starts(0.1, 1.5), mean=0.05, rounds=1),
    _Case(name="whole runs, nothing slow", slowed=_unchanged, mean=0.0, rounds=1),
    _Case(
        name="whole runs, slower by 5 %, one in ten twice as long",
        slowed=_starts(0.1, 2.0),
        mean=1.05 * 1.1 - 1,
        typical=0.05,
        rounds=1,
    ),
)


def table_of(campaigns: int, seed: int) -> str:
    return rows_said(_row(case, campaigns, seed) for case in _CASES)


def _row(case: _Case, campaigns: int, seed: int) -> Row:
    generator = np.random.default_rng([seed, 7])
    said = [_verdict(case, seed * campaigns + number, generator) for number in range(campaigns)]
    narrow = [each for each in said if each.word is Word.WITHIN and each.within == MARGIN]
    plain = [each for each in said if is_unqualified(each)]
    false = sum(_is_false_of_mean(each, case.mean) for each in plain)
    decided = sum(each.word is not Word.UNDECIDED for each in said)
    return Row(
        cell=f"{case.name}, mean {100 * case.mean:+.1f} %, n = {case.blocks}",
        promise=_OF_ESTIMATE if case.typical else _PROMISE,
        false=shares([false], campaigns),
        missed=shares([_missed(said, case.mean)], campaigns),
        price=f"decided {100 * decided / campaigns:.0f} %, unqualified {100 * len(plain) / campaigns:.0f} %, "
        f"±1 % {100 * len(narrow) / campaigns:.0f} %",
    )


def _is_false_of_mean(verdict: Verdict, mean: float) -> bool:
    """Whether the mean lies outside what is said: a difference's means a mean within a factor of two of its range."""
    if verdict.word is Word.WITHIN:
        return verdict.within is not None and abs(mean) > verdict.within
    if verdict.word is Word.BOUNDED:
        return verdict.at_most is not None and mean > verdict.at_most
    interval = shown(verdict)
    ends = [end for end in (interval.low, interval.high) if end is not None]
    near, far = min(ends, key=abs), max(ends, key=abs)
    return mean / near < 1 / _FACTOR or mean / far > _FACTOR


def _missed(said: Sequence[Verdict], mean: float) -> int:
    """Of the mean's interval."""
    own = [verdict.overhead.mean for verdict in said]
    return sum(
        each.low is not None and each.high is not None and not each.low <= mean <= each.high for each in own
    )


def _verdict(case: _Case, number: int, generator: np.random.Generator) -> Verdict:
    times = generator.normal(0.0, _SLICE, (3, case.blocks, case.rounds))
    times[2] += math.log1p(case.typical)
    times = case.slowed(generator, times)
    if case.rounds == 1:
        return judged([summary_of(times[:, :, 0])])[0]
    arms = (*NATIVES, ("arm0", 0))
    values = {
        (CELL.workload, block, arm): times[place, block].tolist()
        for place, arm in enumerate(arms)
        for block in range(case.blocks)
    }
    trials = planned(case.blocks, 1, 1, number % 50, slices=True)
    return next(each for each in judged(summarized(trials, values)) if each.overhead.summary.metric == METRIC)
