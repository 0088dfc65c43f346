# SPDX-License-Identifier: Apache-2.0
"""Blocks that depend on each other, and noise of one arm alone: verdicts, bands of curves, and factors."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from bench.simulation.intervals import points
from bench.simulation.scenarios import Arms, Floats
from bench.words.product import judged
from bench.words.records import CELL, is_false, leaves_out, summary_of, width
from bench.words.rows import Row, rows_said, shares
from tare.analyze import dependences
from tare.records import Cell, DependenceWord, FactorCells, Level, Verdict
from tare.statistics.simultaneous import band

_RUN = 0.01
_PLACES = 10
_LEVELS = tuple(Level(key="size", text=str(size), number=float(size)) for size in (1, 2, 4))
_CELLS = tuple(Cell(workload=CELL.workload, layout=f"{CELL.layout}[{level}]") for level in _LEVELS)
_SERIES = FactorCells(
    workload=CELL.workload,
    setting=CELL.layout,
    key="size",
    levels=_LEVELS,
    cells=tuple((cell,) for cell in _CELLS),
)
_FIVE = "at most 5 %"
_BAND = "at most 5 % leave out a typical 0 anywhere"
_PART = "5 % in part: noise of one arm alone is beyond a band"
_NONE = "none: so few blocks hardly show how much they depend on each other"
_MANY = 60_000


class Noise:
    """Runs of three arms, natives first, with a typical overhead of 0: shape (3, blocks, series)."""

    def __init__(self, name: str, *, rho: float = 0.0, alike: bool = True, shape: str = "normal") -> None:
        self.name, self.rho, self.alike, self.shape = name, rho, alike, shape

    def runs(self, generator: np.random.Generator, blocks: int, series: int) -> Floats:
        made = self._raw(generator, blocks, series)
        made[2] -= _centre(self)
        return made

    def promised(self, promise: str = _FIVE) -> str:
        return _NONE if self.rho else promise

    @property
    def mean(self) -> float:
        """Of the environment over native, as a logarithm."""
        return _mean(self)

    def _raw(self, generator: np.random.Generator, blocks: int, series: int) -> Floats:
        made = np.array([self._arm(generator, blocks, series, own=arm == 2) for arm in range(3)])  # noqa: PLR2004
        return _RUN * made

    def _arm(self, generator: np.random.Generator, blocks: int, series: int, *, own: bool) -> Floats:
        size = (blocks, series)
        normal = generator.normal(0.0, 1.0, size)
        if self.shape == "skewed":
            return (3.0 if own else 1.0) * (generator.exponential(1.0, size) - 1.0)
        if self.shape == "three times":
            return (3.0 if own else 1.0) * normal
        if self.shape == "spikes" and own:
            spiked = generator.random(size) < 0.05  # noqa: PLR2004
            return normal + spiked * np.log1p(generator.exponential(0.3, size)) / _RUN
        if own or self.alike:
            return self._drifting(normal)
        return normal

    def _drifting(self, values: Floats) -> Floats:
        made = values.copy()
        for block in range(1, len(made)):
            made[block] = self.rho * made[block - 1] + math.sqrt(1 - self.rho**2) * values[block]
        return made


@cache
def _large(noise: Noise) -> Arms:
    return Arms(*noise._raw(np.random.default_rng(99), 30, _MANY // 30).transpose(0, 2, 1).reshape(3, 1, -1))  # noqa: SLF001


@cache
def _centre(noise: Noise) -> float:
    """What the aligned ranks estimate, from very many blocks; symmetric noise has none."""
    return float(points(_large(noise))[0]) if noise.shape in {"skewed", "spikes"} else 0.0


@cache
def _mean(noise: Noise) -> float:
    if noise.shape not in {"skewed", "spikes"}:
        return 0.0
    return float(_large(noise).log_ratios.mean()) - _centre(noise)


NOISES = (
    Noise("normal noise"),
    Noise("AR 0.5 in one arm", rho=0.5, alike=False),
    Noise("AR 0.7 in one arm", rho=0.7, alike=False),
    Noise("AR 0.5 in all arms", rho=0.5),
    Noise("AR 0.7 in all arms", rho=0.7),
    Noise("noise three times as large in one arm", shape="three times"),
    Noise("skewed noise, three times as large in one arm", shape="skewed"),
    Noise("spikes in one arm alone", shape="spikes"),
)


def table_of(campaigns: int, seed: int) -> str:
    few = max(2, campaigns // 2)
    return rows_said(
        [
            *(_verdicts(noise, campaigns, seed) for noise in NOISES),
            *(_bands(noise, 2 * campaigns, seed) for noise in NOISES),
            *(_factors(noise, few, seed) for noise in NOISES),
        ]
    )


def _verdicts(noise: Noise, campaigns: int, seed: int) -> Row:
    blocks = (10, 16, 32)
    said = {n: _judged(noise, n, campaigns, seed) for n in blocks}
    widths = " · ".join(f"{np.nanmedian([width(each) for each in said[n]]):.1f}" for n in blocks)
    return Row(
        cell=f"verdicts, {noise.name}, n = {' · '.join(map(str, blocks))}",
        promise=noise.promised(),
        false=shares([sum(is_false(each, 0.0) for each in said[n]) for n in blocks], campaigns),
        missed=shares([sum(leaves_out(each, 0.0) for each in said[n]) for n in blocks], campaigns),
        price=f"width {widths} points",
    )


def _judged(noise: Noise, n: int, campaigns: int, seed: int) -> Sequence[Verdict]:
    runs = noise.runs(np.random.default_rng([seed, n]), n, campaigns)
    return [judged([summary_of(runs[:, :, number])])[0] for number in range(campaigns)]


def _bands(noise: Noise, campaigns: int, seed: int) -> Row:
    blocks = (10, 20)
    tallies = [_tally(noise, n, campaigns, seed) for n in blocks]
    false, missed, widths = zip(*tallies, strict=True)
    return Row(
        cell=f"band of {_PLACES} places, {noise.name}, n = 10 · 20",
        promise=noise.promised(_BAND if noise.shape == "normal" else _PART),
        false=shares(false, campaigns),
        missed=f"the mean: {shares(missed, campaigns)}",
        price=f"width {' · '.join(f'{each:.1f}' for each in widths)} points",
    )


def _tally(noise: Noise, n: int, campaigns: int, seed: int) -> tuple[int, int, float]:
    """Bands that leave out a typical value of 0 somewhere, those that leave out the mean, and the median width."""
    generator = np.random.default_rng([seed, n, 1])
    false, missed, widths = 0, 0, []
    for _ in range(campaigns):
        first, second, other = noise.runs(generator, n, _PLACES)
        around = band(other - (first + second) / 2, second - first)
        if around is not None:
            false += _is_beyond(around.low, around.high, 0.0)
            missed += _is_beyond(around.low, around.high, noise.mean)
            widths.append(100 * float(np.median(around.high - around.low)))
    return false, missed, float(np.median(widths))


def _is_beyond(low: Floats, high: Floats, value: float) -> bool:
    return bool(((low > value) | (high < value)).any())


def _factors(noise: Noise, campaigns: int, seed: int) -> Row:
    blocks = (10, 20)
    return Row(
        cell=f"a factor of three levels, {noise.name}, n = 10 · 20",
        promise=noise.promised(),
        false=shares([_depend(noise, n, campaigns, seed, {}) for n in blocks], campaigns),
        price="2 % more at one level is seen: "
        f"{shares([_depend(noise, n, campaigns, seed, {2: 0.02}) for n in blocks], campaigns)} %",
    )


def _depend(noise: Noise, n: int, campaigns: int, seed: int, effects: Mapping[int, float]) -> int:
    generator = np.random.default_rng([seed, n, 2])
    return sum(_depends(noise, n, generator, effects) for _ in range(campaigns))


def _depends(noise: Noise, n: int, generator: np.random.Generator, effects: Mapping[int, float]) -> bool:
    runs = noise.runs(generator, n, len(_LEVELS))
    own = []
    for place, cell in enumerate(_CELLS):
        first, second, other = runs[:, :, place]
        own.append(
            replace(summary_of((first, second, other + math.log1p(effects.get(place, 0.0)))), cell=cell)
        )
    return any(each.word is DependenceWord.DEPENDS for each in dependences(judged(own), [_SERIES]))
