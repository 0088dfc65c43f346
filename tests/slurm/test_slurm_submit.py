# SPDX-License-Identifier: Apache-2.0
"""A real Slurm takes, lists and ends what Tare submits, and measures a campaign to its end."""

import os
import shlex
import sys
from collections import Counter
from pathlib import Path

import pytest
from tests.slurm.cluster import Cluster
from tests.slurm.test_slurm_trials import CAMPAIGN

from tare.image.store import Image
from tare.journal.reader import read_journal
from tare.journal.result import ResultFolder
from tare.records import Status
from tare.submission.folder import JobsFolder
from tare.submission.scheduler import JobPhase, Submission, Wish
from tare.submission.slurm import Slurm, node_size

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="a cluster of namespaces needs root"),
]


class Way:
    """Slurm's commands as they work on the cluster's login node, on PATH."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        for name in ("sbatch", "squeue", "scancel", "sinfo"):
            script = folder / name
            command = shlex.join(cluster.argv(f"/usr/bin/{name}"))
            script.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
            script.chmod(0o755)


def test_slurm_itself_submits_lists_and_cancels(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Way(cluster, tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    script = cluster.folder / "job.sh"
    script.write_text("#!/bin/sh\nexec sleep 60\n")
    wish = Wish(nodes=2, time_s=1200.0)
    slurm, name = Slurm(), "tare-test"
    assert node_size(None, 4)[0] >= 1
    array = slurm.submit(Submission(name=name, count=2, script=script, logs=cluster.folder, wish=wish))

    def phases() -> dict[str, JobPhase]:
        return {job.identity: job.phase for job in slurm.jobs(name)}

    cluster.wait_until(
        lambda: phases() == {f"{array}_0": JobPhase.RUNNING, f"{array}_1": JobPhase.QUEUED}, 60
    )
    slurm.cancel(name, queued_only=True)
    cluster.wait_until(
        lambda: phases() == {f"{array}_0": JobPhase.RUNNING, f"{array}_1": JobPhase.CANCELLED}, 60
    )
    slurm.cancel(name)
    cluster.wait_until(lambda: set(phases().values()) == {JobPhase.CANCELLED}, 60)


@pytest.mark.timeout(280)
@pytest.mark.usefixtures("image")
def test_a_submitted_campaign_is_measured_by_its_job(cluster: Cluster, image: Image, tmp_path: Path) -> None:
    text = CAMPAIGN.format(home=tmp_path)
    (tmp_path / "jobs.toml").write_text(text)
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "images").symlink_to(image.root.parent.parent)
    variables = [f"TARE_STATE={tmp_path}/state"]
    tare = ["env", "-C", str(tmp_path), *variables, sys.executable, "-P", "-m", "tare"]
    done = cluster.run(*tare, "run", "jobs.toml", "--on", "slurm", "--output", "result", timeout_s=240)
    assert done.returncode == 0, done.stderr
    measured = read_journal(tmp_path / "result" / "journal").outcomes
    assert [outcome.status for outcome in measured] == [Status.OK] * 3, done.stderr
    assert set(Counter(outcome.trial.identity for outcome in measured).values()) == {1}
    elements = JobsFolder(ResultFolder(tmp_path / "result")).elements()
    assert [element.trials for element in elements.values()] == [3]
