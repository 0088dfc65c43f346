# SPDX-License-Identifier: Apache-2.0
"""Small nodes for the contract, and commands in them."""

import secrets
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tare.environments.provider import Node, NodeSpec, Provider
from tare.host.facts import online_processors
from tare.host.process import tool_environment
from tare.image.store import Image
from tare.measure.node_life import NodeTimes, running_nodes

MEBIBYTE = 1 << 20


def make_spec(provider: Provider, image: Image, state: Path, **changes: object) -> NodeSpec:
    name = f"tare-test-{secrets.token_hex(4)}"
    values: dict[str, object] = {
        "name": name,
        "technology": provider.technology,
        "options": {},
        "directory": state / "nodes" / name,
        "image_root": image.root,
        "image_digest": image.digest,
        "processors": (online_processors()[0],),
        "memory_byte": 200 * MEBIBYTE,
        "shm_byte": 16 * MEBIBYTE,
        "cpu_quota": 0.5,
    }
    return NodeSpec(**{**values, **changes})  # type: ignore[arg-type]


@contextmanager
def running(provider: Provider, *specs: NodeSpec) -> Iterator[list[Node]]:
    times = NodeTimes()
    with running_nodes(list(specs), {provider.technology: provider}, times) as nodes:
        yield nodes
    assert times.problems == []


def execute(
    provider: Provider, node: Node, *argv: str, given: bytes = b"", timeout_s: float = 60
) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(
        [*provider.prefix(node), *argv],
        input=given,
        capture_output=True,
        timeout=timeout_s,
        check=False,
        env=tool_environment(),
    )
