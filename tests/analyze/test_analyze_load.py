# SPDX-License-Identifier: Apache-2.0
"""A load makes no claim: it is left out, or the claim holds whatever it cost, or the claim says what it could make."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.analyze.verdict_example import MARGIN, around, summary_of
from tests.busy_example import busy_load

from tare.analyze import (
    across_workloads,
    answers,
    courses,
    decisions,
    in_families,
    overhead,
    rankings,
    verdict,
    without_busy_claims,
)
from tare.analyze.load_effect import KAPPA, effect, moved, share_lost
from tare.records import BlockValue, Design, FailIf, HostLoad, Ruling, Summary, Verdict, Withheld, Word
from tare.treat.pairing import with_blocks

Floats = NDArray[np.float64]
NOISE = 0.03


def load(foreign: float) -> HostLoad:
    return busy_load(foreign, "stress")


def summary(runs: Floats, foreign: Floats, environment: str = "docker", workload: str = "work") -> Summary:
    """``runs``: ln(time), ``foreign``: processors' worth taken; both blocks by the two natives and the environment."""
    blocks = [
        BlockValue(
            block=number,
            native=(math.exp(first), math.exp(second)),
            environment=math.exp(own),
            load=load(taken[2]),
            native_loads=(load(taken[0]), load(taken[1])),
        )
        for number, ((first, second, own), taken) in enumerate(
            zip(runs.tolist(), foreign.tolist(), strict=True)
        )
    ]
    return with_blocks(summary_of([0.0], environment, workload=workload), blocks)


def judged(*summaries: Summary) -> tuple[Verdict, ...]:
    return without_busy_claims(in_families([verdict(overhead(each), MARGIN) for each in summaries]))


def constant(difference: float, taken: float, blocks: int = 10, *, natively: float | None = None) -> Summary:
    generator = np.random.default_rng(7)
    runs = generator.normal(0, 0.004, (blocks, 3))
    runs[:, 2] += difference
    foreign = np.full((blocks, 3), taken if natively is None else natively)
    foreign[:, 2] = taken
    return summary(runs, foreign)


def test_a_factor_of_two_under_light_load_is_released_with_what_is_left_of_it_at_worst() -> None:
    (result,) = judged(constant(math.log(2), 0.3))
    assert (result.word, result.released, result.withheld) == (Word.SLOWER, True, None)
    least, most = result.overhead.typical.low, result.overhead.typical.high
    assert least is not None
    assert most is not None
    assert pytest.approx(least, abs=0.02) == 2 * (1 - KAPPA * 0.3) - 1
    assert most == pytest.approx(1.0, abs=0.02)
    assert result.claim.endswith(
        " % even if all of the load (stress used 0.3 of 2 processors in 10 of 10 blocks) cost it alone (n = 10)"
    )
    assert result.within is None
    (answer,) = answers([result])
    assert "even if all of the load" in answer.sentence


def test_what_is_faster_is_moved_by_the_load_of_native() -> None:
    (result,) = judged(constant(-math.log(2), 0.0, natively=0.3))
    assert (result.word, result.released) == (Word.FASTER, True)
    assert "cost native alone" in result.claim
    (withheld,) = judged(constant(-0.2, 0.0, natively=0.3))
    assert withheld.withheld is Withheld.BUSY


def test_what_the_load_can_have_made_stays_withheld_with_the_interval_that_was_measured() -> None:
    (result,) = judged(constant(0.3, 0.3))
    assert (result.word, result.released, result.withheld) == (Word.UNDECIDED, False, Withheld.BUSY)
    assert result.claim.partition("; measured ")[2].startswith("+3")


def test_nothing_is_released_as_alike() -> None:
    (result,) = judged(constant(0.0, 0.3))
    assert result.withheld is Withheld.BUSY


def test_a_claim_that_a_load_below_the_limit_could_make_says_so_and_another_does_not() -> None:
    (small,), (large,) = judged(constant(0.05, 0.15)), judged(constant(0.5, 0.15))
    assert (small.word, small.released, large.word, large.load) == (Word.SLOWER, False, Word.SLOWER, None)
    assert small.load is not None
    assert small.load.most == pytest.approx(1 / (1 - KAPPA * 0.15) - 1)
    assert small.claim.endswith(", but a load of up to 0.15 of 2 processors alone could make 29 %")


def test_a_verdict_says_how_many_busy_blocks_it_leaves_out() -> None:
    runs = np.random.default_rng(7).normal(0, 0.004, (10, 3))
    runs[:, 2] += 0.5
    foreign = np.zeros((10, 3))
    foreign[2:4] = 1.0
    (result,) = judged(summary(runs, foreign))
    assert result.claim.endswith("(n = 8 without 2 busy blocks)")


@pytest.mark.parametrize(("arm", "warned"), [(2, True), (0, False)])
def test_a_load_that_comes_with_the_environments_own_trials_is_remarked(arm: int, warned: bool) -> None:
    foreign = np.zeros((16, 3))
    foreign[:8, arm] = 1.0
    (result,) = judged(summary(np.random.default_rng(7).normal(0, 0.004, (16, 3)), foreign))
    assert any("busy during its trial alone" in each for each in result.warnings) == warned


def test_the_load_of_one_of_several_processors_is_not_spread_over_all() -> None:
    assert share_lost(HostLoad(processors=2, foreign=0.3)) == KAPPA * 0.3
    assert share_lost(HostLoad(processors=64, foreign=0.3)) == KAPPA * 0.3
    assert share_lost(HostLoad(processors=2, foreign=2.0)) < 1
    assert share_lost(HostLoad(processors=2, foreign=-0.1)) == 0
    assert share_lost(None) == 0


def test_a_load_that_nobody_knows_moves_nothing() -> None:
    given = summary_of(around(0.05, 0.01))
    assert moved(given, Word.SLOWER) == moved(given, Word.FASTER) == given
    typical = overhead(given).typical
    assert effect(given, Word.SLOWER, typical, typical) is None


def test_a_load_in_fewer_than_half_of_the_blocks_is_named_too_where_it_undoes_the_word() -> None:
    """Its median over the blocks is none at all."""
    runs = np.random.default_rng(7).normal(0, 0.01, (20, 3))
    foreign = np.zeros((20, 3))
    foreign[:18:2] = 0.18
    runs[:, 2] += 0.02 + 0.1 * foreign[:, 2]
    (result,) = judged(summary(runs, foreign))
    assert result.word is Word.SLOWER
    assert result.load is not None
    near = result.shown.low
    assert near is not None
    assert result.load.most >= near, "it reaches 0 from the end that is printed"


def test_a_released_difference_does_not_contradict_what_a_quiet_machine_calls_within_the_margin() -> None:
    runs = np.random.default_rng(7).normal(0, 0.001, (8, 3))
    runs[:, 2] += 0.004
    foreign = np.zeros((8, 3))
    foreign[:3, :2] = 1.0
    (result,) = judged(summary(runs, foreign))
    assert not result.released


def test_a_released_environment_is_apart_from_native_but_from_no_other() -> None:
    released = constant(math.log(2), 0.3)
    other = replace(constant(0.05, 0.0), environment="lxc")
    (ranking,) = rankings(judged(released, other))
    pairs = {frozenset((pair.first, pair.second)): pair for pair in ranking.pairs}
    beside = pairs[frozenset(("native", "docker"))]
    assert beside.distinguished
    assert beside.difference.low is not None
    assert beside.difference.low < 0.5, "what is left at worst"
    assert not pairs[frozenset(("docker", "lxc"))].distinguished


def test_a_mean_over_workloads_has_no_interval_where_one_of_them_was_released() -> None:
    busy = constant(math.log(2), 0.3)
    quiet = replace(constant(0.3, 0.0), cell=replace(busy.cell, workload="other"))
    (mean,) = across_workloads(judged(busy, quiet))
    assert mean.overhead.low is None


@pytest.mark.parametrize(
    ("difference", "taken", "ruling", "released"),
    [
        (math.log(2), 0.3, Ruling.EXCEEDED, True),
        (0.3, 0.3, Ruling.UNDECIDED, False),
        (0.0, 0.3, Ruling.UNDECIDED, False),
        (0.5, 0.15, Ruling.EXCEEDED, False),
    ],
)
def test_a_threshold_is_exceeded_on_a_busy_machine_only_if_the_load_cannot_have_done_it(
    difference: float, taken: float, ruling: Ruling, released: bool
) -> None:
    given = constant(difference, taken)
    design = Design(looks=(10,), margin=MARGIN, fail_if=(FailIf(text="overhead > 5%", threshold=0.05),))
    passed = courses([given], {(given.cell, "docker"): 10}, design, ended=False)
    (decision,) = decisions([given], passed, design)
    assert (decision.ruling, decision.released) == (ruling, released)
    assert ("even if all of the load" in decision.sentence) == released
    if ruling is Ruling.UNDECIDED:
        assert "; measured " in decision.sentence


def test_a_load_that_could_make_no_more_than_the_margin_is_not_named() -> None:
    (little,), (more,) = judged(constant(0.012, 0.006)), judged(constant(0.012, 0.01))
    assert {little.word, more.word} == {Word.SLOWER}
    assert little.load is None
    assert more.load is not None


def test_a_threshold_that_a_load_below_the_limit_could_exceed_says_so() -> None:
    given = constant(0.1, 0.15)
    design = Design(looks=(10,), margin=MARGIN, fail_if=(FailIf(text="overhead > 5%", threshold=0.05),))
    passed = courses([given], {(given.cell, "docker"): 10}, design, ended=False)
    (decision,) = decisions([given], passed, design)
    assert decision.ruling is Ruling.EXCEEDED
    assert decision.sentence.endswith("but a load of up to 0.15 of 2 processors alone could make 29 %")


def shares(make: Callable[[np.random.Generator], Summary], campaigns: int) -> dict[str, float]:
    """How often each word is said; of a qualified or released one with that before it."""
    generator, counts = np.random.default_rng(46), dict[str, float]()
    for _ in range(campaigns):
        (result,) = judged(make(generator))
        kind = "released " if result.released else "qualified " if result.load else ""
        word = "withheld" if result.withheld else f"{kind}{result.word}"
        counts[word] = counts.get(word, 0) + 1 / campaigns
    return counts


@pytest.mark.parametrize(("blocks", "part"), [(10, 0.25), (32, 0.25), (32, 0.1), (32, 0.5)])
@pytest.mark.parametrize("arms", [(2,), (0, 1)])
def test_a_load_in_some_blocks_that_costs_one_arm_alone_makes_no_difference(
    blocks: int, part: float, arms: tuple[int, ...]
) -> None:
    """Before busy blocks were left out: 50 % "slower" at 32 blocks with a quarter of them busy."""

    def made(generator: np.random.Generator) -> Summary:
        runs, foreign = generator.normal(0, NOISE, (blocks, 3)), np.full((blocks, 3), 0.03)
        busy = generator.choice(blocks, round(part * blocks), replace=False)
        foreign[busy] = 1.0
        for arm in arms:
            runs[busy, arm] += generator.uniform(0.3, 0.7, len(busy))
        return summary(runs, foreign)

    said = shares(made, 40)
    wrong = sum(share for word, share in said.items() if "slower" in word or "faster" in word)
    assert wrong <= 0.15  # at most 5 % promised; six or more of 40 then have a chance of 1 %


def steady(
    taken: float, true: float, arms: tuple[int, ...], cost: float
) -> Callable[[np.random.Generator], Summary]:
    def made(generator: np.random.Generator) -> Summary:
        runs = generator.normal(0, NOISE, (10, 3))
        runs[:, 2] += true
        foreign = taken * np.clip(1 + 0.15 * generator.standard_normal((10, 3)), 0.2, None)
        for arm in arms:
            runs[:, arm] -= np.log1p(-cost * foreign[:, arm])
        return summary(runs, foreign)

    return made


@pytest.mark.parametrize("cost", [0.5, 1.0, KAPPA])
def test_a_steady_load_below_the_limit_makes_no_difference_without_saying_so(cost: float) -> None:
    said = shares(steady(0.15, 0.0, (2,), cost), 40)
    assert said.get("slower", 0) <= 0.15


@pytest.mark.parametrize("arms", [(2,), (0, 1)])
@pytest.mark.parametrize("taken", [0.3, 0.6])
def test_no_load_releases_a_difference_that_it_made(taken: float, arms: tuple[int, ...]) -> None:
    said = shares(steady(taken, 0.0, arms, 1.0), 40)
    assert said == {"withheld": pytest.approx(1.0)}


def test_a_true_factor_of_two_under_light_load_is_mostly_released() -> None:
    said = shares(steady(0.3, math.log(2), (0, 1, 2), 1.0), 40)
    assert said["released slower"] > 0.5
