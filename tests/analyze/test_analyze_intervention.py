# SPDX-License-Identifier: Apache-2.0
"""Only what takes the overhead away is called a cause."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from tare.analyze import intervention_verdicts
from tare.records import (
    Attributed,
    BlockValue,
    Cell,
    Change,
    Direction,
    Intervention,
    InterventionVerdict,
    Role,
    Shift,
    Summary,
)
from tare.statistics.contrasts import Differences, estimate
from tare.statistics.estimate import as_fraction
from tare.statistics.series import widening

SPREAD = (0.1, 0.7, -1.0, 0.2, -0.4, 1.0, -0.7, 0.4, -0.2, -0.1)
"""In an order in which no block looks as if it depended on the one before: that would widen every interval."""
QUOTA_OFF = Change(knob="quota-off", change="without it", subject="the CPU quota", changed="docker-quota-off")
INTERVENTION = Intervention(
    parent="../..", parent_campaign="one", parent_session="0a", environment="docker", changes=(QUOTA_OFF,)
)
LIMITED = replace(INTERVENTION, changes=(replace(QUOTA_OFF, changed_native="native-quota-off"),))


def summary_of(environment: str, log_ratios: Sequence[float], first: int = 0) -> Summary:
    return Summary(
        cell=Cell(workload="burn", layout="1c1p1i"),
        environment=environment,
        metric="wall_s",
        unit="s",
        direction=Direction.LESS,
        primary=True,
        blocks=tuple(
            BlockValue(block=block, native=(1.0, 1.0), environment=math.exp(log_ratio))
            for block, log_ratio in enumerate(log_ratios, start=first)
        ),
        log_ratios=tuple(log_ratios),
        control_log_ratios=(0.0,) * len(log_ratios),
        dropped_blocks=0,
    )


def around(fraction: float, spread: float = 0.005) -> list[float]:
    return [math.log1p(fraction) + spread * each for each in SPREAD]


def judged(
    before: Sequence[float], after: Sequence[float], native: Sequence[float] | None = None
) -> InterventionVerdict:
    summaries = [summary_of("docker", before), summary_of("docker-quota-off", after)]
    if native is not None:
        summaries.append(summary_of("native-quota-off", native))
    (verdict,) = intervention_verdicts(summaries, INTERVENTION if native is None else LIMITED, 0.01)
    return verdict


def test_what_takes_the_overhead_away_is_a_cause_told_with_both_overheads() -> None:
    verdict = judged(around(0.48), around(0.003, -0.005))
    assert (verdict.shift, verdict.standing) == (Shift.FALLS, Attributed.CAUSE)
    assert verdict.before.point == pytest.approx(0.48, abs=0.001)
    assert verdict.sentence.startswith(
        "the CPU quota is a cause: without it docker's overhead falls from 48.0 % [47.7 % to "
    )
    assert "to 0.3 % [" in verdict.sentence


def test_what_makes_it_worse_or_leaves_it_is_no_cause() -> None:
    worse, same = judged(around(0.05), around(0.2, -0.005)), judged(around(0.2), around(0.2))
    assert (worse.shift, worse.role, worse.standing) == (Shift.RISES, Role.NONE, Attributed.UNEXPLAINED)
    assert (same.shift, same.role, same.standing) == (Shift.SAME, Role.NONE, Attributed.UNEXPLAINED)
    assert "is no cause" in worse.sentence
    assert "is no cause" in same.sentence


def test_time_won_without_an_overhead_is_no_cause_of_one() -> None:
    verdict = judged(around(0.0), around(-0.2, -0.005))
    assert (verdict.shift, verdict.role) == (Shift.FALLS, Role.ABSENT)
    assert "docker's difference was not seen again in these blocks" in verdict.sentence


def test_a_claim_that_is_not_seen_again_clears_no_knob() -> None:
    assert judged(around(0.0), around(0.0, -0.005)).role is Role.ABSENT


def test_most_of_a_small_overhead_may_go_within_the_margin() -> None:
    verdict = judged(around(0.015, 0.001), around(0.006, -0.001))
    assert (verdict.shift, verdict.role) == (Shift.SAME, Role.CAUSE)
    assert "docker's overhead falls from 1.5 %" in verdict.sentence


def test_noise_beyond_the_change_is_undecided() -> None:
    verdict = judged(around(0.1, 0.2), around(0.05, -0.2))
    assert verdict.shift is Shift.UNDECIDED
    assert "undecided on the CPU quota" in verdict.sentence


def test_a_limit_that_slows_native_as_much_is_no_cause_of_the_overhead() -> None:
    verdict = judged(around(0.1), around(-0.45), native=around(-0.5))
    assert verdict.after.point == pytest.approx(0.1, abs=0.01)
    assert (verdict.shift, verdict.role) == (Shift.SAME, Role.NONE)


def test_a_change_is_widened_by_its_own_dependence_and_not_by_that_of_what_drifts_in_both() -> None:
    drift = [0.01 * block for block in range(len(SPREAD))]
    moved = around(-0.05, 0.03)
    after = [first + second for first, second in zip(drift, moved, strict=True)]
    assert widening(drift) > widening(after) > widening(moved) == 1.0
    expected = as_fraction(estimate(Differences(tuple(moved))))
    verdict = judged(drift, after)
    assert (verdict.change.low, verdict.change.high) == pytest.approx((expected.low, expected.high))
    assert verdict.change.point == pytest.approx(expected.point)


def test_only_blocks_with_all_arms_count() -> None:
    summaries = [
        summary_of("docker", around(0.4)),
        summary_of("docker-quota-off", around(0.0, -0.005), first=3),
    ]
    (verdict,) = intervention_verdicts(summaries, INTERVENTION, 0.01)
    assert verdict.before.n == verdict.after.n == verdict.change.n == 7
    assert intervention_verdicts(summaries[:1], INTERVENTION, 0.01) == ()


def test_a_gain_that_goes_is_told_with_its_cause() -> None:
    verdict = judged(around(-0.54), around(-0.002, -0.005))
    assert (verdict.shift, verdict.standing) == (Shift.RISES, Attributed.CAUSE)
    assert "is a cause: without it docker's gain goes from" in verdict.sentence


def test_what_moves_a_small_part_of_an_overhead_is_not_its_cause() -> None:
    verdict = judged(around(0.5, 0.001), around(0.48, -0.001))
    assert (verdict.shift, verdict.role) == (Shift.FALLS, Role.SMALL)
    assert "is a small part at most" in verdict.sentence


def test_among_many_knobs_and_metrics_chance_alone_names_no_cause() -> None:
    """In 100 interventions of 4 knobs on 5 metrics with an overhead that no knob moves."""
    named = sum(bool(_named_by_chance(seed)) for seed in range(100))
    assert named <= 10


def _named_by_chance(seed: int) -> list[InterventionVerdict]:
    draw = np.random.default_rng(seed)
    names = [f"docker-{knob}" for knob in range(4)]
    intervention = replace(
        INTERVENTION, changes=tuple(replace(QUOTA_OFF, knob=name, changed=name) for name in names)
    )
    summaries = [
        replace(summary_of(name, [draw.normal(0.03, 0.01) for _ in range(10)]), metric=f"metric {metric}")
        for metric in range(5)
        for name in ("docker", *names)
    ]
    verdicts = intervention_verdicts(summaries, intervention, 0.01)
    return [
        intervention_verdict
        for intervention_verdict in verdicts
        if intervention_verdict.standing is Attributed.CAUSE
    ]


def test_a_change_that_may_be_chance_among_all_that_was_tried_is_undecided() -> None:
    """The same change with ten knobs, of which nine move nothing."""
    alone = judged(around(0.1, 0.04), around(0.068, -0.01))
    names = [f"docker-{knob}" for knob in range(9)]
    knobs = [replace(QUOTA_OFF, knob=name, changed=name) for name in names]
    idle = [summary_of(name, around(0.1, 0.04)) for name in names]
    own = [
        summary_of("docker", around(0.1, 0.04)),
        summary_of("docker-quota-off", around(0.068, -0.01)),
        *idle,
    ]
    among, *_ = intervention_verdicts(own, replace(INTERVENTION, changes=(QUOTA_OFF, *knobs)), 0.01)
    assert (alone.role, among.role) == (Role.CAUSE, Role.UNDECIDED)
    assert alone.change == among.change
