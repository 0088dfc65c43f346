# SPDX-License-Identifier: Apache-2.0
"""P1 to P3 on made-up blocks: a sound Tare passes, and each fault that a calibration is for is found."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from tare.calibrate.evidence import Evidence
from tare.calibrate.judged import ALIGNED_RANKS, TRIMMED_T, Array, Estimator
from tare.calibrate.phases import p1_truth, p2_equivalence, p3_redrawn
from tare.calibrate.sizes import FULL
from tare.records import Estimate, Outcome, Passing
from tare.statistics.contrasts import Contrast
from tests.calibrate.outcomes import evidence_of, outcomes_of, passing

TRUTHS = {p1_truth.NO_OP: 0.0, **p1_truth.PLANTS}
SIZE = replace(FULL, redrawn_campaigns=300)


def _wide(contrast: Contrast, level: float) -> Estimate:
    estimate = ALIGNED_RANKS.interval(contrast, 1 - level)
    assert estimate.low is not None
    assert estimate.high is not None
    return replace(estimate, low=2 * estimate.low - estimate.point, high=2 * estimate.high - estimate.point)


def _wide_bounds(log_ratios: Array, controls: Array, level: float) -> tuple[Array, Array]:
    low, high = ALIGNED_RANKS.bounds(log_ratios, controls, level)
    return low - (high - low) / 2, high + (high - low) / 2


def _wide_misses(log_ratios: Array, controls: Array, centre: float, level: float) -> NDArray[np.bool_]:
    low, high = _wide_bounds(log_ratios, controls, level)
    return np.asarray((low > centre) | (high < centre))


TOO_WIDE = Estimator(name="too wide", interval=_wide, bounds=_wide_bounds, misses=_wide_misses)


def truth_outcomes(
    truths: dict[str, float] | None = None, *, seed: int = 1, blocks: int = 600
) -> tuple[Outcome, ...]:
    return outcomes_of(truths or TRUTHS, blocks=blocks, source=np.random.default_rng(seed))


@pytest.fixture(scope="module")
def sound() -> tuple[Outcome, ...]:
    return truth_outcomes()


def evidence(*rounds: tuple[Outcome, ...], estimator: Estimator = ALIGNED_RANKS) -> Evidence:
    return evidence_of(*rounds, run=p1_truth.RUN, estimator=estimator, size=SIZE)


def test_a_sound_tare_passes_all_three_phases(sound: tuple[Outcome, ...]) -> None:
    for phase in (p1_truth, p2_equivalence, p3_redrawn):
        gates = phase.judge(evidence(sound))
        assert set(passing(gates).values()) == {Passing.PASSED}
    aa = p1_truth.judge(evidence(sound))[1]
    assert (aa.of, aa.allowed) == (60, 7)


def test_the_figures_of_two_rounds_are_judged_together(sound: tuple[Outcome, ...]) -> None:
    again = truth_outcomes(seed=2)
    counted = {gate.name: gate for gate in p1_truth.judge(evidence(sound, again))}
    each = [
        {gate.name: gate.count for gate in p1_truth.judge(evidence(outcomes))} for outcomes in (sound, again)
    ]
    coverage = counted["coverage, plus-5"]
    assert (coverage.of, coverage.allowed) == (120, 12)
    assert coverage.count == (each[0]["coverage, plus-5"] or 0) + (each[1]["coverage, plus-5"] or 0)


def test_a_driver_that_adds_cpu_time_is_found() -> None:
    passings = passing(p1_truth.judge(evidence(truth_outcomes({**TRUTHS, p1_truth.NO_OP: 0.008}))))
    assert passings["bias, no-op"] is Passing.FAILED
    assert passings["bias, plus-5"] is Passing.PASSED


def test_a_plant_that_is_read_wrong_is_found() -> None:
    passings = passing(p1_truth.judge(evidence(truth_outcomes({**TRUTHS, "plus-5": 0.09}))))
    assert passings["coverage, plus-5"] is Passing.FAILED
    assert passings["pooled, plus-5"] is Passing.FAILED
    assert passings["coverage, plus-20"] is Passing.PASSED


def test_what_is_no_work_is_taken_off_the_truth() -> None:
    assert evidence_of(run="truth", measured={"fixed_share_cpu_s": 0.1}).truth(0.2, "cpu_s") == pytest.approx(
        0.18
    )
    assert evidence_of(run="truth").truth(0.2, "cpu_s") == 0.2


def test_an_estimator_that_calls_five_percent_nothing_is_found(sound: tuple[Outcome, ...]) -> None:
    def blind(values: object, level: float) -> Estimate:  # noqa: ARG001 - whatever the values
        return Estimate(point=0.0, low=-0.001, high=0.001, level=level, n=10)

    nothing = replace(ALIGNED_RANKS, interval=blind)
    assert set(passing(p2_equivalence.judge(evidence(sound, estimator=nothing))).values()) == {Passing.FAILED}
    passings = passing(p1_truth.judge(evidence(sound, estimator=nothing)))
    assert passings["power"] is Passing.FAILED
    assert passings["coverage, plus-1"] is Passing.FAILED


def test_the_papers_trimmed_t_fails(sound: tuple[Outcome, ...]) -> None:
    passings = passing(p3_redrawn.judge(evidence(sound, estimator=TRIMMED_T)))
    assert passings["false positives, one look"] is Passing.FAILED
    assert passings["coverage, one look"] is Passing.FAILED
    assert passings["false positives, normal noise"] is Passing.FAILED
    assert passings["coverage, several looks"] is Passing.NOT_RUN


def test_a_host_with_many_spikes_does_not_hide_the_papers_trimmed_t() -> None:
    """A plain t of what has spikes may be too wide, which makes up for the runs that are left out."""
    spiky = outcomes_of(TRUTHS, blocks=600, source=np.random.default_rng(1), spikes=0.15)
    passings = passing(p3_redrawn.judge(evidence(spiky, estimator=TRIMMED_T)))
    assert passings["false positives, normal noise"] is Passing.FAILED


def test_an_interval_that_is_too_wide_fails_though_it_covers(sound: tuple[Outcome, ...]) -> None:
    passings = passing(p3_redrawn.judge(evidence(sound, estimator=TOO_WIDE)))
    assert passings["false positives, one look"] is Passing.PASSED
    assert passings["width"] is Passing.FAILED


def test_missing_blocks_are_no_pass(sound: tuple[Outcome, ...]) -> None:
    thinned = [
        outcome
        for outcome in sound
        if outcome.trial.environment.name != "plus-20" or outcome.trial.block % 5 in {0, 1, 2}
    ]
    passings = passing(p1_truth.judge(evidence(tuple(thinned))))
    assert passings["complete"] is Passing.FAILED
    nothing = p1_truth.judge(evidence())
    assert Passing.PASSED not in set(passing(nothing).values())
    assert set(passing(p3_redrawn.judge(evidence())).values()) == {Passing.NOT_RUN}
