# SPDX-License-Identifier: Apache-2.0
"""What a result says of its workloads: which figure stands for one, and what a verified cure leaves of it."""

import math
from dataclasses import replace

import pytest
from tests.advice_example import known_workload
from tests.analyze.verdict_example import around, verdict_of

from tare.analyze.advice.known import ArmNames, headlines, known_workloads, measured_in, merged
from tare.records import (
    Analysis,
    Attributed,
    Cell,
    Change,
    Estimate,
    Explanation,
    Intervention,
    InterventionVerdict,
    Role,
    Shift,
    Verdict,
    Withheld,
)
from tare.records.advice import Candidate, Resource

CELL = Cell(workload="work", layout="1c1p1i")
DOCKER = ArmNames({"docker": Candidate(name="docker", technology="docker")})
CURE = "docker run --security-opt seccomp=unconfined"
CHANGE = Change(
    knob="seccomp-off", change="without the filter", subject="the filter", changed="docker-changed"
)


def estimate(point: float) -> Estimate:
    return Estimate(point=point, low=point - 0.01, high=point + 0.01, level=0.95, n=10)


def cured(role: Role = Role.CAUSE, workload: str = "work") -> InterventionVerdict:
    return InterventionVerdict(
        intervention=Intervention(
            parent="..",
            parent_campaign="c",
            parent_session="s",
            environment="docker",
            changes=(CHANGE,),
        ),
        turned=CHANGE,
        cell=replace(CELL, workload=workload),
        metric="wall_s",
        before=estimate(0.2),
        after=estimate(0.01),
        change=estimate(-0.15),
        shift=Shift.FALLS,
        role=role,
        chance=0.001,
        sentence="",
    )


def analysis(*verdicts: Verdict, interventions: tuple[InterventionVerdict, ...] = ()) -> Analysis:
    explanation = Explanation(
        cell=CELL,
        environment="docker",
        metric="wall_s",
        primary=True,
        name="wall_s",
        claim="",
        is_gain=False,
        standing=Attributed.CAUSE,
        cure=CURE,
        knob="seccomp-off",
    )
    return Analysis(
        campaign="c",
        sessions=(),
        verdicts=verdicts,
        controls=(),
        outcomes=(),
        skipped=(),
        margin=0.01,
        planned_trials=0,
        interventions=interventions,
        explanations=(explanation,),
    )


SLOW = verdict_of(around(math.log(1.2), 0.01))
SAME = verdict_of(around(0.0, 0.004), workload="other")


def test_a_whole_program_is_its_run_time_and_one_by_the_clock_its_primary_metric() -> None:
    own = [verdict_of([0.1], metric="rate"), verdict_of([0.3], metric="wall_s", primary=False)]
    assert [each.overhead.summary.metric for each in headlines(own, "npb")] == ["wall_s"]
    assert [each.overhead.summary.metric for each in headlines(own, "netpipe")] == ["rate"]


def test_pieces_are_joined_and_figures_without_load_have_no_part() -> None:
    own = [
        verdict_of([0.1], metric="calls"),
        verdict_of([0.3], metric="pipe"),
        verdict_of([9.0], metric="calls (CPU time)"),
    ]
    (known,), _ = known_workloads(analysis(*own), DOCKER, {CELL: "os"}, {})
    assert known.overheads == {"docker": pytest.approx(math.expm1(0.2))}


def test_what_a_busy_host_withheld_is_missing() -> None:
    withheld = replace(SLOW, withheld=next(iter(Withheld)))
    assert known_workloads(analysis(withheld), DOCKER, {}, {})[0] == []


def test_a_verified_cure_is_an_environment_of_its_own() -> None:
    result = analysis(SLOW, SAME, interventions=(cured(),))
    known, arms = known_workloads(result, DOCKER, {}, {CELL: {Resource.FAULTS: 5.0}})
    assert [arm.name for arm in arms] == ["docker", "docker without the filter"]
    assert (arms[1].cure, arms[1].of) == (CURE, "docker")
    slow, same = known
    assert slow.overheads["docker without the filter"] == 0.01
    assert slow.rates == {Resource.FAULTS: 5.0}
    assert same.overheads["docker without the filter"] == same.overheads["docker"]


def test_a_claim_that_the_cure_was_not_shown_to_remove_is_left_out() -> None:
    other = verdict_of(around(math.log(1.3), 0.01), workload="other")
    (_, left), _ = known_workloads(analysis(SLOW, other, interventions=(cured(),)), DOCKER, {}, {})
    assert set(left.overheads) == {"docker"}


def test_a_knob_that_is_no_cause_is_no_cure() -> None:
    _, arms = known_workloads(analysis(SLOW, interventions=(cured(Role.NONE),)), DOCKER, {}, {})
    assert [arm.name for arm in arms] == ["docker"]


def test_the_application_itself_is_shown_with_its_cure() -> None:
    own = measured_in(analysis(SLOW, interventions=(cured(),)), DOCKER, CELL, "command")
    assert [(each.arm.name, each.overhead.point) for each in own] == [
        ("docker", pytest.approx(0.2, rel=0.05)),
        ("docker without the filter", 0.01),
    ]


def test_the_same_workload_counts_once_and_others_of_its_name_have_numbers() -> None:
    first = known_workload("work", {Resource.FAULTS: 1.0}, {"docker": 0.0})
    again = known_workload("work", {Resource.FAULTS: 3.0, Resource.CALLS: 7.0}, {"docker": 0.21, "lxc": 0.1})
    (joined,) = merged([("a", first), ("a", again)])
    assert joined.rates == {Resource.FAULTS: 2.0, Resource.CALLS: 7.0}
    assert joined.overheads == {"docker": pytest.approx(0.1), "lxc": pytest.approx(0.1)}
    assert [each.name for each in merged([("a", first), ("b", again)])] == ["work (1)", "work (2)"]


HPL = verdict_of(around(0.01, 0.001), metric="hpl")
GUPS = verdict_of(around(math.log(4), 0.01), metric="gups")


def test_the_worst_primary_metric_decides_and_is_named() -> None:
    (own,) = measured_in(analysis(HPL, GUPS), DOCKER, CELL, "hpcc")
    assert (own.metric, own.metrics, own.untold) == ("gups", 2, 0)
    assert own.overhead.point == pytest.approx(3.0, rel=0.01)


def test_a_metric_that_is_withheld_leaves_the_others_and_is_counted() -> None:
    held = replace(HPL, withheld=next(iter(Withheld)))
    (own,) = measured_in(analysis(held, GUPS), DOCKER, CELL, "hpcc")
    assert (own.tells, own.metric, own.untold) == (True, "gups", 1)
    (none,) = measured_in(analysis(held), DOCKER, CELL, "hpcc")
    assert (none.tells, none.metric, none.untold) == (False, "", 1)


def test_environments_whose_worst_metrics_differ_are_apart_by_their_intervals() -> None:
    names = ArmNames({name: Candidate(name=name, technology=name) for name in ("docker", "lxc", "podman")})
    near = verdict_of(around(math.log(4.01), 0.02), "podman", metric="hpl")
    far = verdict_of(around(math.log(1.5), 0.01), "lxc", metric="hpl")
    own = {each.arm.name: each for each in measured_in(analysis(HPL, GUPS, far, near), names, CELL, "hpcc")}
    assert not set(own["lxc"].letters) & set(own["docker"].letters)
    assert set(own["podman"].letters) & set(own["docker"].letters)
    assert own["podman"].untold == 1


def test_a_cure_of_one_metric_leaves_the_others() -> None:
    (own, with_cure) = measured_in(analysis(SLOW, GUPS, interventions=(cured(),)), DOCKER, CELL, "hpcc")
    assert own.metric == with_cure.metric == "gups"
    assert with_cure.overhead.point == pytest.approx(3.0, rel=0.01)
