# SPDX-License-Identifier: Apache-2.0
"""The allocation is what Slurm's variables and scontrol say of it."""

from collections.abc import Sequence

import pytest

from tare.errors import HostError, NodeError
from tare.host import process, slurm
from tare.host.process import Completed


@pytest.fixture(autouse=True)
def job(monkeypatch: pytest.MonkeyPatch) -> None:
    """Job 7 on four nodes, as salloc and scontrol of Slurm 22.05 describe it."""
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    monkeypatch.setenv("SLURM_JOB_NODELIST", "n[1-4]")
    monkeypatch.setenv("SLURM_JOB_CPUS_PER_NODE", "2(x3),16")
    slurm._described.cache_clear()
    says(monkeypatch, 0, "n1\nn2\nn3\nn4\n")


def says(monkeypatch: pytest.MonkeyPatch, code: int, stdout: str, stderr: str = "") -> list[Sequence[str]]:
    """Slurm's commands all say this; returns their argv as they are called."""
    called: list[Sequence[str]] = []

    def run(argv: Sequence[str], **_: object) -> Completed:
        called.append(argv)
        return Completed(code=code, stdout=stdout, stderr=stderr)

    monkeypatch.setattr(process, "run", run)
    return called


def test_nodes_and_their_processors_are_known_in_order() -> None:
    own = slurm.allocation()
    assert (own.job, own.nodes) == ("7", ("n1", "n2", "n3", "n4"))
    assert own.processors == {"n1": 2, "n2": 2, "n3": 2, "n4": 16}


@pytest.mark.parametrize("text", ["", "2(x4),", "many", "2(x9)", "-1"])
def test_counts_that_are_none_are_not_guessed(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("SLURM_JOB_CPUS_PER_NODE", text)
    assert slurm.allocation().processors == {}


def test_outside_of_a_job_the_way_into_one_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SLURM_JOB_NODELIST")
    assert not slurm.is_allocated()
    with pytest.raises(HostError, match=r"run it by salloc or sbatch.*or name hosts in \[\[host\]\]"):
        slurm.allocation()


def test_what_scontrol_cannot_read_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    says(monkeypatch, 1, "", "scontrol: error: hostlist.c:1726 Invalid range: `n[4-1]': Invalid argument\n")
    with pytest.raises(HostError, match=r"cannot read the job's nodes 'n\[1-4\]': .*Invalid range"):
        slurm.allocation()


def test_a_missing_scontrol_names_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(argv: Sequence[str], **_: object) -> Completed:
        raise NodeError(f"the program {argv[0]!r} is not on this host")

    monkeypatch.setattr(process, "run", run)
    with pytest.raises(HostError, match=r"'scontrol' is not on this host; .*slurm-client"):
        slurm.allocation()


@pytest.mark.parametrize(
    ("code", "stdout", "stderr", "over"),
    [
        (0, "7|RUNNING\n", "", False),
        (0, "7|COMPLETING\n", "", True),
        (0, "8|PENDING\n7|RUNNING\n", "", False),
        (0, "8|PENDING\n7|NODE_FAIL\n", "", True),
        (0, "", "", True),
        (1, "", "slurm_load_jobs error: Invalid job id specified\n", True),
        (1, "", "slurm_load_jobs error: Unable to contact slurm controller (connect failure)\n", False),
    ],
)
def test_only_a_job_that_slurm_says_is_over_is_over(
    monkeypatch: pytest.MonkeyPatch, code: int, stdout: str, stderr: str, over: bool
) -> None:
    called = says(monkeypatch, code, stdout, stderr)
    assert slurm.is_over("7") is over
    assert called == [["squeue", "--noheader", "--array", "--jobs", "7", "--format=%A|%T"]]
