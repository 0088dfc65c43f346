# SPDX-License-Identifier: Apache-2.0
"""A program of one's own takes turns: by lines, or frozen in between; natively, for real."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.fake_campaign import Listener, fake_campaign, fake_context
from tests.measure.test_measure_trial import a_trial
from tests.test_energy_flow import Counted, count_with

from tare.host.cgroups.freezer import Freezer, freezer_of
from tare.host.cgroups.hierarchies import V1
from tare.host.energy import PACKAGE
from tare.journal.reader import read_journal
from tare.journal.result import ResultFolder
from tare.measure import session
from tare.measure.campaign import Request, measure_campaign
from tare.measure.context import Context
from tare.measure.stopping import cell_of
from tare.measure.turns import frozen
from tare.measure.turns.player import Player
from tare.measure.turns.together import run_together
from tare.nodes.devices import Device
from tare.nodes.freezer import node_freezer
from tare.nodes.group import LocalGroup
from tare.nodes.provider import Node, NodeGroup
from tare.records import Environment, Limits, Outcome, Status, Trial, Turns, Way, Workload

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root for mounts and control groups"),
]
LOOP = "import sys\nfor line in sys.stdin:\n    sum(range(20000)); print('done', flush=True)\n"
WORK = "print(sum(range(4000000)))"


def outcomes_of(
    workload: Workload, folder: Path, *, rounds: int = 4, time_s: float = 20.0, **changes: Any
) -> tuple[tuple[Outcome, ...], list[str]]:
    campaign = replace(
        fake_campaign(
            Environment(name="again", technology="native"),
            workload=workload,
            **{"blocks": 1, **changes},
        ),
        limits=Limits(memory_byte=1 << 28, shm_byte=1 << 20, time_s=time_s),
        turns=Turns(slice_s=0.02, rounds=rounds, processes=1),
    )
    listener, result = Listener(), ResultFolder(folder)
    measure_campaign(Request(campaign=campaign, folder=result), listener)
    return read_journal(result.journal).outcomes, listener.words


def command(way: Way, *argv: str, turns: bool = False) -> Workload:
    return Workload(name="own", kind="command", options={"argv": list(argv), "turns": turns}, way=way)


@pytest.mark.usefixtures("image")
def test_a_program_that_answers_lines_is_timed_from_line_to_line(tmp_path: Path) -> None:
    outcomes, _ = outcomes_of(command(Way.SLICES, "python3", "-c", LOOP, turns=True), tmp_path / "result")
    for outcome in outcomes:
        assert (outcome.status, outcome.reason) == (Status.OK, None)
        assert [sample.name for sample in outcome.samples] == ["iteration"] * 4
        assert all(0 < sample.value < 1 for sample in outcome.samples)


@pytest.mark.usefixtures("image")
def test_an_unmodified_program_is_frozen_between_its_turns(tmp_path: Path) -> None:
    for attempt in range(3):  # on a busy machine it may wait so much that it runs whole
        outcomes, _ = outcomes_of(command(Way.FREEZER, "python3", "-c", WORK), tmp_path / f"result-{attempt}")
        if all(outcome.turns for outcome in outcomes):
            break
    for outcome in outcomes:
        assert (outcome.status, outcome.reason) == (Status.OK, None)
        assert outcome.turns is not None
        assert outcome.turns.way is Way.FREEZER
        walls = [sample for sample in outcome.samples if sample.name == "wall_s"]
        assert [sample.round for sample in walls] == list(range(len(walls)))
        assert all(run.exit_code == 0 for run in outcome.instances)


@pytest.mark.usefixtures("image")
def test_the_energy_of_a_frozen_program_is_that_of_its_turns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    count_with(Counted(PACKAGE), monkeypatch)
    monkeypatch.setattr(frozen, "unsuited", lambda _: None)  # on a busy machine it waits
    outcomes, _ = outcomes_of(command(Way.FREEZER, "python3", "-c", WORK), tmp_path / "result")
    for outcome in outcomes:
        assert outcome.reason is None
        assert outcome.turns is not None
        energies = [sample.value for sample in outcome.samples if sample.name == "energy_j"]
        assert energies == [pytest.approx(2.0 * outcome.turns.turns)]


def test_a_program_with_a_device_runs_whole_since_the_device_is_not_frozen(
    tmp_path: Path, programs: Path
) -> None:
    fuse = Device(path=Path("/dev/fuse"), major=10, minor=229)
    context = replace(fake_context(tmp_path, programs), devices=(fuse,))
    trial = a_trial(command(Way.FREEZER, "true"), "native")
    assert run_together(context, [trial]) is None
    assert "works on while its program is frozen" in context.whole[cell_of(trial)]


@pytest.mark.usefixtures("image")
def test_a_program_that_sleeps_runs_whole_and_the_user_hears_why(tmp_path: Path) -> None:
    outcomes, words = outcomes_of(command(Way.FREEZER, "sleep", "0.3"), tmp_path / "result")
    assert all(outcome.turns is None for outcome in outcomes)
    assert all("used no processor" in outcome.facts["run whole"] for outcome in outcomes)
    assert any(text.startswith("own takes no turns, every run is timed from start to end") for text in words)


@pytest.mark.usefixtures("image")
def test_what_took_turns_in_the_first_block_never_runs_whole_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lacking = iter((False, False, False, True, True, True))

    def own_freezer(node: Node, group: NodeGroup | None) -> Freezer | None:
        return None if next(lacking) else node_freezer(node, group)

    monkeypatch.setattr(frozen, "node_freezer", own_freezer)
    monkeypatch.setattr(frozen, "unsuited", lambda _: None)  # a busy machine may keep the command waiting
    work = command(Way.FREEZER, "python3", "-c", WORK)
    outcomes, words = outcomes_of(work, tmp_path / "result", blocks=2)
    later = [outcome for outcome in outcomes if outcome.trial.block == 1]
    assert {outcome.status for outcome in outcomes if outcome.trial.block == 0} == {Status.OK}
    assert [(outcome.status, outcome.instances) for outcome in later] == [(Status.FAILED, ())] * 3
    assert all("cannot be frozen here, as it was" in (outcome.reason or "") for outcome in later)
    assert not any("takes no turns" in text for text in words)


@pytest.mark.usefixtures("image")
def test_arms_are_looked_at_while_all_are_frozen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    states: list[str] = []

    def look(self: Player) -> None:
        group = self.ready.watched.groups[0]
        assert isinstance(group, LocalGroup)
        freezer = freezer_of(group.group, self.ready.watched.nodes[0].spec.name)
        assert freezer is not None
        name = "freezer.state" if freezer.version == V1 else "cgroup.events"
        states.append((freezer.directory / name).read_text())

    monkeypatch.setattr(Player, "glance", look)
    outcomes_of(command(Way.FREEZER, "python3", "-c", WORK), tmp_path / "result")
    assert len(states) >= 3
    assert all("FROZEN" in state or "frozen 1" in state for state in states)


@pytest.mark.usefixtures("image")
def test_commands_that_the_budget_ends_before_they_have_run_once_count_as_not_begun(tmp_path: Path) -> None:
    long = command(Way.FREEZER, "python3", "-c", "while True: pass")
    outcomes, _ = outcomes_of(long, tmp_path / "result", budget_s=3.0, time_s=600.0)
    assert outcomes == ()


@pytest.mark.usefixtures("image")
def test_a_command_is_not_run_again_when_the_budget_is_near(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def spent(context: Context, trials: Sequence[Trial]) -> list[Outcome] | None:
        return run_together(replace(context, until_s=0.0), trials)

    monkeypatch.setattr(session, "run_together", spent)
    monkeypatch.setattr(frozen, "_tick_within", lambda _, glances: glances.between_turns())
    monkeypatch.setattr(frozen, "unsuited", lambda _: None)  # a busy machine may keep the command waiting
    work = command(Way.FREEZER, "python3", "-c", WORK)
    outcomes, _ = outcomes_of(work, tmp_path / "result", rounds=100)
    assert [len(outcome.instances) for outcome in outcomes] == [1, 1, 1]
    assert {outcome.status for outcome in outcomes} == {Status.OK}
