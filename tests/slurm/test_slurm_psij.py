# SPDX-License-Identifier: Apache-2.0
"""What PSI/J and Tare say of batch jobs holds for a real scheduler: the only one at hand, which needs no PSI/J."""

import os
from pathlib import Path

import pytest
from tests.slurm.cluster import Cluster
from tests.slurm.test_slurm_submit import Way

from tare.journal.result import ResultFolder
from tare.submission import psij
from tare.submission.folder import JobsFolder
from tare.submission.psij import Psij
from tare.submission.scheduler import JobPhase, Submission, Wish

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="a cluster of namespaces needs root"),
]


def test_jobs_wait_for_each_other_are_listed_and_cancelled(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Way(cluster, tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setitem(psij._AFTER, "slurm", ("slurm.dependency", "afterany:{}"))
    jobs = JobsFolder(ResultFolder(cluster.folder / "by-psij"))
    jobs.write_script(["sleep", "60"], cluster.folder)
    scheduler, wish = Psij("slurm", jobs), Wish(nodes=2, time_s=1200.0, processors=1)
    submission = Submission(name="tare-psij", count=3, script=jobs.script, logs=jobs.path, wish=wish)
    assert scheduler.submit(submission) == "1"

    def phases() -> list[JobPhase]:
        return [job.phase for job in scheduler.jobs("tare-psij")]

    cluster.wait_until(lambda: phases() == [JobPhase.RUNNING, JobPhase.QUEUED, JobPhase.QUEUED], 60)
    cluster.wait_until(jobs.log("1_0").exists, 60)
    scheduler.cancel("tare-psij", queued_only=True)
    cluster.wait_until(lambda: phases() == [JobPhase.RUNNING, JobPhase.CANCELLED, JobPhase.CANCELLED], 60)
    scheduler.cancel("tare-psij")
    cluster.wait_until(lambda: set(phases()) == {JobPhase.CANCELLED}, 60)
