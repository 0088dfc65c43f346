# SPDX-License-Identifier: Apache-2.0
"""As people run it: a measured command is confined exactly as what the bare tool starts, no less and no more."""

import os
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest
from tests.contract.bare_tools import BARE, confinement, credentials, make_root, payload, pid_of
from tests.contract.contract_nodes import Lent, execute
from tests.contract.reach import ORDINARY, marked_host, reached
from tests.environments.environment_example import way_to_stopwatch

from tare import network
from tare.host.cgroups import group_of
from tare.measure.instances import output_owner
from tare.measure.stopwatch import Command, Stopwatch
from tare.nodes.files import make_folder
from tare.nodes.provider import Node, NodeSpec, Provider, Shared
from tare.records import NATIVE, NetworkKind

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root for mounts and cgroups"),
]

HELPERS = {
    "init",
    "stopwatch",
    "enter",
    "systemd-nspawn",
    "(sd-stubinit)",
    "bwrap",
    "starter",
    "lxc-start",
    "lxc-attach",
    "sarus",
    "runc",
}
SEEING, HOSTS_NETWORK = "seeing the host's processes", "the host's network"
"""What the probe says of a command that may look, where a technology shares that, and opens nothing."""


@contextmanager
def command(provider: Provider, node: Node) -> Iterator[int]:
    """The process id, on the host, of a command that a stopwatch started in a node."""
    words = ("sleep", f"{600 + secrets.randbelow(10**9) / 10**9:.9f}")
    folder = f"out-{secrets.token_hex(4)}"
    make_folder(node.spec.work / folder, output_owner(node))
    provider.send(node, [folder])
    wanted = Command(argv=words, directory="/", variables={"PATH": "/usr/bin"}, limit_s=60.0, user=node.user)
    with Stopwatch(way_to_stopwatch(provider, node, wanted, f"{node.work_directory}/{folder}")) as stopwatch:
        stopwatch.wait_ready(60.0)
        stopwatch.go()
        yield pid_of(*words)


def roots_in(node: Node) -> list[str]:
    """The names of root's processes in the node's control group, but for the technology's and Tare's own."""
    assert node.init_pid is not None
    collected = []
    for pid in group_of(node.init_pid).processes():
        with suppress(OSError):
            if Path(f"/proc/{pid}").stat().st_uid == 0:
                collected.append(Path(f"/proc/{pid}/comm").read_text().strip())
    return [name for name in collected if name not in HELPERS]


@pytest.fixture
def spec(spec: NodeSpec) -> NodeSpec:
    return replace(spec, user=ORDINARY)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """That every user may enter, unlike those of pytest."""
    with tempfile.TemporaryDirectory(prefix="tare-bare-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def test_a_measured_command_is_confined_as_the_payload_of_the_bare_tool(
    provider: Provider, spec: NodeSpec, lent: Lent, open_folder: Path
) -> None:
    if provider.technology not in BARE:
        pytest.skip(f"{provider.technology}: no bare tool of this host starts a payload that the host sees")
    if getattr(provider, "options", {}).get("mode") == "R1":
        pytest.skip("udocker's R1 has a user namespace, in which a command is root and has its capabilities")
    with lent.node(provider, spec) as node, command(provider, node) as pid:
        measured = confinement(pid)
        roots = roots_in(node)
    with payload(provider.technology, make_root(open_folder / "root", spec.image_root), ORDINARY) as pid:
        bare = confinement(pid)
    assert measured == bare
    assert measured["Uid"] == "\t".join([str(ORDINARY.uid)] * 4)
    assert measured["CapEff"] == "0" * 16
    assert roots == []


def test_an_ordinary_command_reaches_nothing_of_the_host(
    provider: Provider, spec: NodeSpec, lent: Lent, open_folder: Path
) -> None:
    """Neither as it is, nor as the root of a user namespace of its own; see docs/security.md."""
    if NetworkKind.NONE in provider.networks:
        (alone,) = network.plan_networks(NetworkKind.NONE, [spec.directory], None)
        spec = replace(spec, network=alone)
    with marked_host(open_folder) as host, lent.node(provider, spec) as node:
        result = set(reached(provider, node, host, node.user))
        if provider.technology == NATIVE:
            assert len(reached(provider, node, host, None)) > 5  # the probe is not blind
    seen = {SEEING} if Shared.PROCESS_IDS in provider.shares else set()
    assert result == seen | ({HOSTS_NETWORK} if provider.technology == NATIVE else set())


def test_a_measured_command_is_confined_as_the_nodes_first_process(
    provider: Provider, spec: NodeSpec, lent: Lent
) -> None:
    """As root, also where the host sees neither: in a machine, and in a sandbox."""
    with lent.node(provider, replace(spec, user=None)) as node:
        if node.own_kernel:
            texts = [
                execute(provider, node, "cat", f"/proc/{who}/status").stdout.decode() for who in ("self", 1)
            ]
            measured, first = map(credentials, texts)
            assert set(measured) >= {"CapEff", "CapBnd", "Uid"}
        else:
            assert node.init_pid is not None
            with command(provider, node) as pid:
                measured, first = (
                    credentials(Path(f"/proc/{who}/status").read_text()) for who in (pid, node.init_pid)
                )
    assert measured == first
