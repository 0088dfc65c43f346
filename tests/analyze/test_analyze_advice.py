# SPDX-License-Identifier: Apache-2.0
"""Advice from planted costs: they are recovered, and what they cannot tell is left to a measurement."""

from dataclasses import replace
from random import Random

import pytest
from tests.advice_example import ARMS, COSTS, application, known_workload, overhead_of, planted, rates_of

from tare.analyze.advice import LEAST_KNOWN, advise, unsuitable
from tare.analyze.advice.costs import rows_of, unit_costs
from tare.environments.suitability import SUITABILITY
from tare.records import Estimate
from tare.records.advice import (
    Basis,
    Candidate,
    Isolation,
    Need,
    OwnVerdict,
    Rejected,
    Required,
    Resource,
    Suitability,
)
from tare.report.advice import answer_said, predicted_said

APP = rates_of(100)


def test_planted_costs_of_resources_come_back() -> None:
    known = planted(14, noise=0.0)
    resources = tuple(APP)
    for name, costs in COSTS.items():
        fitted = unit_costs(list(rows_of(name, known, resources).values()))
        assert fitted == pytest.approx([costs.get(resource, 0.0) for resource in resources], abs=1e-9)


def test_new_workloads_lie_in_their_intervals_as_often_as_promised() -> None:
    held = cases = 0
    known = planted(60, noise=0.01)
    for place in range(15, 60):
        own = known[place]
        advice = advise(application(own.rates), ARMS, known[place - 15 : place])
        for each in advice.predicted:
            if each.overhead and each.overhead.low is not None and each.overhead.high is not None:
                cases += 1
                held += each.overhead.low <= own.overheads[each.arm.name] <= each.overhead.high
    assert cases > 100
    assert held / cases > 0.88


def test_the_best_is_taken_and_its_cost_has_a_cause() -> None:
    advice = advise(application(APP), ARMS, planted(14))
    assert [each.arm.name for each in advice.predicted] == ["plain", "filter", "sandbox"]
    assert [each.letters for each in advice.predicted] == ["a", "b", "c"]
    assert (advice.take, advice.measure) == (("plain",), ())
    plain, _filter, sandbox = advice.predicted
    assert (plain.basis, sandbox.basis) == (Basis.ALIKE, Basis.RESOURCES)
    largest = max(COSTS["sandbox"], key=lambda resource: COSTS["sandbox"][resource] * APP[resource])
    assert next(iter(sandbox.parts)) is largest
    assert sandbox.overhead is not None
    assert sandbox.overhead.point == pytest.approx(overhead_of(APP, COSTS["sandbox"]), rel=0.02)


@pytest.mark.parametrize("resource", list(APP))
def test_an_application_that_uses_more_than_any_known_workload_must_be_measured(resource: Resource) -> None:
    known = planted(14)
    most = max(each.rates[resource] for each in known)
    advice = advise(application({**APP, resource: 1.3 * most}), ARMS, known)
    assert {each.basis for each in advice.predicted} == {Basis.OUTSIDE}
    assert all(each.beyond == (resource,) for each in advice.predicted)
    assert advice.take == ()
    assert advice.measure == ("plain", "filter")


def test_a_resource_that_no_known_workload_uses_at_all_must_be_measured_too() -> None:
    known = [replace(each, rates={**each.rates, Resource.MESSAGES: 0.0}) for each in planted(14)]
    advice = advise(application({**APP, Resource.MESSAGES: 1.0}), ARMS, known)
    assert {each.basis for each in advice.predicted} == {Basis.OUTSIDE}
    silent = advise(application({**APP, Resource.MESSAGES: 0.0}), ARMS, known)
    assert silent.take == ("plain",)


def test_overheads_that_have_nothing_to_do_with_resources_are_not_predicted() -> None:
    passed = 0
    for seed in range(20):
        chance = Random(seed)  # noqa: S311 - data
        known = [
            known_workload(f"known-{place}", rates_of(place), {"random": chance.lognormvariate(-3, 1)})
            for place in range(14)
        ]
        advice = advise(application(APP), [Candidate(name="random", technology="fake")], known)
        passed += advice.predicted[0].stands
        if not advice.predicted[0].stands:
            assert advice.predicted[0].basis in {Basis.NO_SKILL, Basis.OUTSIDE}
            assert (advice.take, advice.measure) == ((), ("random",))
    assert passed <= 2


def test_nothing_is_taken_while_what_may_be_better_is_not_predicted() -> None:
    known = planted(14)
    chance = Random(3)  # noqa: S311 - data
    wild = [replace(each, overheads={**each.overheads, "wild": chance.uniform(-0.2, 0.4)}) for each in known]
    advice = advise(application(APP), [*ARMS, Candidate(name="wild", technology="fake")], wild)
    assert advice.take == ()
    assert advice.measure == ("plain", "wild")


def test_environments_that_nothing_tells_apart_are_tied() -> None:
    costs = {"first": COSTS["filter"], "second": COSTS["filter"], "plain": {}}
    arms = [Candidate(name=name, technology="fake") for name in ("first", "second")]
    advice = advise(application(APP), arms, planted(14, costs, noise=0.01))
    assert {each.letters for each in advice.predicted} == {"a"}
    assert sorted(advice.take) == sorted(advice.measure) == ["first", "second"]


def test_too_few_known_workloads_predict_nothing() -> None:
    advice = advise(application(APP), ARMS, planted(LEAST_KNOWN - 1))
    assert {each.basis for each in advice.predicted} == {Basis.TOO_FEW}
    assert advice.take == ()
    assert len(advice.measure) == 2


def test_a_resource_that_is_known_of_few_workloads_has_no_part_and_is_named() -> None:
    known = planted(14)
    some = [
        replace(each, rates={**each.rates, Resource.CALLS: 5.0}) if place < 3 else each
        for place, each in enumerate(known)
    ]
    advice = advise(application({**APP, Resource.CALLS: 4.0}), ARMS, some)
    assert Resource.CALLS not in advice.resources
    assert any(words.startswith("system calls: known of 3 of 14 known workloads") for words in advice.ignored)
    assert advice.take == ("plain",)


def measured(name: str, point: float, letters: str) -> OwnVerdict:
    return OwnVerdict(
        arm=Candidate(name=name, technology="fake"),
        overhead=Estimate(point=point, low=point - 0.01, high=point + 0.01, level=0.95, n=10),
        said="slower",
        result="result",
        letters=letters,
    )


def test_what_was_measured_comes_first_and_what_may_be_better_is_named() -> None:
    own = replace(application(APP), measured=(measured("filter", 0.2, "a"), measured("sandbox", 0.21, "a")))
    advice = advise(own, ARMS, planted(14))
    assert [each.arm.name for each in advice.measured] == ["filter", "sandbox"]
    assert advice.take == ("filter", "sandbox")
    assert [each.arm.name for each in advice.predicted] == ["plain"]
    assert advice.measure == ("plain",)
    assert list(answer_said(advice))[1].startswith("it may be better still; measure this one: ")


def test_letters_of_two_results_do_not_tie() -> None:
    other = replace(measured("plain", 0.0, "a"), result="other")
    own = replace(application(APP), measured=(measured("filter", 0.2, "a"), other))
    assert advise(own, ARMS, planted(14)).take == ("plain",)
    near = replace(other, overhead=measured("plain", 0.19, "").overhead, letters="b")
    assert advise(replace(own, measured=(own.measured[0], near)), ARMS, planted(14)).take == (
        "plain",
        "filter",
    )


def test_what_is_rejected_is_neither_measured_nor_predicted() -> None:
    own = replace(application(APP), measured=(measured("plain", 0.0, "a"),))
    advice = advise(own, ARMS, planted(14), rejected=[Rejected(arm=ARMS[0], reason="no")])
    assert advice.measured == ()
    assert [each.arm.name for each in advice.predicted] == ["filter", "sandbox"]


@pytest.mark.parametrize(
    ("technology", "need", "value", "meets"),
    [
        ("bubblewrap", Need.NO_ROOT, "", True),
        ("docker", Need.NO_ROOT, "", False),
        ("docker", Need.NO_DAEMON, "", False),
        ("podman", Need.NO_DAEMON, "", True),
        ("gvisor", Need.OWN_KERNEL, "", True),
        ("lxc", Need.OWN_KERNEL, "", False),
        ("gvisor", Need.ISOLATION, "sandbox", True),
        ("gvisor", Need.ISOLATION, "machine", False),
        ("qemu", Need.LIVE_MIGRATION, "", True),
        ("docker", Need.LIVE_MIGRATION, "", False),
        ("apptainer", Need.IMAGE, "sif", True),
        ("podman", Need.IMAGE, "sif", False),
        ("docker", Need.GPU, "", True),
        ("qemu", Need.GPU, "", False),
        ("custom", Need.NO_ROOT, "", False),
        ("custom", Need.ISOLATION, "files", False),
        ("custom", Need.IMAGE, "oci", False),
    ],
)
def test_requirements_are_met_by_those_who_are_so(
    technology: str, need: Need, value: str, meets: bool
) -> None:
    why = unsuitable(SUITABILITY[technology], Required(need=need, value=value))
    assert (why is None) is meets


def test_each_step_of_isolation_has_its_words() -> None:
    strict = Required(need=Need.ISOLATION, value="machine")
    for isolation in Isolation:
        own: Suitability = replace(SUITABILITY["lxc"], isolation=isolation)
        assert (unsuitable(own, strict) is None) is (isolation is Isolation.MACHINE)


def test_what_a_busy_host_withheld_is_shown_and_predicted_all_the_same() -> None:
    own = replace(application(APP), measured=(replace(measured("plain", 0.5, "a"), withheld=True),))
    advice = advise(own, ARMS, planted(14))
    assert [each.arm.name for each in advice.measured] == ["plain"]
    assert advice.take == ("plain",)
    assert len(advice.predicted) == 3


def test_a_measurement_without_an_interval_tells_nothing() -> None:
    few = measured("plain", 0.0, "a")
    own = replace(few, overhead=replace(few.overhead, low=None, high=None, n=1))
    advice = advise(replace(application(APP), measured=(own,)), ARMS, planted(14))
    assert advice.take == ("plain",)
    assert len(advice.predicted) == 3


@pytest.mark.parametrize(("point", "measure"), [(0.005, ()), (0.3, ("wild",))])
def test_what_cannot_be_predicted_is_to_be_measured_only_beside_what_costs_something(
    point: float, measure: tuple[str, ...]
) -> None:
    chance = Random(3)  # noqa: S311 - data
    wild = [replace(each, overheads={"wild": chance.uniform(-0.2, 0.4)}) for each in planted(14)]
    own = replace(application(APP), measured=(measured("plain", point, "a"),))
    advice = advise(own, [Candidate(name="wild", technology="fake")], wild)
    assert (advice.take, advice.measure) == (("plain",), measure)


def test_a_need_that_no_known_workload_has_must_be_measured() -> None:
    advice = advise(application({Resource.FILE_BYTES: 5e8}), [ARMS[0]], planted(14))
    assert (advice.take, advice.measure) == ((), ("plain",))
    (plain,) = advice.predicted
    assert (plain.basis, plain.unknown) == (Basis.OUTSIDE, (Resource.FILE_BYTES,))
    assert "must be measured: of no known workload file bytes are known" in predicted_said(plain)


def test_the_command_that_lacks_an_environments_options_says_so() -> None:
    own = Candidate(name="mine", technology="fake", settings=("seed = 3",))
    said = list(answer_said(advise(application({Resource.FILE_BYTES: 5e8}), [own], [])))
    assert not any("seed = 3" in line for line in said)
    known = planted(14, {"mine": {}})
    said = list(answer_said(advise(application({Resource.FILE_BYTES: 5e8}), [own], known)))
    assert any("does not set what mine has (seed = 3)" in line for line in said)


def test_the_command_that_lacks_a_cure_says_so() -> None:
    costs = {"filter": COSTS["filter"], "filter huge pages": COSTS["filter"]}
    cured = Candidate(name="filter huge pages", technology="fake", cure="use huge pages", of="filter")
    advice = advise(application(APP), [ARMS[1], cured], planted(14, costs, noise=0.01))
    assert sorted(advice.measure) == ["filter", "filter huge pages"]
    said = list(answer_said(advice))
    assert said[1].startswith("to decide between them, measure these two: tare weigh --env fake ")
    assert said[2:] == ["the command does not set what filter huge pages has: use huge pages"]


def test_a_cure_that_is_not_shown_to_be_faster_is_tied() -> None:
    cured = replace(
        measured("filter", 0.195, ""), arm=Candidate(name="cured", technology="fake", of="filter")
    )
    own = replace(application(APP), measured=(measured("filter", 0.2, "a"), cured))
    assert advise(own, [], planted(14)).take == ("cured", "filter")


def test_metrics_that_tell_nothing_are_said() -> None:
    own = replace(measured("filter", 0.2, "a"), metric="gups", metrics=3, untold=1)
    advice = advise(replace(application(APP), measured=(own,)), [], [])
    assert "take filter, as measured (not by all of its metrics: some tell nothing)" in answer_said(advice)
