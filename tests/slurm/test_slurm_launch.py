# SPDX-License-Identifier: Apache-2.0
"""srun starts MPI processes by PMIx in the nodes of an allocation, and they know of each other."""

import os
import sys
from pathlib import Path

import pytest
from tests.slurm.cluster import UID, Cluster

import tare
from tare.host.paths import images_directory
from tare.journal.reader import read_journal
from tare.records import Status

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="a cluster of namespaces needs root"),
]
CAMPAIGN = """
name = "pmix"
blocks = 1
seed = 7
layouts = ["{layout}"]
mpi_launcher = "srun"
{who}
hosts = {{ of = "slurm", state = "{home}/far-pmix" }}
[limits]
memory = "256 MiB"
shm = "16 MiB"
time = "100s"
[[environment]]
technology = "bubblewrap"
[[workload]]
kind = "npb"
name = "is"
benchmark = "is"
problem_class = "S"
"""


@pytest.mark.usefixtures("image")
@pytest.mark.parametrize(("user", "layout"), [(False, "2c1p1i on 2"), (True, "2c2p1i on 2")])
def test_srun_starts_ranks_by_pmix_natively_and_in_an_environment(
    cluster: Cluster, user: bool, layout: str
) -> None:
    """Root's are root's; a user's have the user's own number in the node, whoever may be root there."""
    home = cluster.folder / ("home/pmix" if user else "root")
    home.mkdir()
    if user:
        os.chown(home, UID, UID)
    who = "" if user else 'user = "root"'
    (home / "pmix.toml").write_text(CAMPAIGN.format(home=home, who=who, layout=layout))
    source = Path(tare.__file__).parents[1]
    if not user:
        (home / "state").mkdir()
        (home / "state" / "images").symlink_to(images_directory())
    variables = [f"TARE_STATE={home}/state", f"PYTHONPATH={source}", "PYTHONDONTWRITEBYTECODE=1"]
    program = ["env", "-C", str(home), *variables, sys.executable, "-P", "-m", "tare"]
    run = ["run", "pmix.toml", "--output", "pmix"]
    done = cluster.run("salloc", "-Q", "-N2", *program, *run, timeout_s=300, user=user)
    assert done.returncode == 0, done.stderr
    outcomes = read_journal(home / "pmix" / "journal").outcomes
    assert [(outcome.status, outcome.reason) for outcome in outcomes] == [(Status.OK, None)] * 3
    assert {outcome.facts["mpi launcher"].partition(":")[0] for outcome in outcomes} == {"srun --mpi=pmix"}
    within = "within a node: shared memory; " if user else ""
    paths = {outcome.facts["mpi paths"] for outcome in outcomes}
    assert paths == {f"{within}between hosts: TCP over 198.18.16.0/24"}
    assert list((home / "far-pmix" / "nodes").iterdir()) == []
