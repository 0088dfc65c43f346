# SPDX-License-Identifier: Apache-2.0
"""An ordinary user's campaign in an allocation: MPI over two nodes, natively and in an environment, without root."""

import os
import sys
from pathlib import Path

import pytest
from tests.slurm.cluster import Cluster

from tare.journal.reader import read_journal
from tare.records import Status

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="a cluster of namespaces needs root"),
]
CAMPAIGN = """
name = "mine"
blocks = 1
seed = 7
layouts = ["2c1p1i on 2"]
hosts = {{ of = "slurm", state = "{home}/far" }}
[limits]
memory = "256 MiB"
shm = "4 MiB"
time = "60s"
[[environment]]
technology = "bubblewrap"
[[workload]]
kind = "command"
name = "work"
argv = ["hostname"]
mpi = true
"""


@pytest.mark.usefixtures("image")
def test_a_users_campaign_runs_over_the_nodes_of_the_allocation(cluster: Cluster) -> None:
    home = cluster.folder / "home"
    (home / "campaign.toml").write_text(CAMPAIGN.format(home=home))
    variables = [f"TARE_STATE={home}/state", "PYTHONDONTWRITEBYTECODE=1"]
    tare = ["env", "-C", str(home), *variables, sys.executable, "-P", "-m", "tare"]
    run = ["run", "campaign.toml", "--output", "result"]
    done = cluster.run("salloc", "-Q", "-N2", *tare, *run, user=True, timeout_s=240)
    assert done.returncode == 0, done.stderr
    journal = read_journal(home / "result" / "journal")
    assert [outcome.status for outcome in journal.outcomes] == [Status.OK] * 3
    assert {frozenset(outcome.real_hosts) for outcome in journal.outcomes} == {frozenset({"n1", "n2"})}
    assert {len(outcome.host_times_s) for outcome in journal.outcomes} == {0, 2}
    assert {outcome.cpu_s for outcome in journal.outcomes} == {
        None
    }  # no group counts it, and mpirun's own is not it
    names = {name: facts["Slurm node"] for name, facts in journal.sessions[0].hosts.items()}
    assert names == {"slurm-1": "n1", "slurm-2": "n2"}
    assert list((home / "far" / "nodes").iterdir()) == []
    assert journal.sessions[0].carried == {}  # every node has it at the same place
    assert list((home / "far").glob("images/carried-*/rootfs")) == []


def test_outside_of_an_allocation_the_way_into_one_is_said(cluster: Cluster, tmp_path: Path) -> None:
    """Nothing runs."""
    (tmp_path / "campaign.toml").write_text(CAMPAIGN.format(home=tmp_path))
    tare = ["env", f"TARE_STATE={tmp_path}/state", sys.executable, "-P", "-m", "tare"]
    done = cluster.run(*tare, "run", str(tmp_path / "campaign.toml"), "--output", str(tmp_path / "result"))
    assert done.returncode == 3
    assert "salloc -N4 --exclusive tare run CAMPAIGN" in done.stderr
    assert not (tmp_path / "result").exists()
