# SPDX-License-Identifier: Apache-2.0
"""What belongs to the host is made and removed only while this run holds it."""

import fcntl
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from tests.fake_campaign import Listener, command_workload, fake_campaign, fake_request
from tests.measure.measure_nodes import node_spec

from tare.environments.fake import Fake
from tare.errors import InputError, LockedError
from tare.measure import campaign as module
from tare.measure import idle_ranks
from tare.measure.campaign import measure_campaign, without_evidence
from tare.measure.lock import host_lock
from tare.measure.turns.together import WHOLE
from tare.node_life import start_node
from tare.plan.campaign import Campaign
from tare.records import Outcome, Stopped, Trial

pytestmark = pytest.mark.usefixtures("fake_image")


def is_held(state: Path) -> bool:
    with (state / "lock").open() as opened:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def test_the_common_group_is_removed_before_another_run_may_begin(
    state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held: list[bool] = []
    monkeypatch.setattr(module, "remove_parent_if_empty", lambda: held.append(is_held(state)))
    measure_campaign(fake_request(fake_campaign(blocks=1), tmp_path / "result"), Listener())
    assert held == [True]
    assert not is_held(state)


def test_leftovers_are_removed_before_anything_is_measured_and_are_told(state: Path, tmp_path: Path) -> None:
    spec = node_spec(state)
    start_node(spec, Fake())
    listener = Listener()
    measure_campaign(fake_request(fake_campaign(blocks=1), tmp_path / "result"), listener)
    assert listener.words[0] == f"removed {spec.name}, left by a killed run"
    assert not spec.directory.exists()


def test_while_another_run_measures_nothing_is_touched(state: Path, tmp_path: Path) -> None:
    spec = node_spec(state)
    start_node(spec, Fake())
    request = fake_request(fake_campaign(blocks=1), tmp_path / "result")
    with host_lock("another"), pytest.raises(LockedError, match="another run of tare is measuring"):
        measure_campaign(request, Listener())
    assert spec.directory.exists()
    assert not request.folder.path.exists()


def test_no_descriptor_is_left_open_by_a_campaign(tmp_path: Path) -> None:
    measure_campaign(fake_request(fake_campaign(blocks=1), tmp_path / "first"), Listener())
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - only their number is wanted
    measure_campaign(fake_request(fake_campaign(blocks=2), tmp_path / "second"), Listener())
    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208 - the same


def test_the_budget_holds_for_the_first_native_run_too(tmp_path: Path) -> None:
    asked = fake_campaign(workload=command_workload("sleep", "60"), budget_s=1.0, time_s=60.0)
    with pytest.raises(
        InputError, match=r"first native run did not end within .* that are left of the budget"
    ):
        measure_campaign(fake_request(asked, tmp_path / "result", pilot=True), Listener())


def test_of_trials_that_are_over_only_what_looks_and_later_trials_ask_stays_in_memory(tmp_path: Path) -> None:
    looked: list[tuple[Outcome, ...]] = []

    def stopping(
        campaign: Campaign,  # noqa: ARG001 - a Stopping
        outcomes: Sequence[Outcome],
        passed_over: Sequence[Trial],  # noqa: ARG001 - a Stopping
    ) -> tuple[Stopped, ...]:
        looked.append(tuple(outcomes))
        return ()

    listener = Listener()
    request = fake_request(fake_campaign(looks=(1, 2)), tmp_path / "result")
    for _ in ("measured", "continued"):
        measure_campaign(replace(request, stopping=stopping), listener)
    assert all(whole.signals and whole.facts for whole in listener.outcomes)
    for outcomes in filter(None, looked):
        for kept, whole in zip(outcomes, listener.outcomes, strict=False):
            assert (kept.signals, kept.missing_signals, kept.facts) == ((), {}, {})
            assert (kept.trial, kept.samples, kept.load) == (whole.trial, whole.samples, whole.load)
    assert len(looked[-1]) == len(listener.outcomes)


def test_what_later_trials_ask_of_those_that_are_over_is_kept(tmp_path: Path) -> None:
    listener = Listener()
    measure_campaign(fake_request(fake_campaign(blocks=1), tmp_path / "result"), listener)
    asked = {idle_ranks.FACT: idle_ranks.SPIN, WHOLE: "it takes no turns"}
    whole = replace(listener.outcomes[0], facts={**listener.outcomes[0].facts, **asked})
    assert without_evidence(whole).facts == asked
