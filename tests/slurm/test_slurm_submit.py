# SPDX-License-Identifier: Apache-2.0
"""A user's campaign submitted to a real Slurm: a job for each block, and a cancelled one loses no trial."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from tests.slurm.cluster import Cluster
from tests.slurm.test_slurm_trials import CAMPAIGN

from tare.journal.reader import read_journal
from tare.journal.result import ResultFolder
from tare.records import Outcome, Status
from tare.submission.folder import JobsFolder

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="a cluster of namespaces needs root"),
]


def outcomes(result: Path) -> tuple[Outcome, ...]:
    """Those that the jobs have recorded so far."""
    return read_journal(result / "journal").outcomes if any((result / "journal").glob("*")) else ()


@pytest.mark.timeout(280)
@pytest.mark.usefixtures("image")
def test_jobs_measure_each_trial_once_though_one_is_cancelled_in_its_block(cluster: Cluster) -> None:
    home = cluster.folder / "home"
    text = CAMPAIGN.format(home=home).replace("blocks = 1", "blocks = 2").replace('"mine"', '"jobs"')
    (home / "jobs.toml").write_text(text)
    result = home / "submitted"
    variables = [f"TARE_STATE={home}/state", "PYTHONDONTWRITEBYTECODE=1"]
    tare = ["env", "-C", str(home), *variables, sys.executable, "-P", "-m", "tare"]
    run = ["run", "jobs.toml", "--on", "slurm", "--time", "20m", "--output", str(result)]
    with subprocess.Popen(
        cluster.argv(*tare, *run, user=True), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as watch:
        try:
            cluster.wait_until(lambda: bool(outcomes(result)) or watch.poll() is not None, 120)
            assert watch.poll() is None, watch.communicate()[0]
            first = min(JobsFolder(ResultFolder(result)).elements())
            assert cluster.run("scancel", first, user=True).returncode == 0
            said, _ = watch.communicate(timeout=240)
        finally:
            watch.kill()
    assert watch.returncode == 0, said
    measured = outcomes(result)
    assert [outcome.status for outcome in measured] == [Status.OK] * 6, said
    assert set(Counter(outcome.trial.identity for outcome in measured).values()) == {1}
    elements = JobsFolder(ResultFolder(result)).elements()
    assert elements[first].stopped or elements[first].complete is False
    assert len(elements) == 3, "the cancelled one's block took a further job"
    assert list((home / "far" / "nodes").iterdir()) == []
