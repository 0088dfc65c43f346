# SPDX-License-Identifier: Apache-2.0
"""A campaign as jobs that PSI/J itself starts and follows: each block in a job of its own, one after the other."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tare.image.store import Image
from tare.journal.reader import read_journal
from tare.journal.result import ResultFolder
from tare.records import Status
from tare.submission.folder import JobsFolder

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="native nodes with limits need root"),
]
CAMPAIGN = """
name = "local"
blocks = 2
layouts = ["1c1p1i"]
[[environment]]
technology = "fake"
[[workload]]
name = "fake"
"""


def test_each_block_is_measured_once_by_a_job_of_psij(image: Image, tmp_path: Path) -> None:
    (tmp_path / "local.toml").write_text(CAMPAIGN)
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "images").symlink_to(image.root.parent.parent)
    done = subprocess.run(
        [
            *(sys.executable, "-P", "-m", "tare", "run", "local.toml"),
            *("--on", "local", "--time", "10m", "--output", "result"),
        ],
        cwd=tmp_path,
        env={**os.environ, "TARE_STATE": str(tmp_path / "state")},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "job 1_0 ended, with trials left: submitted 1 job of 1 node, for the next block: 2" in done.stderr
    measured = read_journal(tmp_path / "result" / "journal").outcomes
    assert [outcome.status for outcome in measured] == [Status.OK] * 6
    assert set(Counter(outcome.trial.identity for outcome in measured).values()) == {1}
    jobs = JobsFolder(ResultFolder(tmp_path / "result"))
    assert {name: element.trials for name, element in jobs.elements().items()} == {"1_0": 3, "2_0": 3}
    assert list(jobs.numbers()) == ["1_0", "2_0"]
