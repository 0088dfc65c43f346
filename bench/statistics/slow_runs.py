# SPDX-License-Identifier: Apache-2.0
"""Claims without "typically" where runs, slices or starts are slow: by the rule before, and as they are said now."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bench.simulation.scenarios import Floats
from bench.statistics.markdown import percent, table
from tare.analyze import overhead, verdict
from tare.analyze.qualification import qualification
from tare.analyze.slow_runs import ASSUMED_COST
from tare.records import BlockValue, Cell, Direction, Overhead, SlowRuns, Summary, Verdict, Word
from tare.statistics.distributions import beta_quantile
from tare.treat.rounds import block_rounds

MARGIN = 0.01
QUICK = 44
"""Slices of an arm and block in the preset quick: 22 rounds by each of two processes."""
DELAY = 0.4
"""Mean of the exponential delay, on the scale of logarithms, of a slice in a burst."""
_TRUTH_BLOCKS = 10_000
_NATIVES, _ENVIRONMENT = slice(0, 2), slice(2, 3)


class Slow(NamedTuple):
    """Which arms are slow, how often, and how many times as long it then takes."""

    arms: slice
    rate: float
    times: float
    groups: int = 0
    """Into how many groups, slow as a whole, an arm's slices of a block fall: 1 is a start; 0: each slice by itself."""
    share: float = 1.0
    """Share of a slow group's slices that are slow."""


@dataclass(frozen=True, kw_only=True)
class Scene:
    """Three arms with normal noise, of which some slices, processes or starts are slow."""

    slow: tuple[Slow, ...] = ()
    blocks: int = 10
    slices: int = QUICK
    """Per arm and block; 1: whole runs."""
    effect: float = 0.0
    noise: float = 0.002
    """Of a start, on the scale of logarithms; a slice has 2 % of its own."""
    bursts: float = 0.0
    """Share of all arms' slices that are delayed."""
    heavy: bool = False
    """Starts vary as Student's t with two degrees of freedom."""

    @property
    def in_turns(self) -> bool:
        return self.slices > 1

    def drawn(self, generator: np.random.Generator, blocks: int) -> Floats:
        """Logarithms of times: (blocks, arms, slices), both natives first."""
        starts = (blocks, 3, 1)
        noise = generator.standard_t(2, starts) if self.heavy else generator.normal(0.0, 1.0, starts)
        times = np.repeat(self.noise * noise, self.slices, axis=2)
        times[:, _ENVIRONMENT] += math.log1p(self.effect)
        if self.in_turns:
            times += generator.normal(0.0, 0.02, times.shape)
        times += generator.exponential(DELAY, times.shape) * (generator.random(times.shape) < self.bursts)
        for each in self.slow:
            part = times[:, each.arms]
            groups = each.groups or self.slices
            hit = generator.random((*part.shape[:2], groups)) < each.rate
            hit = np.repeat(hit, self.slices // groups, axis=2) & (generator.random(part.shape) < each.share)
            part += math.log(each.times) * hit
        return times

    def truth(self) -> float:
        """The mean overhead: over slices the arithmetic mean, over blocks the geometric one."""
        times = self.drawn(np.random.default_rng(99), _TRUTH_BLOCKS)
        blocks = np.log(np.exp(times).mean(axis=2))
        return math.expm1(float(np.mean(blocks[:, 2] - blocks[:, :2].mean(axis=1))))


SLICES = (Slow(_ENVIRONMENT, 0.02, 4), Slow(_NATIVES, 0.03, 1.25))
STARTS = (Slow(_ENVIRONMENT, 0.1, 1.5, 1),)
NATIVE_STARTS = (Slow(_NATIVES, 0.1, 1.5, 1),)
RUN = 0.0033
"""Noise of a whole run."""
SCENES: Mapping[str, Scene] = {
    "2 % of slices 4 times as long, natively 3 % a quarter longer": Scene(slow=SLICES),
    "2 % of slices as above, 240 slices": Scene(slow=SLICES, slices=240),
    "1 start in 10 half as long again": Scene(slow=STARTS),
    "1 start in 10 as above, 240 slices": Scene(slow=STARTS, slices=240),
    "1 start in 20, 32 blocks": Scene(slow=(Slow(_ENVIRONMENT, 0.05, 1.5, 1),), blocks=32),
    "1 native start in 10": Scene(slow=NATIVE_STARTS),
    "1 native start in 10, 32 blocks": Scene(slow=NATIVE_STARTS, blocks=32),
    "1 process in 10 half as long again": Scene(slow=(Slow(_ENVIRONMENT, 0.1, 1.5, 2),)),
    "1 start in 10 with a fifth of its slices 4 times as long": Scene(
        slow=(Slow(_ENVIRONMENT, 0.1, 4, 1, 0.2),)
    ),
    "3 % of slices twice as long in all arms": Scene(slow=(Slow(slice(0, 3), 0.03, 2),)),
    "bursts on a fifth of all slices": Scene(bursts=0.2),
    "nothing": Scene(),
    "nothing, 32 blocks": Scene(blocks=32),
    "nothing, 160 blocks": Scene(blocks=160, slices=22),
    "3 % of starts half as long again, 160 blocks": Scene(
        slow=(Slow(_ENVIRONMENT, 0.03, 1.5, 1),), blocks=160, slices=22
    ),
    "1.2 % of starts 3 times as long, 160 blocks": Scene(
        slow=(Slow(_ENVIRONMENT, 0.012, 3, 1),), blocks=160, slices=22
    ),
    "1 start in 10 takes 15 % more, 160 blocks": Scene(
        slow=(Slow(_ENVIRONMENT, 0.1, 1.15, 1),), blocks=160, slices=22
    ),
    "nothing, 3 % of noise in a start, 32 blocks": Scene(noise=0.03, blocks=32),
    "2 % slower and nothing else": Scene(effect=0.02),
    "2 % slower with bursts": Scene(effect=0.02, bursts=0.2),
    "1.5 % slower, and slow slices as above": Scene(effect=0.015, slow=SLICES),
    "1.5 % slower, and slow starts as above": Scene(effect=0.015, slow=STARTS),
    "5 % slower, and slow native starts": Scene(effect=0.05, slow=NATIVE_STARTS),
    "whole runs: nothing": Scene(slices=1, noise=RUN),
    "whole runs: nothing, 160 blocks": Scene(slices=1, noise=RUN, blocks=160),
    "whole runs: 1 in 10 half as long again": Scene(slices=1, noise=RUN, slow=STARTS),
    "whole runs: 1 in 10 natively, 32 blocks": Scene(slices=1, noise=RUN, slow=NATIVE_STARTS, blocks=32),
    "whole runs: 2 % slower and nothing else": Scene(slices=1, noise=RUN, effect=0.02),
    "whole runs: 2 % slower, heavy tails": Scene(slices=1, noise=RUN, effect=0.02, heavy=True),
    "whole runs: 1 % slower, 1 in 20 of 1.8 times, 32 blocks": Scene(
        slices=1, noise=RUN, effect=0.01, slow=(Slow(_ENVIRONMENT, 0.05, 1.8, 1),), blocks=32
    ),
}


def claims(campaigns: int, seed: int) -> str:
    """Shares of all campaigns, before → after. False: the true mean is beyond the margin, or twice a range."""
    rows = [_row(name, scene, campaigns, seed) for name, scene in SCENES.items()]
    heads = ("noise; in turns unless it says otherwise, n = 10", "true mean")
    bounds = ("within, at most", "unqualified", "false")
    differences = ("slower, faster", "unqualified", "false")
    return table([*heads, *bounds, *differences], rows)


def _row(name: str, scene: Scene, campaigns: int, seed: int) -> list[str]:
    generator, truth = np.random.default_rng([seed, scene.blocks]), scene.truth()
    said = [verdict(overhead(_summary(scene, generator)), MARGIN) for _ in range(campaigns)]
    cells: list[str] = []
    for words in ({Word.WITHIN, Word.BOUNDED}, {Word.SLOWER, Word.FASTER}):
        own = [each for each in said if each.word in words]
        plain = [each for each in own if _stood(each)], [each for each in own if not qualification(each)]
        counts = [(len(some), sum(_is_false(each, truth) for each in some)) for some in plain]
        cells.append(percent(len(own) / campaigns))
        cells.extend(
            " → ".join(percent(count / campaigns) for count in pair) for pair in zip(*counts, strict=True)
        )
    return [name, f"{100 * truth:+.1f} %", *cells]


def _is_false(judged: Verdict, truth: float) -> bool:
    """Whether a claim that is not limited to the typical run misstates the mean."""
    typical = judged.overhead.typical
    if judged.word is Word.WITHIN:
        return abs(truth) > (judged.within or 0.0)
    if judged.word is Word.BOUNDED:
        return truth > (judged.at_most or 0.0)
    near, far = sorted((abs(typical.low or 0.0), abs(typical.high or 0.0)))
    own = truth if judged.word is Word.SLOWER else -truth
    return not near / 2 <= own <= 2 * far


def _stood(judged: Verdict) -> bool:
    """Whether the rule before left a claim unqualified: by the rates alone, or by the mean's interval in turns."""
    given, bound = judged.overhead, judged.within or judged.at_most or 0.0
    if judged.word in (Word.SLOWER, Word.FASTER) or given.slow is None:
        return True
    cost = max(ASSUMED_COST, given.slow.by or 0.0)
    return _rate_beyond(given.slow) * cost <= bound or _mean_within(given, bound)


def _rate_beyond(slow: SlowRuns) -> float:
    most = beta_quantile(slow.slow + 1, slow.runs - slow.slow, 0.95) if slow.slow < slow.runs else 1.0
    count, runs = slow.native_slow, slow.native_runs
    return most - (beta_quantile(count, runs - count + 1, 0.05) if count else 0.0)


def _mean_within(given: Overhead, bound: float) -> bool:
    mean = given.mean
    if given.slow_starts is None or mean.low is None or mean.high is None:
        return False
    return -bound < mean.low and mean.high < bound


def _summary(scene: Scene, generator: np.random.Generator) -> Summary:
    times = scene.drawn(generator, scene.blocks)
    blocks = tuple(_block(place, arms, in_turns=scene.in_turns) for place, arms in enumerate(times))
    rounds = [block.rounds for block in blocks if block.rounds is not None]
    whole = times[:, :, 0]
    log_ratios, controls = whole[:, 2] - whole[:, :2].mean(axis=1), whole[:, 1] - whole[:, 0]
    return Summary(
        cell=Cell(workload="work", layout="1c1p1i"),
        environment="environment",
        metric="wall_s",
        unit="s",
        direction=Direction.LESS,
        primary=True,
        blocks=blocks,
        log_ratios=tuple(each.log_ratio for each in rounds) or tuple(log_ratios.tolist()),
        control_log_ratios=tuple(each.control_log_ratio for each in rounds) or tuple(controls.tolist()),
        dropped_blocks=0,
    )


def _block(number: int, arms: Floats, *, in_turns: bool) -> BlockValue:
    first, second, other = (dict(enumerate(arm)) for arm in arms.tolist())
    means = np.exp(arms).mean(axis=1).tolist()
    rounds = block_rounds((first, second), other) if in_turns else None
    return BlockValue(block=number, native=(means[0], means[1]), environment=means[2], rounds=rounds)
