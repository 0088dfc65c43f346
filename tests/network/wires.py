# SPDX-License-Identifier: Apache-2.0
"""Hosts on a wire: a network namespace for each, and for the bridge that joins them."""

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from tests.network.namespaces import specs_of, within

from tare import network
from tare.host import mounts
from tare.host import network_namespace as namespace
from tare.network import Between
from tare.nodes.provider import NodeSpec
from tare.records import NetworkKind

SUBNET = "198.18.240.0/24"
RUNNER = "runner"


@dataclass(frozen=True)
class WiredHost:
    """A host that has the wire as ``eth0``."""

    name: str
    namespace: Path
    address: str

    def ip(self, *words: str) -> str:
        argv = ["nsenter", f"--net={self.namespace}", "ip", *words]
        return subprocess.run(argv, check=True, capture_output=True, text=True, timeout=20).stdout


@contextmanager
def wired(folder: Path, *names: str) -> Iterator[dict[str, WiredHost]]:
    """The hosts, and the runner's; nothing of them stays."""
    hosts = {
        name: WiredHost(name, folder / name, f"198.18.240.{number}")
        for number, name in enumerate((RUNNER, *names), 1)
    }
    folder.mkdir()
    wire = WiredHost("wire", folder / "wire", "")
    with ExitStack() as stack:
        for each in (wire, *hosts.values()):
            stack.callback(_unmake, each.namespace)
            namespace.make(each.namespace)
        wire.ip("link", "add", "wire", "up", "type", "bridge", "forward_delay", "0")
        for number, host in enumerate(hosts.values()):
            _join(wire, host, f"port{number}")
        yield hosts


def _join(wire: WiredHost, host: WiredHost, port: str) -> None:
    pair = ("type", "veth", "peer", "name", "eth0", "netns", str(host.namespace))
    wire.ip("link", "add", port, "master", "wire", "up", *pair)
    host.ip("link", "set", "eth0", "up")
    host.ip("address", "add", f"{host.address}/24", "dev", "eth0")


def bridge(host: WiredHost) -> None:
    """Give the host a bridge with its wire in it, as people do by hand."""
    host.ip("link", "add", "br0", "up", "type", "bridge", "forward_delay", "0")
    host.ip("address", "flush", "dev", "eth0")
    host.ip("link", "set", "eth0", "master", "br0")
    host.ip("address", "add", f"{host.address}/24", "dev", "br0")


def _unmake(path: Path) -> None:
    with suppress(OSError):
        mounts.unmount(path)


def between(hosts: dict[str, WiredHost]) -> Between:
    return Between(
        subnet=SUBNET,
        own=hosts[RUNNER].address,
        addresses={name: host.address for name, host in hosts.items() if name != RUNNER},
    )


def specs_on(
    folder: Path, kind: NetworkKind, places: Sequence[str], between: Between, rto_min_s: float | None = None
) -> list[NodeSpec]:
    """A node on each of the places, all in one folder: here the hosts share a file system."""
    plain = specs_of(folder, NetworkKind.NONE, len(places))
    plans = network.plan_wire(kind, [spec.directory for spec in plain], places, between, rto_min_s)
    return [replace(spec, network=plan) for spec, plan in zip(plain, plans, strict=True)]


@contextmanager
def linked(hosts: Sequence[WiredHost], specs: Sequence[NodeSpec]) -> Iterator[None]:
    """Each node's link made on its host, and removed there."""
    try:
        for host, spec in zip(hosts, specs, strict=True):
            within(host.namespace, partial(network.create, spec))
        yield
    finally:
        for host, spec in zip(reversed(hosts), reversed(specs), strict=True):
            within(host.namespace, partial(network.give_back, spec))
            within(host.namespace, partial(network.remove, spec))
