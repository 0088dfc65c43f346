# SPDX-License-Identifier: Apache-2.0
"""The tests' own Slurm is a real one."""

import pytest
from tests.slurm.cluster import UID, Cluster

pytestmark = pytest.mark.root


@pytest.mark.parametrize(("user", "uid"), [(False, 0), (True, UID)])
def test_a_job_of_root_and_of_a_user_runs_on_all_nodes(cluster: Cluster, user: bool, uid: int) -> None:
    done = cluster.run("srun", "-N4", "sh", "-c", "echo $(hostname) $(id -u)", user=user)
    assert sorted(done.stdout.splitlines()) == [f"{node} {uid}" for node in cluster.nodes], done.stderr
