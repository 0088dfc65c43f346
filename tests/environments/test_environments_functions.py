# SPDX-License-Identifier: Apache-2.0
"""A job over two hosts whose nodes have virtual functions: links of a wire in their place, all else for real."""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.environments.loopback_sshd import Sshd, running_sshd
from tests.network.namespaces import links, within
from tests.network.wires import RUNNER, SUBNET, WiredHost, wired

from tare.host.facts import online_processors
from tare.image.store import Image
from tare.measure.context import Context
from tare.measure.hosts import reach
from tare.measure.trial import run_trial
from tare.network import functions
from tare.records import (
    Environment,
    Layout,
    Limits,
    NamedHost,
    NetworkKind,
    Outcome,
    Status,
    Trial,
    Workload,
)
from tare.units import MEBIBYTE

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="the nodes need root for mounts and networks"),
    pytest.mark.usefixtures("state"),
]
SHOW = ("unshare", "--mount", "--propagation", "private", "sh", "-e", "-c")
SYS = 'mount --bind "$1" /sys/class/net; shift; exec "$@"'
"""For sh: show the written functions in the place of the kernel's."""


@pytest.fixture
def hosts(
    sshd: Sshd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[dict[str, WiredHost], dict[str, Sshd]]]:
    """Each host has one function; the loopback's sshd is there for its image, which is on all of them."""
    assert sshd.folder.exists()
    net = tmp_path / "sys-net"
    (net / "eth0/device/virtfn0/net/vf0").mkdir(parents=True)
    monkeypatch.setattr(functions, "_NET", net)
    with wired(tmp_path / "hosts", "left", "right") as made, ExitStack() as stack:
        wire = WiredHost("wire", tmp_path / "hosts/wire", "")
        for name, host in made.items():
            peer = ("type", "veth", "peer", "name", "vf0", "netns", str(host.namespace))
            wire.ip("link", "add", f"{name}0", "master", "wire", "up", *peer)
        far = {name: host for name, host in made.items() if name != RUNNER}
        yield (
            made,
            {
                name: stack.enter_context(
                    running_sshd(
                        tmp_path / name,
                        address=host.address,
                        namespace=host.namespace,
                        before=(*SHOW, SYS, "sh", str(net)),
                    )
                )
                for name, host in far.items()
            },
        )


def outcome(image: Image, hosts: list[NamedHost], raw: Path) -> Outcome:
    context = Context(
        image_root=image.root,
        image_digest=image.digest,
        raw_directory=raw,
        available_processors=online_processors(),
        hosts=reach(hosts),
        subnet=SUBNET,
    )
    trial = Trial(
        identity="b000-t",
        block=0,
        slot=0,
        environment=Environment(name="any", technology="bubblewrap", network=NetworkKind.SRIOV),
        replicate=0,
        layout=Layout.parse("2c1p1i on 2"),
        workload=Workload(
            name="w", kind="command", options={"argv": ["/opt/tare/bin/mpiprobe"], "mpi": True}
        ),
        limits=Limits(memory_byte=512 * MEBIBYTE, shm_byte=16 * MEBIBYTE, time_s=60.0),
        hosts=tuple(host.name for host in hosts),
    )
    return run_trial(context, trial)


def test_messages_take_the_nodes_functions_and_every_host_has_its_own_back(
    image: Image, hosts: tuple[dict[str, WiredHost], dict[str, Sshd]], far: Path, tmp_path: Path
) -> None:
    made, sshds = hosts
    named = [
        NamedHost(name=name, address=sshd.address, ssh_options=tuple(sshd.options), state=str(far))
        for name, sshd in sshds.items()
    ]
    done = within(made[RUNNER].namespace, lambda: outcome(image, named, tmp_path / "raw"))
    assert (done.status, done.reason) == (Status.OK, None)
    addresses = [part.removeprefix("sriov, ").split("/")[0] for part in done.facts["network"].split(" | ")]
    assert done.facts["mpi transport"] == f"TCP ({', '.join(sorted(addresses))})"
    assert done.facts["way to the wire"] == "virtual function of eth0"
    for host in made.values():
        assert links(host.namespace) == {"lo", "eth0", "vf0"}
    assert list((far / "nodes").iterdir()) == []
