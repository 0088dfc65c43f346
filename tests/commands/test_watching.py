# SPDX-License-Identifier: Apache-2.0
"""Jobs watched to their end: each block once, further jobs for lost ones, and an end where more have no purpose."""

import io
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.commands.fake_queue import FakeQueue, FakeResult

from tare.commands.element import new_element
from tare.commands.submitted import said_of_jobs
from tare.commands.watching import JobsProgress, Watch
from tare.errors import HostError, InputError
from tare.journal.result import ResultFolder
from tare.submission.folder import JobsFolder
from tare.submission.scheduler import JobPhase, QueuedJob


class Watched:
    """A watch of a fake queue, and what it said."""

    def __init__(self, folder: Path, *fates: str) -> None:
        jobs = JobsFolder(ResultFolder(folder / "r"))
        self.result = FakeResult(jobs)
        self.queue = FakeQueue(jobs, self.result.measure, fates)
        self.stream = io.StringIO()
        self.sleeps = 0
        self.watch = self.another()

    def another(self) -> Watch:
        """A second command that watches the same jobs."""
        return Watch(
            jobs=self.queue.folder,
            scheduler=self.queue,
            standing=self.result.standing,
            blocks=self.result.blocks,
            progress=JobsProgress(stream=self.stream),
            sleep=self._sleep,
        )

    def _sleep(self, _: float) -> None:
        self.sleeps += 1
        assert self.sleeps < 1000, "it waits forever"

    def run(self) -> str:
        """To the end; returns everything that was said."""
        self.watch.start()
        self.watch.finish()
        return self.stream.getvalue()


def test_each_job_measures_one_block_until_nothing_is_left(tmp_path: Path) -> None:
    own = Watched(tmp_path)
    assert own.watch.start() == "submitted 3 jobs of 2 nodes, one for each block: 1"
    own.watch.finish()
    assert own.queue.counts == [3]
    assert own.result.measured == {0: 1, 1: 1, 2: 1}
    assert "job 1_0 runs on n[1-2], 2 are queued (Priority)\n" in own.stream.getvalue()


@settings(max_examples=25, deadline=None)
@given(fates=st.lists(st.sampled_from(["measure", "lost", "silent", "cancelled"]), max_size=6))
def test_whatever_is_lost_each_block_is_measured_once(fates: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        own = Watched(Path(folder), *fates)
        if _ends_cancelled(own):
            assert "cancelled" in fates, "nothing else is given up after fewer than three rounds"
            own.watch = own.another()
            own.queue.fates.clear()
            own.run()
        assert own.result.measured == {0: 1, 1: 1, 2: 1}


def _ends_cancelled(own: Watched) -> bool:
    try:
        own.run()
    except HostError as error:
        return "were cancelled, with trials left" in str(error)
    return False


def test_jobs_that_cannot_wait_for_each_other_are_submitted_one_by_one(tmp_path: Path) -> None:
    own = Watched(tmp_path)
    own.queue.chains = False
    said = own.run()
    assert own.queue.counts == [1, 1, 1]
    assert own.result.measured == {0: 1, 1: 1, 2: 1}
    assert "job 2_0 ended, with trials left: submitted 1 job of 2 nodes, for the next block: 3" in said


def test_a_lost_job_is_named_and_its_block_is_submitted_again(tmp_path: Path) -> None:
    said = Watched(tmp_path, "measure", "measure", "lost").run()
    assert "job 1_2 was lost (NODE_FAIL, on n[1-2]), with trials left: submitted 1 job of 1 node" not in said
    assert "job 1_2 was lost (NODE_FAIL, on n[1-2]), with trials left: submitted 1 job of 2 nodes" in said


def test_the_block_of_a_cancelled_job_is_done_by_the_jobs_that_are_left_and_one_more(tmp_path: Path) -> None:
    own = Watched(tmp_path, "cancelled")
    own.run()
    assert own.queue.counts == [3, 1]
    assert own.result.measured == {0: 1, 1: 1, 2: 1}


def test_whoever_cancels_all_jobs_is_not_overruled(tmp_path: Path) -> None:
    own = Watched(tmp_path)
    own.watch.start()
    own.queue.cancel("tare-fake")
    with pytest.raises(
        HostError, match=r"the jobs tare-fake were cancelled.*to go on, tare run .*/r --on slurm"
    ):
        own.watch.finish()
    assert own.queue.counts == [3]


def test_after_three_rounds_without_a_trial_nothing_more_is_submitted(tmp_path: Path) -> None:
    own = Watched(tmp_path, *["lost"] * 20)
    with pytest.raises(
        HostError, match=r"3 times in a row .* job 3_2 was lost \(NODE_FAIL, on n\[1-2\]\); see .*/3_2\.log"
    ):
        own.run()
    assert own.queue.counts == [3, 3, 3]


def test_what_every_job_would_refuse_is_said_once_and_ends_the_watch(tmp_path: Path) -> None:
    own = Watched(tmp_path)
    own.result.ending = {"why": "the key is wrong", "wrong_input": True}
    with pytest.raises(
        InputError, match=r"^job 1_2 on n\[1-2\]: the key is wrong; when that is mended, tare run "
    ):
        own.run()


def test_a_job_that_the_budget_allows_nothing_ends_the_watch(tmp_path: Path) -> None:
    own = Watched(tmp_path)
    own.result.measure(new_element("0_0", {}))
    own.result.ending = {"why": None}
    own.run()
    assert own.queue.counts == [2], "no further jobs were submitted"


def test_a_silent_scheduler_is_waited_for_and_said_once(tmp_path: Path) -> None:
    said = Watched(tmp_path, "silent", "silent", "silent").run()
    assert said.count("the scheduler does not answer (Unable to contact slurm controller)") == 1
    assert said.count("the scheduler answers again") == 1


def test_a_second_watch_finds_the_jobs_and_submits_none(tmp_path: Path) -> None:
    own = Watched(tmp_path)
    own.watch.start()
    second = own.another()
    assert second.start() == "job 1_0 runs on n[1-2], 2 are queued (Priority)"
    second.finish()
    assert own.queue.counts == [3]
    assert own.another().start() == "all trials are done"


def test_why_jobs_wait_is_said_but_not_that_they_wait_for_each_other() -> None:
    waiting = [
        QueuedJob(identity=f"1_{each}", phase=JobPhase.QUEUED, reason="JobArrayTaskLimit") for each in (1, 2)
    ]
    assert said_of_jobs(waiting) == "2 jobs queued"
    first = QueuedJob(identity="1_0", phase=JobPhase.QUEUED, reason="Resources")
    assert said_of_jobs([first, *waiting]) == "3 jobs queued (Resources)"
    assert said_of_jobs([]) == "no job is left"
    assert said_of_jobs([QueuedJob(identity="1_0", phase=JobPhase.RUNNING)]) == "job 1_0 runs"
