# SPDX-License-Identifier: Apache-2.0
"""As people run it: a measured command is confined exactly as what the bare tool starts, no less and no more."""

import os
import secrets
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.contract.bare_tools import BARE, confinement, credentials, make_root, payload, pid_of
from tests.contract.contract_nodes import Lent, execute

from tare.environments.provider import Node, NodeSpec, Provider
from tare.host.process import tool_environment

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root for mounts and cgroups"),
]


@contextmanager
def command(provider: Provider, node: Node) -> Iterator[int]:
    """The process id, on the host, of a command in a node."""
    words = ["sleep", f"{600 + secrets.randbelow(10**9) / 10**9:.9f}"]
    client = subprocess.Popen(
        [*provider.prefix(node), *words], stdin=subprocess.DEVNULL, env=tool_environment()
    )
    try:
        yield pid_of(*words)
    finally:
        client.kill()
        client.wait(timeout=30)


def test_a_measured_command_is_confined_as_the_payload_of_the_bare_tool(
    provider: Provider, spec: NodeSpec, lent: Lent, tmp_path: Path
) -> None:
    if provider.technology not in BARE:
        pytest.skip(f"{provider.technology}: no bare tool of this host starts a payload that the host sees")
    with lent.node(provider, spec) as node, command(provider, node) as pid:
        measured = confinement(pid)
    with payload(provider.technology, make_root(tmp_path / "root", spec.image_root)) as pid:
        bare = confinement(pid)
    assert measured == bare


def test_a_measured_command_is_confined_as_the_nodes_first_process(
    provider: Provider, spec: NodeSpec, lent: Lent
) -> None:
    """Also where the host sees neither: in a machine, and in a sandbox."""
    with lent.node(provider, spec) as node:
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
