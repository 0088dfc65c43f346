# SPDX-License-Identifier: Apache-2.0
"""The other phases on made-up outcomes: what they are for is found, and what cannot be known is not judged."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pytest

from tare.calibrate.bench import Bench, PhaseSetting
from tare.calibrate.phases import STAGES, p0_noise, p4_drift, p5_link, p6_quota, p7_clocks, p8_boots
from tare.calibrate.sizes import FULL, QUICK
from tare.environments.planted import PLANTED
from tare.records import NATIVE, Outcome, Passing, Scope, Signal, Status
from tare.treat import blocks_out_of_order
from tests.calibrate.outcomes import evidence_of, outcome, outcomes_of, passing

IDLE = {"pressure": 0.001, "steal": 0.0}


def test_every_phase_has_its_place_and_its_runs_have_names_of_their_own() -> None:
    assert [phase.name for stage in STAGES for phase in stage] == [f"P{number}" for number in range(9)]
    setting = PhaseSetting(bench=Bench(), size=QUICK, iterations=1000)
    names = [run.name for stage in STAGES for phase in stage for run in phase.runs(setting)]
    assert len(set(names)) == len(names) == 9


def test_p0_measures_noise_and_what_is_no_work() -> None:
    source = np.random.default_rng(1)
    evidence = evidence_of(outcomes_of({p0_noise.EMPTY: -0.98}, blocks=34, source=source), run=p0_noise.RUN)
    assert passing(p0_noise.judge(evidence)) == {"clocks": Passing.PASSED, "noise": Passing.NOTED}
    measured = p0_noise.measured(evidence)
    assert measured["fixed_share_wall_s"] == pytest.approx(0.02, rel=0.05)
    assert measured["noise_wall_s"] == pytest.approx(0.03, rel=0.3)


def test_p0_fails_on_a_clock_that_disagrees() -> None:
    source = np.random.default_rng(1)
    first, *rest = outcomes_of({p0_noise.EMPTY: -0.98}, blocks=4, source=source)
    wrong = (replace(first, status=Status.INVALID, reason="clock"), *rest)
    assert passing(p0_noise.judge(evidence_of(wrong, run=p0_noise.RUN)))["clocks"] is Passing.FAILED


@pytest.mark.parametrize(("values", "expected"), [([1.0, -1.0] * 20, -1.0), ([1.0] * 8, 0.0)])
def test_autocorrelation_of_known_series(values: list[float], expected: float) -> None:
    assert p0_noise.lag_one(values) == pytest.approx(expected, abs=0.05)


def drifting(order: Iterable[tuple[str, int, int]]) -> tuple[Outcome, ...]:
    """Runs in this order, each 0.1 % longer than the one before."""
    return tuple(
        outcome(name, block, replicate, at_s=place, wall_s=1.001**place, cpu_s=1.001**place)
        for place, (name, block, replicate) in enumerate(order)
    )


def test_p4_sees_through_a_drift_in_tares_order_and_finds_out_the_other() -> None:
    source = np.random.default_rng(1)
    arms = [(NATIVE, 0), (NATIVE, 1), ("no-op", 0)]
    order = [(*arms[place], block) for block in range(34) for place in source.permutation(3)]
    interleaved = drifting((name, block, replicate) for name, replicate, block in order)
    alone = [(NATIVE, block, rep) for block in range(50) for rep in (0, 1)]
    halves = drifting(alone)
    later = tuple(
        replace(
            halve,
            trial=replace(
                halve.trial, block=halve.trial.block - 25, identity=f"{halve.trial.identity}-later"
            ),
        )
        for halve in halves[50:]
    )
    evidence = evidence_of(interleaved, run=p4_drift.INTERLEAVED)
    rounds = {**evidence.rounds, p4_drift.BEFORE: (halves[:50],), p4_drift.AFTER: (later,)}
    gates = p4_drift.judge(replace(evidence, rounds=rounds))
    assert set(passing(gates).values()) == {Passing.PASSED}
    assert gates[-1].seen.startswith("25 of 25 blocks flagged; they would have read +5.")


def test_blocks_one_after_the_other_are_in_order_whatever_the_order_within() -> None:
    source = np.random.default_rng(1)
    made = outcomes_of({"a": 0.0, "b": 0.1}, blocks=6, source=source)
    assert blocks_out_of_order(made) == ()
    assert blocks_out_of_order(tuple(reversed(made))) == ()


def test_a_block_with_another_ones_trial_in_between_is_told_with_it() -> None:
    made = drifting(
        [
            (NATIVE, 0, 0),
            (NATIVE, 0, 1),
            (NATIVE, 1, 0),
            ("a", 0, 0),
            (NATIVE, 1, 1),
            ("a", 1, 0),
            ("a", 2, 0),
        ]
    )
    assert [block for _, block in blocks_out_of_order(made)] == [0, 1]


def links(slow: float, noise: float) -> tuple[Outcome, ...]:
    return outcomes_of(
        {"link-100": 0.69 / 0.01 - 1, "link-95": 0.69 * slow / 0.01 - 1},
        blocks=10,
        source=np.random.default_rng(1),
        noise=noise,
    )


@pytest.mark.parametrize(
    ("slow", "noise", "expected"),
    [
        (100 / 95, 0.002, Passing.PASSED),
        (1.0, 0.002, Passing.FAILED),
        (1.1, 0.002, Passing.FAILED),
        (100 / 95, 0.3, Passing.FAILED),
    ],
)
def test_p5_finds_the_ratio_of_the_rates_and_no_wide_interval_passes(
    slow: float, noise: float, expected: Passing
) -> None:
    assert passing(p5_link.judge(evidence_of(links(slow, noise), run=p5_link.RUN))) == {"rate": expected}


def test_p5_says_why_it_was_not_run() -> None:
    evidence = replace(evidence_of(run="x"), obstacles={"P5": "tc is not here"})
    (gate,) = p5_link.judge(evidence)
    assert (gate.passing, gate.seen) == (Passing.NOT_RUN, "tc is not here")


def test_the_cost_of_a_quota_is_that_of_whole_stalls() -> None:
    low, high = p6_quota.planted_range(0.24, 0.95)
    assert low <= 2 * 0.005 / 0.24 <= high
    assert high - low == pytest.approx(2 * 0.005 / 0.24)
    assert p6_quota.planted_range(0.24, 0.5) == pytest.approx((3 * 0.05 / 0.24, 5 * 0.05 / 0.24))


def quotas(cost_50: float, *, throttled_natively: float = 0.0) -> tuple[Outcome, ...]:
    source = np.random.default_rng(1)
    made = outcomes_of({"quota-95": 0.042, "quota-50": cost_50}, blocks=20, source=source, noise=0.002)
    throttled_s = {NATIVE: throttled_natively, "quota-95": 0.01, "quota-50": 0.2}
    # The made-up native takes 1 s; the formula is about runs of 0.24 s.
    return tuple(
        replace(
            item,
            samples=tuple(replace(sample, value=sample.value * 0.24) for sample in item.samples),
            signals=(
                Signal(
                    name="throttled_s",
                    unit="s",
                    scope=Scope.NODE,
                    value=throttled_s[item.trial.environment.name],
                    lost_time=True,
                ),
            ),
        )
        for item in made
    )


def judged_quota(*outcomes: Outcome, measured: dict[str, float] = IDLE) -> dict[str, Passing]:
    return passing(p6_quota.judge(evidence_of(outcomes, run=p6_quota.RUN, measured=measured)))


def test_p6_finds_the_formula_on_an_idle_host_and_throttling_on_any() -> None:
    assert set(judged_quota(*quotas(4 * 0.05 / 0.24)).values()) == {Passing.PASSED}
    assert judged_quota(*quotas(0.1))["quota-50"] is Passing.FAILED
    for measured in ({"pressure": 0.02, "steal": 0.0}, {"pressure": 0.0, "steal": 0.01}, {"steal": 0.0}):
        busy = judged_quota(*quotas(0.1), measured=measured)
        assert busy["quota-50"] is Passing.NOT_RUN
        assert busy["throttling"] is Passing.PASSED


def test_p6_fails_when_throttling_is_seen_where_there_is_none() -> None:
    assert judged_quota(*quotas(0.8, throttled_natively=0.01))["throttling"] is Passing.FAILED


def clocks(**outcomes: Outcome) -> dict[str, Passing]:
    names = [*p7_clocks.PLANTS, "honest-1", NATIVE]
    made = [outcomes.get(name.partition("-")[0], outcome(name, 0, wall_s=0.5)) for name in names]
    return passing(p7_clocks.judge(evidence_of(tuple(made), run=p7_clocks.RUN)))


def test_p7_fails_when_a_fault_stays_unnoticed_or_an_honest_clock_is_accused() -> None:
    seen = {
        name: replace(outcome(name, 0, wall_s=0.5), clock_fault="runs at another rate")
        for name in p7_clocks.PLANTS
    }
    assert set(clocks(**seen).values()) == {Passing.PASSED}
    assert clocks(**{**seen, "step": outcome("step", 0, wall_s=0.5)})["step"] is Passing.FAILED
    accused = replace(outcome("honest-1", 0, wall_s=0.5), timer_inversions=1)
    assert clocks(**seen, honest=accused)["clean"] is Passing.FAILED


def boots(own_sd: float, read: float = 1.0) -> tuple[Outcome, ...]:
    """Starts that vary by themselves, and of one environment by what is planted, of which so much is read."""
    source = np.random.default_rng(3)
    made = []
    for block in range(40):
        for name, replicate in ((NATIVE, 0), (NATIVE, 1), ("no-op", 0), ("boots", 0)):
            planted = source.normal(0.0, p8_boots.PLANTED_SD) if name == "boots" else 0.0
            start = source.normal(0.0, own_sd) + planted * read
            values = np.exp(start + source.normal(0.0, 0.002, 5))
            result = outcome(name, block, replicate, cpu_s=1.0)
            samples = tuple(
                replace(result.samples[0], value=float(value), iteration=number)
                for number, value in enumerate(values)
            )
            facts = {PLANTED: f"{np.expm1(planted):+.6f}"}
            workload = replace(result.trial.workload, iterations=5)
            trial = replace(result.trial, workload=workload)
            made.append(replace(result, trial=trial, samples=samples, facts=facts))
    return tuple(made)


@pytest.mark.parametrize(
    ("own_sd", "read", "expected"),
    [(0.002, 1.0, Passing.PASSED), (0.002, 0.5, Passing.FAILED), (0.03, 1.0, Passing.NOT_RUN)],
)
def test_p8_tells_starts_from_iterations(own_sd: float, read: float, expected: Passing) -> None:
    gates = p8_boots.judge(evidence_of(boots(own_sd, read), run=p8_boots.RUN))
    assert passing(gates) == {"count": Passing.PASSED, "split": expected}
    assert gates[0].seen == "n = 40 of 40 blocks of 5 runs each"


def test_both_sizes_give_every_interval_that_is_asked_for() -> None:
    for size in (FULL, QUICK):
        blocks = (size.drift_blocks, size.link_blocks, size.quota_blocks)
        assert min(blocks) >= 8, "a 99 % interval takes eight blocks"
        assert size.boot_blocks >= 10
