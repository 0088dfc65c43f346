# SPDX-License-Identifier: Apache-2.0
"""Small nodes for the contract, and commands in them."""

import os
import secrets
import shutil
import stat
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Self

from tare.host.facts import online_processors
from tare.host.process import tool_environment
from tare.image.store import Image
from tare.measure.running import NodeTimes, running_nodes
from tare.nodes.devices import Device, find_devices
from tare.nodes.provider import Node, NodeSpec, Provider

MEBIBYTE = 1 << 20
MACHINE_MEBIBYTE = 256
"""What a machine needs so that its kernel leaves as much as other nodes have."""


def make_spec(provider: Provider, image: Image, state: Path, **changes: object) -> NodeSpec:
    name = f"tare-test-{secrets.token_hex(4)}"
    values: dict[str, object] = {
        "name": name,
        "technology": provider.technology,
        "options": getattr(provider, "options", {}),
        "directory": state / "nodes" / name,
        "image_root": image.root,
        "image_digest": image.digest,
        "processors": (online_processors()[-1 if provider.takes_tap else 0],),  # tested beside each other
        "memory_byte": (MACHINE_MEBIBYTE if provider.takes_tap else 200) * MEBIBYTE,
        "shm_byte": 16 * MEBIBYTE,
        "cpu_quota": None if provider.takes_tap else 0.5,  # a machine boots by software emulation
    }
    return NodeSpec(**{**values, **changes})  # type: ignore[arg-type]


def has_emulated_devices(provider: Provider) -> bool:
    """Whether a node is reached over a serial line, 100 kB/s, and shares no folder."""
    return bool(getattr(provider, "options", {}).get("devices") == "emulated")


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


@contextmanager
def made_devices() -> Iterator[Path]:
    """A folder below /dev with nodes that no technology has by itself: the last one, rules of control groups forbid.

    An ordinary user cannot make any, and has those in the folder ``$DEVICES``.
    """
    if given := os.environ.get("DEVICES"):
        yield Path(given)
        return
    folder = Path(f"/dev/tare-test-{secrets.token_hex(4)}")
    folder.mkdir()
    try:
        for name, numbers in {"zero": (1, 5), "fuse": (10, 229)}.items():
            os.mknod(folder / name, stat.S_IFCHR, os.makedev(*numbers))
            (folder / name).chmod(0o666)
        yield folder
    finally:
        shutil.rmtree(folder)


def devices_in(folder: Path) -> tuple[Device, ...]:
    return tuple(find_devices(str(folder / name))[0] for name in ("zero", "fuse"))


class Lent:
    """Nodes for tests that leave them as they were. Only a machine serves the next one too."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._machines: dict[str, Node] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @contextmanager
    def node(self, provider: Provider, spec: NodeSpec) -> Iterator[Node]:
        if not provider.takes_tap:
            with running(provider, spec) as (node,):
                yield node
            return
        key = f"{spec.technology} {sorted(spec.options)}"
        if key not in self._machines:
            (self._machines[key],) = self._stack.enter_context(running(provider, spec))
        yield self._machines[key]
