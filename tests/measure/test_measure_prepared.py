# SPDX-License-Identifier: Apache-2.0
"""The launch is tried and the evidence asked once for each arm, and again where the answer may be another."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from tests.fake_campaign import Listener, fake_campaign, fake_context, fake_environment, fake_request

from tare.journal.reader import read_journal
from tare.measure.campaign import measure_campaign
from tare.measure.context import Context
from tare.measure.trial import run_trial
from tare.records import (
    PROGRAM,
    Environment,
    Layout,
    Limits,
    Outcome,
    Rule,
    Status,
    Trial,
    Turns,
    Way,
    Workload,
)
from tare.workloads import KINDS
from tare.workloads.fake import FakeWorkload
from tare.workloads.kind import Job, Options, Shape
from tare.workloads.mpi import CLOCK_FAULT

pytestmark = pytest.mark.usefixtures("state")
ASKED = {"tried": 1, "asked": 1}
_TWICE = f'test "$(grep -c tried "$1")" -lt 2 || {{ echo it stands still >&2; exit {CLOCK_FAULT}; }}'


class Tried(FakeWorkload):
    """Its launch is tried, and its evidence has another answer each time; a line is written for each."""

    def __init__(self, notes: Path, then: str = "true", evidence: str = "true") -> None:
        self._notes, self._then, self._evidence = notes, then, evidence

    def job(self, options: Options, shape: Shape) -> Job:
        return replace(
            super().job(options, shape),
            preflight=self._shell(f'echo tried >> "$1"; {self._then}'),
            evidence={"blas": self._shell(f'echo asked >> "$1"; {self._evidence} && grep -c asked "$1"')},
        )

    def counted(self) -> Counter[str]:
        return Counter(self._notes.read_text().split())

    def _shell(self, script: str) -> tuple[str, ...]:
        return ("/bin/sh", "-c", script, "sh", str(self._notes))


@pytest.fixture
def tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tried:
    kind = Tried(tmp_path / "notes")
    monkeypatch.setitem(KINDS, "fake", kind)
    return kind


@pytest.fixture
def context(tmp_path: Path, programs: Path) -> Context:
    return fake_context(tmp_path, programs)


def trial(number: int, environment: Environment | None = None, *, layout: str = "1c1p1i") -> Trial:
    return Trial(
        identity=f"b{number:03}-t",
        block=number,
        slot=0,
        environment=environment or fake_environment("e"),
        replicate=0,
        layout=Layout.parse(layout),
        workload=Workload(name="work", kind="fake", options={}),
        limits=Limits(memory_byte=96 << 20, shm_byte=1 << 20, time_s=10.0),
    )


def ran(context: Context, asked: Trial) -> Outcome:
    outcome = run_trial(context, asked)
    assert (outcome.status, outcome.reason) == (Status.OK, None)
    return outcome


def beforehand(outcome: Outcome) -> dict[str, str]:
    return {label: outcome.facts[label] for label in ("blas", PROGRAM)}


def failing(asked: Trial) -> Trial:
    return replace(asked, workload=replace(asked.workload, options={"behaviour": "fail"}))


def test_later_trials_of_an_arm_repeat_what_its_first_found(context: Context, tried: Tried) -> None:
    facts = [beforehand(ran(context, trial(number))) for number in range(3)]
    assert tried.counted() == ASKED
    assert facts[0]["blas"] == "1"
    assert facts[0][PROGRAM].startswith("sha256:")
    assert facts == facts[:1] * 3


def test_each_instance_of_the_first_trial_is_tried(context: Context, tried: Tried) -> None:
    for number in range(2):
        ran(context, trial(number, layout="1c2p2i"))
    assert tried.counted() == {"tried": 2, "asked": 1}


def test_another_environment_or_layout_is_another_arm(context: Context, tried: Tried) -> None:
    for number in range(2):
        ran(context, trial(number))
        ran(context, trial(number, fake_environment("other")))
        ran(context, trial(number, layout="1c2p1i"))
    assert tried.counted() == {"tried": 3, "asked": 3}


def test_evidence_that_could_not_be_had_is_asked_again(
    context: Context, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = Tried(tmp_path / "notes", evidence='test "$(grep -c asked "$1")" -gt 1')
    monkeypatch.setitem(KINDS, "fake", kind)
    facts = [ran(context, trial(number)).facts["blas"] for number in range(3)]
    assert facts == ["not known: /bin/sh ended with 1", "2", "2"]
    assert kind.counted() == {"tried": 1, "asked": 2}


def test_another_session_tries_anew(context: Context, tried: Tried) -> None:
    for number in range(2):
        ran(replace(context, evidence={}, programs={}), trial(number))
    assert tried.counted() == {"tried": 2, "asked": 2}


def test_what_a_failed_trial_found_is_not_relied_on(context: Context, tried: Tried) -> None:
    ran(context, trial(0))
    assert run_trial(context, failing(trial(1))).status is Status.FAILED
    assert tried.counted() == ASKED
    assert [ran(context, trial(number)).facts["blas"] for number in (2, 3)] == ["2", "2"]


def test_the_failure_of_one_arm_costs_the_others_nothing(context: Context, tried: Tried) -> None:
    ran(context, trial(0))
    run_trial(context, failing(trial(0, fake_environment("other"))))
    ran(context, trial(1))
    assert tried.counted() == {"tried": 2, "asked": 2}


def test_a_launch_that_cannot_work_is_tried_in_every_trial(
    context: Context, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = Tried(tmp_path / "notes", "echo no way >&2; exit 1")
    monkeypatch.setitem(KINDS, "fake", broken)
    reasons = [run_trial(context, trial(number)).reason for number in range(2)]
    assert reasons == ["MPI does not start here: no way"] * 2
    assert broken.counted() == {"tried": 2}


def test_a_clock_that_begins_with_its_node_is_tried_with_every_node(
    context: Context, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sandbox's or a machine's: the second one's stands still, although the first one's was right."""
    monkeypatch.setitem(KINDS, "fake", Tried(tmp_path / "notes", _TWICE))
    own = Environment(name="e", technology="fake", options={"clock": "honest"})
    ran(context, trial(0, own))
    second = run_trial(context, trial(1, own))
    assert (second.status, second.excluded_by) == (Status.INVALID, Rule.CLOCK)
    assert second.reason == "MPI's clock cannot be trusted here: it stands still"


@pytest.mark.usefixtures("fake_image")
def test_arms_that_take_turns_are_tried_once_too(tmp_path: Path, tried: Tried) -> None:
    workload = Workload(name="work", kind="fake", options={"slices": True}, way=Way.SLICES)
    campaign = replace(fake_campaign(blocks=2), workloads=(workload,), turns=Turns(rounds=5, processes=2))
    request = fake_request(campaign, tmp_path / "result")
    measure_campaign(request, Listener())
    outcomes = read_journal(request.folder.journal).outcomes
    assert {outcome.status for outcome in outcomes} == {Status.OK}
    assert tried.counted() == {"tried": 2, "asked": 2}
    slow = [beforehand(outcome) for outcome in outcomes if outcome.trial.environment.name == "slow"]
    assert slow == slow[:1] * 2
