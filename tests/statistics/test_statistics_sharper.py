# SPDX-License-Identifier: Apache-2.0
"""p-values beyond the reach of the normal distribution: what they count, and how often they err."""

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.analyze.looks_example import summary_of

from tare.analyze import overhead, verdict
from tare.records import Word
from tare.statistics.aligned_ranks import log_ratios_of
from tare.statistics.contrasts import Blocks, estimate, widened
from tare.statistics.evidence import Reach, difference_p, equivalence_p
from tare.statistics.sharper import bounds, bounds_of_many, share_as_far

Floats = NDArray[np.float64]
CAMPAIGNS = 3000


def blocks_of(runs: Floats) -> Blocks:
    log_ratios, controls = log_ratios_of(runs)
    return Blocks(tuple(log_ratios.tolist()), tuple(controls.tolist()))


@given(st.integers(0, 10_000), st.integers(2, 6))
def test_the_share_is_that_of_all_placements(seed: int, n: int) -> None:
    scores = np.random.default_rng(seed).integers(-4, 5, (n, 3)).astype(float)
    own = scores[:, 0]
    if not own.any():
        assert share_as_far(scores) == 1.0
        return
    seen = own.sum() / math.sqrt((own**2).sum())
    placed = [
        sum(chosen) >= seen * math.sqrt(sum(score**2 for score in chosen)) - 1e-6
        for chosen in itertools.product(*scores.tolist())
    ]
    assert share_as_far(scores) == pytest.approx(np.mean(placed), abs=2 / 3**n)


def test_drawn_placements_agree_with_all_of_them() -> None:
    runs = np.random.default_rng(4).normal(size=(11, 3))
    scores = runs - runs.mean(axis=1, keepdims=True)
    sums, squares = np.zeros(1), np.zeros(1)
    for block in scores:
        sums, squares = (sums[:, None] + block).ravel(), (squares[:, None] + block**2).ravel()
    seen = scores[:, 0].sum() / math.sqrt((scores[:, 0] ** 2).sum())
    assert share_as_far(scores) == pytest.approx(np.mean(sums >= seen * np.sqrt(squares)), abs=0.012)


def lucky(generator: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    runs = generator.normal(size=shape)
    runs[..., 1:] += 3 * generator.normal(size=(*shape[:-1], 1))
    return runs


NOISES: dict[str, Callable[[np.random.Generator, tuple[int, ...]], Floats]] = {
    "alike": lambda generator, shape: generator.normal(size=shape),
    "natives share luck": lucky,
    "three times as much in the environment": lambda generator, shape: (
        generator.normal(size=shape) * np.array([3, 1, 1])
    ),
    "three times as much natively": lambda generator, shape: (
        generator.normal(size=shape) * np.array([1, 3, 3])
    ),
    "ties": lambda generator, shape: np.round(generator.normal(size=shape)),
    "heavy tails": lambda generator, shape: generator.standard_t(2, shape),
    "nothing but delays": lambda generator, shape: generator.exponential(size=shape),
}


@pytest.mark.parametrize("name", NOISES)
@pytest.mark.parametrize("n", [6, 10, 32])
def test_one_of_several_hundred_claims_of_nothing_is_as_rare_as_it_says(name: str, n: int) -> None:
    runs = NOISES[name](np.random.default_rng(n), (CAMPAIGNS, n, 3))
    p_values = np.array([difference_p(blocks_of(run), Reach.at_once(n)) for run in runs])
    for error in (0.05, 0.01, 0.002):
        allowed = error + 3 * math.sqrt(error / CAMPAIGNS) + (0.005 if n == 6 and error == 0.05 else 0)
        assert np.mean(p_values <= error) <= allowed


def test_natives_that_share_luck_are_no_difference_by_placements_alone() -> None:
    """The environment is always the slowest, by as much as chance makes it: placements alone would be sure."""
    apart = np.array([3.0, 0.2, 1.5, 6.0, 0.4, 2.2, 0.9, 4.0, 0.3, 1.1])
    runs = np.stack([apart, np.zeros(10), np.linspace(-0.01, 0.01, 10)], axis=1)
    p = difference_p(blocks_of(runs), Reach.at_once(10))
    assert 0.0015 < p < 0.0025


@pytest.mark.parametrize("n", [8, 10, 14])
def test_one_slow_block_does_not_make_a_simultaneous_interval_much_wider(n: int) -> None:
    """Whether it is 0.1 or 1 slower, and where all blocks but it lie within ±0.01."""
    error, widths = 0.05 / 28, []
    for slower in (0.1, 1.0):
        runs = np.random.default_rng(n).uniform(-0.01, 0.01, (n, 3))
        runs[n // 2, 0] += slower
        ends = blocks_of(runs).bounds(error)
        assert ends is not None
        widths.append(ends[1] - ends[0])
    assert widths[1] == pytest.approx(widths[0], rel=0.05)
    assert widths[1] < 0.1


@pytest.mark.parametrize("error", [0.3, 0.05, 0.02, 0.002])
def test_ends_of_many_campaigns_at_once_are_about_those_of_each(error: float) -> None:
    log_ratios, controls = log_ratios_of(np.random.default_rng(6).normal(size=(20, 14, 3)))
    ends = bounds_of_many(log_ratios, controls, error, 1e-6)
    assert ends is not None
    pairs = zip(log_ratios.tolist(), controls.tolist(), strict=True)
    low, high = np.array([bounds(tuple(ratios), tuple(apart), error / 2) for ratios, apart in pairs]).T
    assert np.median(ends[1] - ends[0]) == pytest.approx(np.median(high - low), rel=0.06)


@pytest.mark.parametrize("error", [0.005, 0.001])
def test_an_interval_of_a_quiet_machine_is_narrower_by_as_much_as_its_noise_is_smaller(error: float) -> None:
    runs = np.random.default_rng(2).normal(0.0, 1.0, (16, 3))
    loud, quiet = (blocks_of(noise * runs).bounds(error) for noise in (1.0, 0.001))
    assert loud is not None
    assert quiet is not None
    assert quiet[:2] == pytest.approx((0.001 * loud[0], 0.001 * loud[1]), rel=0.002)


@example(n=6, seed=4452, slower=0.03).via("blocks that depend on each other")
@settings(max_examples=60)
@given(st.integers(6, 14), st.integers(0, 10_000), st.sampled_from([0.0, 0.01, 0.03]))
def test_word_interval_and_p_agree_where_times_are_multiples_of_ten_milliseconds(
    n: int, seed: int, slower: float
) -> None:
    times = np.round(0.3 * np.exp(np.random.default_rng(seed).normal(0, 0.03, (n, 3))), 2)
    times[:, 0] = np.round(times[:, 0] * (1 + slower), 2)
    blocks = blocks_of(np.log(times))
    judged = verdict(overhead(summary_of(blocks.log_ratios, controls=blocks.controls)), 0.01)
    typical, reach, judged_of = judged.overhead.typical, Reach.at_once(n), widened(blocks)
    assert typical.low is not None
    assert typical.high is not None
    differs = typical.low > 0 or typical.high < 0
    assert differs == (difference_p(judged_of, reach) <= 0.05)
    assert differs >= (judged.word in (Word.SLOWER, Word.FASTER))
    if judged.within is not None:
        assert 2 * equivalence_p(judged_of, judged.within, reach) <= 0.05
    for error in (0.1, 0.01, 0.002):
        result = estimate(blocks, error)
        left_out = result.low is not None and result.high is not None and (result.low > 0 or result.high < 0)
        assert left_out == (difference_p(blocks, reach) <= error)
