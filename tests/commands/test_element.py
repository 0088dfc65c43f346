# SPDX-License-Identifier: Apache-2.0
"""A job says of itself how it ended: by its block, by an error, or because it was asked to."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.commands.fake_queue import NAME, FakeQueue
from tests.fake_campaign import fake_campaign, fake_environment, fake_request

from tare.commands import element
from tare.commands.element import measured_block, new_element, run_job
from tare.commands.run import Overrides
from tare.errors import HostError, InputError, LockedError
from tare.journal.result import ResultFolder
from tare.measure.campaign import Request
from tare.measure.shares import Share
from tare.submission.folder import Element, JobsFolder
from tare.submission.scheduler import JobPhase, QueuedJob

BEGUN = new_element("7_0", {"SLURM_JOB_NODELIST": "n[1-2]"})


def queue_of(jobs: JobsFolder) -> FakeQueue:
    """A queue in which another job of the result waits."""
    queue = FakeQueue(jobs, lambda _: None)
    queue.listed["7_1"] = QueuedJob(identity="7_1", phase=JobPhase.QUEUED)
    return queue


def phase_of_rest(queue: FakeQueue) -> JobPhase:
    return queue.listed["7_1"].phase


def raising(error: BaseException) -> Callable[[], Request]:
    def request() -> Request:
        raise error

    return request


def ended(tmp_path: Path, error: BaseException) -> Element:
    """The record of a job that ends with an error."""
    jobs = JobsFolder(ResultFolder(tmp_path / "r"))
    queue = queue_of(jobs)
    if isinstance(error, KeyboardInterrupt):
        assert measured_block(raising(error), jobs, BEGUN, queue) == 130
    else:
        with pytest.raises(type(error)):
            measured_block(raising(error), jobs, BEGUN, queue)
    assert queue.listed["7_1"].phase is JobPhase.QUEUED, "the others try the block"
    return jobs.elements()["7_0"]


@pytest.mark.usefixtures("fake_image")
def test_the_job_that_leaves_nothing_to_run_cancels_the_rest(tmp_path: Path) -> None:
    campaign = fake_campaign(fake_environment(), blocks=2)
    request = replace(fake_request(campaign, tmp_path / "r"), share=Share())
    jobs = JobsFolder(request.folder)
    queue = queue_of(jobs)
    assert measured_block(lambda: request, jobs, BEGUN, queue) == 0
    first = jobs.elements()["7_0"]
    assert (first.trials, first.complete, first.why, first.nodes) == (3, False, None, "n[1-2]")
    assert phase_of_rest(queue) is JobPhase.QUEUED
    assert measured_block(lambda: request, jobs, replace(BEGUN, identity="7_1"), queue) == 0
    assert jobs.elements()["7_1"].complete
    assert phase_of_rest(queue) is JobPhase.CANCELLED
    assert request.folder.report.is_file()


@pytest.mark.parametrize(
    ("error", "wrong"), [(InputError("a key is wrong"), True), (HostError("no docker"), False)]
)
def test_an_error_is_kept_with_whether_every_job_would_have_it(
    tmp_path: Path, error: Exception, wrong: bool
) -> None:
    record = ended(tmp_path, error)
    assert (record.why, record.wrong_input, record.trials) == (str(error), wrong, 0)
    assert record.ended_utc is not None


def test_a_job_that_was_asked_to_stop_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(element, "_ignore_further_signals", lambda: None)
    record = ended(tmp_path, KeyboardInterrupt())
    assert record.stopped
    assert record.why is not None
    assert "asked to stop" in record.why


def test_a_job_waits_while_another_run_has_the_host(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    busy = [LockedError("another run"), LockedError("another run")]

    def run() -> str:
        if busy:
            raise busy.pop()
        return "analysis"

    monkeypatch.setattr(element, "_WAIT_S", 0.001)
    assert element._once_free(run, None) == "analysis"  # type: ignore[arg-type, comparison-overlap]
    assert capsys.readouterr().err == "waiting: another run\n"
    busy.append(LockedError("another run"))
    with pytest.raises(LockedError):
        element._once_free(run, Share(ends_s=0.0))  # type: ignore[arg-type]


def test_a_job_outside_of_slurm_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    with pytest.raises(InputError, match="--job is for the jobs that tare run --on submits"):
        run_job("fake", tmp_path, Overrides(), "default")


def test_the_queue_is_asked_by_the_name_of_the_result(tmp_path: Path) -> None:
    jobs = JobsFolder(ResultFolder(tmp_path / "r"))
    queue_of(jobs)
    assert jobs.asked().name == NAME
