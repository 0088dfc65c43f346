# SPDX-License-Identifier: Apache-2.0
"""An ordinary user's image on nodes of an allocation that share no file system: from node to node by srun's steps."""

import json
import os
import sys
from pathlib import Path

import pytest
from tests.slurm.cluster import UID, Cluster

import tare

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="a cluster of namespaces needs root"),
]
PROGRAM = """
import json, pathlib, sys
from tare.environments.ssh.carrying import carry
from tare.environments.ssh.connection import Far
from tare.environments.ssh.shared import opened
from tare.image.digest import digest, list_tree
from tare.measure.hosts import connected, far_of
from tare.measure.ready import carrying
from tare.records import NamedHost

home = pathlib.Path(sys.argv[1])
root = home / "root"
whole = digest(list_tree(root, single_owner=True))
hosts = [NamedHost(name=f"h{number}", slurm=number, state=f"{home}/on-{number}") for number in range(3)]
with connected(hosts), carrying(hosts, None, whole) as spread:
    for host in hosts:
        with opened(far_of(host)) as channel:
            carry(far_of(host), channel, root, whole)
print(json.dumps({name: way.source for name, way in spread.carried.items()}))
print(json.dumps([*spread.remarks, spread.subnet]))
copies = home.glob("on-*/images/carried-*/rootfs")
print(json.dumps([digest(list_tree(copy, single_owner=True)) == whole for copy in copies]))
"""


def test_nodes_of_a_job_pass_a_users_image_on(cluster: Cluster) -> None:
    home = cluster.folder / "home" / "passing"
    (home / "root").mkdir(parents=True)
    (home / "root" / "file").write_bytes(bytes(1 << 20))
    for path in (home, home / "root", home / "root" / "file"):
        os.chown(path, UID, UID)
    (home / "program.py").write_text(PROGRAM)
    source = Path(tare.__file__).parents[1]
    variables = [f"PYTHONPATH={source}", f"TARE_STATE={home}/state", "PYTHONDONTWRITEBYTECODE=1"]
    program = ["env", *variables, sys.executable, "-P", f"{home}/program.py", str(home)]
    done = cluster.run("salloc", "-Q", "-N3", *program, user=True, timeout_s=120)
    assert done.returncode == 0, done.stderr
    sources, remarks, whole = map(json.loads, done.stdout.splitlines())
    assert (sources["h0"], sources["h1"]) == (None, "h0")
    assert sources["h2"] in {"h0", "h1"}
    assert remarks == ["198.18.16.0/24"]
    assert whole == [True, True, True]
