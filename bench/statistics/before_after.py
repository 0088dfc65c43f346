# SPDX-License-Identifier: Apache-2.0
"""Today's estimator beside the one before, where noise is not as either supposes; and beside whole runs in sequence."""

import itertools
import math
import time
from collections.abc import Callable, Mapping

import numpy as np

from bench.simulation.scenarios import Arms, Floats, Scenario
from bench.statistics.markdown import percent, table
from tare.statistics import aligned_ranks
from tare.statistics.blocks import farthest, quantile
from tare.statistics.contrasts import Blocks, Contrast, estimate, widened
from tare.statistics.evidence import Reach, difference_p
from tare.statistics.multiplicity import ERROR, holm
from tare.statistics.series import lag_limit, lag_one
from tare.statistics.student import mean_estimate

BLOCKS = (10, 16, 32)
RUN = 0.01
EFFECT = math.log(1.05)
FAMILY, LOSS = 128, math.log(2)
SLICE_S, RECORDED_S, RUN_S = 0.015, 20.0, 0.6
ROUNDING = 1e-9
RATES = (0.05, 0.1, 0.2)


def _runs(generator: np.random.Generator, campaigns: int, blocks: int) -> Floats:
    return generator.normal(0.0, RUN, (3, campaigns, blocks))


def slow(rate: float, deviation: float = RUN) -> Scenario:
    """A share of the environment's runs takes half as long again."""

    def made(generator: np.random.Generator, campaigns: int, blocks: int) -> Arms:
        first, second, other = generator.normal(0.0, deviation, (3, campaigns, blocks))
        slowed = generator.random((campaigns, blocks)) < rate
        return Arms(first, second, EFFECT + other + math.log(1.5) * slowed)

    return made


def drifting(rho: float) -> Scenario:
    """The environment alone drifts: AR(1) from block to block, with the deviation of a run."""

    def made(generator: np.random.Generator, campaigns: int, blocks: int) -> Arms:
        first, second, other = _runs(generator, campaigns, blocks)
        for block in range(1, blocks):
            other[:, block] = rho * other[:, block - 1] + math.sqrt(1 - rho**2) * other[:, block]
        return Arms(first, second, EFFECT + other)

    return made


def carried(generator: np.random.Generator, campaigns: int, blocks: int) -> Arms:
    """What runs just after the environment takes 3 % more; orders are random, so each native run is hit in a third."""
    runs = _runs(generator, campaigns, blocks)
    place = generator.permuted(np.broadcast_to(np.arange(3), (campaigns, blocks, 3)), axis=-1)
    for arm in range(2):
        runs[arm] += 0.03 * (place[..., arm] == place[..., 2] + 1)
    return Arms(runs[0], runs[1], EFFECT + runs[2])


def tied(generator: np.random.Generator, campaigns: int, blocks: int) -> Arms:
    """Times of 0.3 s that vary by 3 %, in steps of 10 ms."""
    runs = 0.3 * np.exp(
        3 * _runs(generator, campaigns, blocks) + np.array([0.0, 0.0, 1.0])[:, None, None] * math.log(1.1)
    )
    return Arms(*np.log(np.round(runs, 2)))


def lucky(generator: np.random.Generator, campaigns: int, blocks: int) -> Arms:
    """Both natives share what a block brings them, of the same size as a run's noise."""
    runs = _runs(generator, campaigns, blocks)
    runs[:2] += generator.normal(0.0, RUN, (campaigns, blocks))
    return Arms(runs[0], runs[1], EFFECT + runs[2])


def in_rounds(generator: np.random.Generator, campaigns: int, blocks: int) -> Arms:
    """Each block's mean of 20 rounds, and a node's own luck in each arm and block."""
    runs = _runs(generator, campaigns, blocks) / math.sqrt(20) + generator.normal(
        0.0, RUN / 2, (3, campaigns, blocks)
    )
    return Arms(runs[0], runs[1], EFFECT + runs[2])


SCENARIOS: Mapping[str, Scenario] = {
    **{f"{rate:.0%} slow runs": slow(rate) for rate in RATES},
    "own drift, AR 0.5": drifting(0.5),
    "own drift, AR 0.7": drifting(0.7),
    "carry-over of 3 %": carried,
    "ties of 10 ms": tied,
    "natives share luck": lucky,
    "rounds with node effects": in_rounds,
}


def _contrasts(arms: Arms) -> list[Blocks]:
    pairs = zip(arms.log_ratios.tolist(), arms.control_log_ratios.tolist(), strict=True)
    return [Blocks(tuple(own), tuple(control)) for own, control in pairs]


def coverage(campaigns: int, seed: int) -> str:
    """Before: no interval where the lag-1 autocorrelation is beyond its limit."""
    rows = []
    for name, scenario in SCENARIOS.items():
        cells = [_compared(scenario, n, campaigns, seed) for n in BLOCKS]
        rows.append([name, *(cell for pair in zip(*cells, strict=True) for cell in (" · ".join(pair),))])
    return table(["noise", "before, n = 10 · 16 · 32", "after"], rows)


def _compared(scenario: Scenario, n: int, campaigns: int, seed: int) -> tuple[str, str]:
    truth = float(
        np.median([each.point() for each in _contrasts(scenario(np.random.default_rng(99), 40, 500))])
    )
    given = _contrasts(scenario(np.random.default_rng([seed, n]), campaigns, n))
    kept = [each for each in given if lag_one(each.log_ratios) <= lag_limit(n)]
    return _cell(kept, truth, len(given)), _cell([widened(each) for each in given], truth, len(given))


def _cell(given: list[Blocks] | list[Contrast], truth: float, campaigns: int) -> str:
    estimates = [estimate(each) for each in given]
    ends = np.array([(each.low, each.high) for each in estimates], dtype=float)
    covered = np.mean((ends[:, 0] <= truth + ROUNDING) & (truth - ROUNDING <= ends[:, 1]))
    claims = "" if len(given) == campaigns else f" of {percent(len(given) / campaigns)}"
    return f"{percent(covered)}{claims}, {100 * np.median(ends[:, 1] - ends[:, 0]):.2f}"


def families(campaigns: int, seed: int) -> str:
    """One loss of a half among 127 claims of nothing, ten blocks each, all by Holm's procedure."""
    before: Callable[[Blocks], float] = _normal_p
    rows = []
    for name, p_of in (("before", before), ("after", lambda entry: difference_p(entry, Reach.at_once(10)))):
        generator = np.random.default_rng(seed)
        lost = false = 0
        for _ in range(campaigns):
            first, second, other = generator.normal(0.0, 0.05, (3, FAMILY, 10))
            other[0] += LOSS
            adjusted = holm([p_of(blocks) for blocks in _contrasts(Arms(first, second, other))]) <= ERROR
            lost, false = lost + bool(adjusted[0]), false + bool(adjusted[1:].any())
        rows.append([name, percent(lost / campaigns), percent(false / campaigns, 1)])
    return table(["128 claims, n = 10", "the loss of one half is claimed", "any false claim"], rows)


def _normal_p(blocks: Blocks) -> float:
    own, controls = np.asarray(blocks.log_ratios), np.asarray(blocks.controls)
    least = min(abs(float(aligned_ranks.statistic(own, controls, np.asarray(0.0)))), farthest(len(own)))
    low, high = 1e-9, 1.0
    for _ in range(60):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if quantile(middle) > least else (low, middle)
    return high


def turns(campaigns: int, seed: int) -> str:
    """Half-widths of the same pieces of this machine's time: in turns of 15 ms, and as whole runs one after another."""
    del campaigns
    generator = np.random.default_rng(seed)
    pieces = np.log(_recorded())
    ends = np.linspace(0, len(pieces) // 3, 11).astype(int)
    rounds = generator.permuted(pieces[: 3 * (len(pieces) // 3)].reshape(-1, 3), axis=1)
    blocks = np.array([rounds[begin:end].mean(axis=0) for begin, end in itertools.pairwise(ends)])
    log_ratios, controls = aligned_ranks.log_ratios_of(blocks)
    ours = estimate(widened(Blocks(tuple(log_ratios.tolist()), tuple(controls.tolist()))))
    per_run = round(RUN_S / SLICE_S)
    runs = np.log(
        [np.exp(values).sum() for values in np.split(pieces, range(per_run, len(pieces), per_run))[:-1]]
    )
    half = len(runs) // 2
    theirs = _welch(runs[:half], runs[half : 2 * half])
    own = ((ours.high or math.nan) - (ours.low or math.nan)) / 2
    row = [f"±{100 * own:.2f} %", f"±{100 * theirs:.2f} %", f"{own / theirs:.2f}"]
    return table(
        [f"in turns, {RECORDED_S:g} s for three arms", "whole runs of 0.6 s, two arms, Welch's t", "ratio"],
        [row],
    )


def _welch(native: Floats, other: Floats) -> float:
    """Half-width; both samples are of one size, so the pooled degrees of freedom differ little."""
    errors = [np.std(values, ddof=1) ** 2 / len(values) for values in (native, other)]
    both = mean_estimate(tuple((other - native).tolist()))
    factor = ((both.high or math.nan) - both.point) / (np.std(other - native, ddof=1) / math.sqrt(len(other)))
    return float(factor * math.sqrt(sum(errors)))


def _recorded() -> Floats:
    """Times of equal pieces of arithmetic, one after another, on whatever this machine is doing."""
    work = np.arange(2000.0)
    repeats, taken = 50, 0.0
    while taken < SLICE_S:
        repeats *= 2
        taken = _piece(work, repeats)
    repeats = max(1, round(repeats * SLICE_S / taken))
    return np.array([_piece(work, repeats) for _ in range(round(RECORDED_S / SLICE_S))])


def _piece(work: Floats, repeats: int) -> float:
    begun = time.perf_counter()
    for _ in range(repeats):
        np.multiply(work, 1.0000001, out=work)
    return time.perf_counter() - begun
