# SPDX-License-Identifier: Apache-2.0
"""Networks without nodes: namespaces that are made, looked into from threads of the test's own, and let go."""

import os
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

import pytest

from tare import network
from tare.host import network_namespace as namespace
from tare.nodes.provider import NodeSpec
from tare.records import NetworkKind

AS_ROOT = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root for network namespaces"),
]
LINKED = [NetworkKind.VETH, NetworkKind.MACVLAN]
GONE = int(Path("/proc/sys/kernel/pid_max").read_text())
"""A process id that no process has."""
Value = TypeVar("Value")


def specs_of(
    folder: Path, kind: NetworkKind, count: int = 2, rto_min_s: float | None = None
) -> list[NodeSpec]:
    """Nodes to connect, each with its folder, as ``write_down`` leaves it."""
    directories = [folder / f"tare-test-{number}" for number in range(count)]
    for directory in directories:
        directory.mkdir(parents=True, exist_ok=True)
    plans = network.plan_networks(kind, directories, rto_min_s)
    return [
        NodeSpec(
            name=directory.name,
            technology="fake",
            options={},
            directory=directory,
            image_root=Path("/nowhere"),
            image_digest="sha256:0",
            processors=(0,),
            memory_byte=1,
            shm_byte=1,
            cpu_quota=None,
            network=plan,
        )
        for directory, plan in zip(directories, plans, strict=True)
    ]


@contextmanager
def connected(specs: Sequence[NodeSpec]) -> Iterator[None]:
    """These nodes' networks, gone afterwards whatever happens."""
    try:
        for spec in specs:
            network.create(spec)
        yield
    finally:
        for spec in specs:
            network.remove(spec)


def within(path: Path | None, look: Callable[[], Value]) -> Value:
    """What is seen from inside the namespace that a file holds."""
    assert path is not None
    seen: list[Value] = []
    namespace.inside(path, lambda: seen.append(look()))
    return seen[0]


def links(path: Path | None) -> set[str]:
    return within(path, lambda: {name for _, name in socket.if_nameindex()})


def transfer(client: Path | None, server: Path | None, address: str) -> bytes:
    """What a connection from one namespace to an address in another brings; ``OSError`` if none arrives."""
    with within(server, lambda: socket.create_server((address, 0))) as listening:
        # A connection that fails in a certain moment looks made to its own end (Linux, tcp_done before sk_err).
        listening.settimeout(10)
        target = listening.getsockname()
        with within(client, lambda: socket.create_connection(target, timeout=10)) as sending:
            accepted, _ = listening.accept()
            with accepted:
                sending.sendall(b"hello")
                return accepted.recv(5)


def identities(specs: Sequence[NodeSpec]) -> set[int]:
    """The inode numbers of the namespaces that these nodes' files hold."""
    files = [spec.directory / name for spec in specs for name in ("network", "switch")]
    return {file.stat().st_ino for file in files if file.exists()}


def holders(numbers: set[int]) -> list[str]:
    """Processes and mounts, in whatever mount namespace, that keep one of these network namespaces.

    After its end the kernel gives a namespace's number to another one, such as another test's: see ``let_go``.
    """
    collected = []
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if (entry / "ns" / "net").stat().st_ino in numbers:
                collected.append(f"process {entry.name}")
        with suppress(OSError):
            lines = (entry / "mountinfo").read_text().splitlines()
            held = [line for line in lines if any(f"net:[{number}]" in line for number in numbers)]
            collected += [f"mount of {entry.name}: {line}" for line in held]
    return collected


def let_go(held: Iterable[str], numbers: set[int]) -> bool:
    """Whether nothing that held the namespaces while they were in use holds them any longer, or soon."""
    return gone_soon(lambda: set(held) & set(holders(numbers)))


def gone_soon(still_there: Callable[[], object], limit_s: float = 10.0) -> bool:
    """The kernel takes namespaces apart a little after their end."""
    deadline = time.monotonic() + limit_s
    while still_there() and time.monotonic() < deadline:
        time.sleep(0.02)
    return not still_there()
