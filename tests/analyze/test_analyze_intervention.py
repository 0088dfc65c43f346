# SPDX-License-Identifier: Apache-2.0
"""Only what takes the overhead away is called a cause."""

import math
from collections.abc import Sequence

import pytest

from tare.analyze import intervention_verdicts
from tare.analyze.contrasts import Differences, estimate
from tare.analyze.diagnostics import widening
from tare.analyze.estimation import as_fraction
from tare.records import (
    Attributed,
    BlockValue,
    Cell,
    Direction,
    Intervention,
    InterventionVerdict,
    Shift,
    Summary,
)

SPREAD = (0.1, 0.7, -1.0, 0.2, -0.4, 1.0, -0.7, 0.4, -0.2, -0.1)
"""In an order in which no block looks as if it depended on the one before: that would widen every interval."""
INTERVENTION = Intervention(
    parent="../..",
    parent_campaign="one",
    parent_session="0a",
    knob="quota-off",
    change="without it",
    subject="the CPU quota",
    environment="docker",
    changed="docker-quota-off",
)
LIMITED = Intervention(
    parent="../..",
    parent_campaign="one",
    parent_session="0a",
    knob="quota-off",
    change="without it",
    subject="the CPU quota",
    environment="docker",
    changed="docker-quota-off",
    changed_native="native-quota-off",
)


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
    (found,) = intervention_verdicts(summaries, INTERVENTION if native is None else LIMITED, 0.01)
    return found


def test_what_takes_the_overhead_away_is_a_cause_told_with_both_overheads() -> None:
    found = judged(around(0.48), around(0.003, -0.005))
    assert (found.shift, found.standing) == (Shift.FALLS, Attributed.CAUSE)
    assert found.before.point == pytest.approx(0.48, abs=0.001)
    assert found.sentence.startswith(
        "the CPU quota is a cause: without it docker's overhead falls from 48 % ["
    )
    assert "to 0.3 % [" in found.sentence


def test_what_makes_it_worse_or_leaves_it_is_no_cause() -> None:
    worse, same = judged(around(0.05), around(0.2, -0.005)), judged(around(0.2), around(0.2))
    assert (worse.shift, worse.standing) == (Shift.RISES, Attributed.UNEXPLAINED)
    assert (same.shift, same.standing) == (Shift.SAME, Attributed.UNEXPLAINED)
    assert "is no cause" in worse.sentence
    assert "is no cause" in same.sentence


def test_time_won_without_an_overhead_is_no_cause_of_one() -> None:
    found = judged(around(0.0), around(-0.2, -0.005))
    assert (found.shift, found.standing) == (Shift.FALLS, Attributed.UNEXPLAINED)
    assert "had no overhead for certain" in found.sentence


def test_noise_beyond_the_change_is_undecided() -> None:
    found = judged(around(0.1, 0.2), around(0.05, -0.2))
    assert found.shift is Shift.UNDECIDED
    assert "undecided on the CPU quota" in found.sentence


def test_a_limit_that_slows_native_as_much_is_no_cause_of_the_overhead() -> None:
    found = judged(around(0.1), around(-0.45), native=around(-0.5))
    assert found.after.point == pytest.approx(0.1, abs=0.01)
    assert (found.shift, found.standing) == (Shift.SAME, Attributed.UNEXPLAINED)


def test_a_change_is_widened_by_its_own_dependence_and_not_by_that_of_what_drifts_in_both() -> None:
    drift = [0.01 * block for block in range(len(SPREAD))]
    moved = around(-0.05, 0.03)
    after = [first + second for first, second in zip(drift, moved, strict=True)]
    assert widening(drift) > widening(after) > widening(moved) == 1.0
    expected = as_fraction(estimate(Differences(tuple(moved))))
    found = judged(drift, after)
    assert (found.change.low, found.change.high) == pytest.approx((expected.low, expected.high))
    assert found.change.point == pytest.approx(expected.point)


def test_only_blocks_with_all_arms_count() -> None:
    summaries = [
        summary_of("docker", around(0.4)),
        summary_of("docker-quota-off", around(0.0, -0.005), first=3),
    ]
    (found,) = intervention_verdicts(summaries, INTERVENTION, 0.01)
    assert found.before.n == found.after.n == found.change.n == 7
    assert intervention_verdicts(summaries[:1], INTERVENTION, 0.01) == ()
