# SPDX-License-Identifier: Apache-2.0
"""This host's own mpirun over a campaign's hosts, for real: its daemons are beside the nodes, its ranks in them."""

import os
from pathlib import Path

import pytest
from tests.environments.loopback_sshd import Sshd

from tare.host.facts import online_processors
from tare.image.store import Image
from tare.measure.context import Context
from tare.measure.hosts import reach
from tare.measure.trial import run_trial
from tare.records import (
    Environment,
    Layout,
    Limits,
    MpiLauncher,
    NamedHost,
    Status,
    Trial,
    User,
    Workload,
)
from tare.units import MEBIBYTE

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="the nodes need root for mounts and cgroups"),
    pytest.mark.usefixtures("state"),
]


def test_ranks_of_this_hosts_mpirun_are_an_ordinary_user_in_their_nodes(
    image: Image, sshd: Sshd, far: Path, tmp_path: Path
) -> None:
    configuration = tmp_path / "ssh_config"
    configuration.write_text("Host one two\n  HostName 127.0.0.1\n")
    words = tuple(str(configuration) if word == "none" else word for word in sshd.options)
    hosts = [NamedHost(name=name, address=name, ssh_options=words, state=str(far)) for name in ("one", "two")]
    context = Context(
        image_root=image.root,
        image_digest=image.digest,
        raw_directory=tmp_path / "raw",
        available_processors=online_processors(),
        hosts=reach(hosts),
        subnet="127.0.0.0/8",
        user=User(65530, 65530),
        mpi_launcher=MpiLauncher.MPIRUN,
    )
    who = "cat /proc/sys/kernel/hostname; id -u; pwd"
    trial = Trial(
        identity="b000-t",
        block=0,
        slot=0,
        environment=Environment(name="bubblewrap", technology="bubblewrap"),
        replicate=0,
        layout=Layout.parse("4c1p1i on 2 scattered"),
        workload=Workload(name="w", kind="command", options={"argv": ["sh", "-c", who], "mpi": True}),
        limits=Limits(memory_byte=512 * MEBIBYTE, shm_byte=16 * MEBIBYTE, time_s=60.0),
        hosts=("one", "two"),
    )
    done = run_trial(context, trial)
    assert (done.status, done.reason) == (Status.OK, None)
    printed = (tmp_path / "raw" / "b000-t" / "i0.stdout").read_text().split()
    assert len({word for word in printed if word.startswith("tare-")}) == 4
    assert (printed.count("65530"), printed.count("/mnt/tare/i0")) == (4, 4)
    assert done.facts["mpi launcher"].startswith("mpirun: this host's, Open MPI 4.")
    assert list((far / "nodes").iterdir()) == []
