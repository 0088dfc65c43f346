# SPDX-License-Identifier: Apache-2.0
"""Nodes on a host that is reached over the loopback."""

import secrets
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.environments.environment_example import MEBIBYTE, described

from tare.environments import PROVIDERS
from tare.host import process
from tare.host.cgroups import named_groups
from tare.host.facts import online_processors
from tare.host.mounts import mounts_below
from tare.image.store import Image
from tare.measure.running import NodeTimes, running_nodes
from tare.nodes.provider import Node, NodeNetwork, NodeSpec
from tare.records import OptionValue

PROVIDER = PROVIDERS["ssh"]


def far_spec(options: Mapping[str, OptionValue], image: Image, state: Path, **changes: Any) -> NodeSpec:
    directory = state / "nodes" / f"tare-test-{secrets.token_hex(4)}"
    values = {
        "name": directory.name,
        "technology": "ssh",
        "options": options,
        "image_root": image.root,
        "image_digest": image.digest,
        "processors": (online_processors()[-1],),
        "memory_byte": 200 * MEBIBYTE,
        "cpu_quota": 0.5,
        "network": NodeNetwork(namespace=directory / "network"),
    }
    return described(directory, **{**values, **changes})


def leftovers(far: Path, name: str) -> Sequence[Path]:
    return [
        *mounts_below(far / "nodes" / name),
        *(far / "nodes").glob(name),
        *(path for path in named_groups(f"tare/{name}").directories if path.exists()),
    ]


def wait_until_gone(far: Path, name: str, limit_s: float = 20) -> None:
    deadline = time.monotonic() + limit_s
    while (left := leftovers(far, name)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert left == []


@contextmanager
def running(*specs: NodeSpec) -> Iterator[list[Node]]:
    times = NodeTimes()
    with running_nodes(list(specs), PROVIDERS, times) as nodes:
        yield nodes
    assert times.problems == []


def inside(node: Node, *argv: str, given: bytes = b"") -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(
        [*PROVIDER.prefix(node), *argv],
        input=given,
        capture_output=True,
        timeout=60,
        check=False,
        env=process.tool_environment(),
    )


def own_connections() -> list[int]:
    """Process ids of every ssh that this process has started (proc_pid_task(5), children)."""
    files = Path("/proc/self/task").glob("*/children")
    children = [int(pid) for file in files for pid in file.read_text().split()]
    return [pid for pid in children if Path(f"/proc/{pid}/comm").read_text() == "ssh\n"]
