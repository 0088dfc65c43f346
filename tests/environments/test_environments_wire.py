# SPDX-License-Identifier: Apache-2.0
"""A job over two hosts whose nodes have links of their own, for real: a namespace and an sshd for each host."""

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.environments.loopback_sshd import Sshd, running_sshd
from tests.network.namespaces import links, within
from tests.network.wires import RUNNER, SUBNET, WiredHost, wired

from tare.environments.ssh.carrying import carry
from tare.environments.ssh.shared import opened
from tare.host.facts import online_processors
from tare.image.digest import digest, list_tree
from tare.image.store import Image
from tare.measure.context import Context
from tare.measure.hosts import connected, far_of, reach
from tare.measure.ready import carrying
from tare.measure.trial import run_trial
from tare.records import (
    Carried,
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


@pytest.fixture
def wire(sshd: Sshd, tmp_path: Path) -> Iterator[tuple[dict[str, WiredHost], dict[str, Sshd]]]:
    """The loopback's sshd is there for its image, which is on both hosts: they share a file system."""
    assert sshd.folder.exists()
    with wired(tmp_path / "hosts", "left", "right") as hosts, ExitStack() as stack:
        yield (
            hosts,
            {
                name: stack.enter_context(
                    running_sshd(tmp_path / name, address=host.address, namespace=host.namespace)
                )
                for name, host in hosts.items()
                if name != RUNNER
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
    return run_trial(
        context,
        Trial(
            identity="b000-t",
            block=0,
            slot=0,
            environment=Environment(
                name="any", technology="bubblewrap", network=NetworkKind.VETH, rto_min_s=0.002
            ),
            replicate=0,
            layout=Layout.parse("2c1p1i on 2"),
            workload=Workload(
                name="w", kind="command", options={"argv": ["/opt/tare/bin/mpiprobe"], "mpi": True}
            ),
            limits=Limits(memory_byte=512 * MEBIBYTE, shm_byte=16 * MEBIBYTE, time_s=60.0),
            hosts=tuple(host.name for host in hosts),
        ),
    )


def test_messages_of_a_job_take_the_nodes_own_links_between_the_hosts(
    image: Image, wire: tuple[dict[str, WiredHost], dict[str, Sshd]], far: Path, tmp_path: Path
) -> None:
    hosts, sshds = wire
    named = [
        NamedHost(name=name, address=sshd.address, ssh_options=tuple(sshd.options), state=str(far))
        for name, sshd in sshds.items()
    ]
    done = within(hosts[RUNNER].namespace, lambda: outcome(image, named, tmp_path / "raw"))
    assert (done.status, done.reason) == (Status.OK, None)
    addresses = [part.split("/")[0].removeprefix("veth, ") for part in done.facts["network"].split(" | ")]
    assert all(address.startswith("198.19.") for address in addresses)
    assert done.facts["mpi transport"] == f"TCP ({', '.join(sorted(addresses))})"
    assert done.facts["network"].endswith("/16, rto_min 2 ms")
    assert done.facts["way to the wire"] == "bridge, routed to a macvlan on eth0"
    assert all(links(host.namespace) == {"lo", "eth0"} for host in hosts.values())
    assert list((far / "nodes").iterdir()) == []


def test_an_image_goes_from_host_to_host_over_the_wire(
    wire: tuple[dict[str, WiredHost], dict[str, Sshd]], tmp_path: Path
) -> None:
    """Each port is open on its host's own address there alone, and only until it was used."""
    hosts, sshds = wire
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "file").write_bytes(os.urandom(1 << 20))
    whole = digest(list_tree(tmp_path / "root"))
    named = [
        NamedHost(
            name=name,
            address=sshd.address,
            ssh_options=tuple(sshd.options),
            state=str(tmp_path / f"on-{name}"),
        )
        for name, sshd in sshds.items()
    ]

    def carried() -> Mapping[str, Carried]:
        with connected(named), carrying(named, SUBNET, whole) as spread:
            for host in named:
                with opened(far_of(host)) as channel:
                    carry(far_of(host), channel, tmp_path / "root", whole)
            assert spread.remarks == []
            assert listening(hosts["left"]) == listening(hosts["right"])
        return spread.carried

    ways = within(hosts[RUNNER].namespace, carried)
    assert {name: way.source for name, way in ways.items()} == {"left": None, "right": "left"}
    roots = list(tmp_path.glob("on-*/images/carried-*/rootfs"))
    assert [digest(list_tree(root)) for root in roots] == [whole, whole]


def listening(host: WiredHost) -> int:
    """How many TCP ports are open there, sshd's among them (proc_pid_net(5))."""
    sockets = within(host.namespace, Path("/proc/thread-self/net/tcp").read_text).splitlines()[1:]
    return sum(line.split()[3] == "0A" for line in sockets)
