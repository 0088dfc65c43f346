# SPDX-License-Identifier: Apache-2.0
"""A trial that failed with its Slurm job or a host, or while the controller was away, is not counted."""

import os
import signal
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.series_example import outcome, trial

from tare.environments.ssh import shared
from tare.errors import HostError
from tare.host import process, slurm
from tare.host.process import Completed
from tare.host.slurm import Allocation
from tare.measure.hosts import far_of
from tare.measure.lost_hosts import counts
from tare.records import NamedHost, Outcome, Status

HOSTS = (NamedHost(name="slurm-1", slurm=0), NamedHost(name="slurm-2", slurm=1))
BEGUN = datetime(2026, 11, 26, 12, tzinfo=UTC)


def ended(status: Status = Status.FAILED) -> Outcome:
    return replace(outcome(trial(0, "native"), [1.0]), status=status, started_utc=BEGUN.isoformat())


@pytest.fixture(autouse=True)
def job(monkeypatch: pytest.MonkeyPatch) -> None:
    own = Allocation(job="7", nodes=("a", "b"), processors={})
    monkeypatch.setattr(slurm, "is_allocated", lambda: True)
    monkeypatch.setattr(slurm, "allocation", lambda: own)
    monkeypatch.setattr(slurm, "is_over", lambda _: False)
    monkeypatch.setattr(slurm, "controller_boot_s", (BEGUN - timedelta(days=1)).timestamp)
    monkeypatch.setattr("tare.measure.lost_hosts.time.sleep", lambda _: None)


def test_a_failure_by_itself_counts() -> None:
    assert counts(HOSTS, ended())


def test_nothing_is_asked_of_a_trial_that_did_not_fail_or_has_no_node_of_slurms(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(slurm, "is_over", lambda _: pytest.fail("asked"))
    assert counts(HOSTS, ended(Status.OK))
    assert counts((NamedHost(name="h", address="h"),), ended())


def test_with_its_job_the_run_ends_and_says_how_to_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slurm, "is_over", lambda _: True)
    with pytest.raises(
        HostError, match=r"Slurm's job 7 has ended, and \S+ is not counted: continue in another"
    ):
        counts(HOSTS, ended())


def test_a_failure_while_the_controller_was_away_is_tried_again_once_steps_can_begin(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    boots = iter([None, None, (BEGUN + timedelta(seconds=5)).timestamp()])
    codes = iter([1, 1, 0, 0])
    asked: list[str] = []

    def run(argv: Sequence[str], **_: object) -> Completed:
        asked.append(next(word for word in argv if word.startswith("--nodelist")))
        return Completed(code=next(codes), stdout="", stderr="")

    monkeypatch.setattr(slurm, "controller_boot_s", lambda: next(boots))
    monkeypatch.setattr(process, "run", run)
    assert not counts(HOSTS, ended())
    assert asked == ["--nodelist=a"] * 3 + ["--nodelist=b"]


def test_a_controller_that_stays_away_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slurm, "controller_boot_s", lambda: None)
    monkeypatch.setattr("tare.measure.lost_hosts._CONTROLLER_LIMIT_S", 0)
    with pytest.raises(HostError, match="controller does not answer"):
        counts(HOSTS, ended())


def test_a_failure_with_a_host_that_died_and_came_back_is_tried_again(tmp_path: Path) -> None:
    """The host here is an agent without ssh; it is killed in the first of three trials that fail."""
    here = NamedHost(name="h", state=str(tmp_path))
    with shared.kept():
        with shared.opened(far_of(here)) as channel:
            channel.ask("clock")
            agent = channel._process.pid
        failed = begun_now("h")
        assert counts([here], failed)
        os.killpg(agent, signal.SIGKILL)
        assert not counts([here], failed)
        assert counts([here], begun_now("h"))
        assert counts([here], begun_now("another"))


def begun_now(host: str) -> Outcome:
    failed = ended()
    begun = datetime.now(UTC) + timedelta(milliseconds=1)
    return replace(failed, started_utc=begun.isoformat(), trial=replace(failed.trial, hosts=(host,)))
