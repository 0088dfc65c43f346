# SPDX-License-Identifier: Apache-2.0
"""Whether one node reaches another: a ping, a TCP transfer and the other's name, tried with the image's programs."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypedDict

from tare.errors import NodeError
from tare.host import process
from tare.host.told import told
from tare.network.addresses import node_address
from tare.nodes.provider import Node, Provider
from tare.records import NetworkKind
from tare.units import MEBIBYTE
from tare.untrusted import figure

TRANSFER_BYTE = 8 * MEBIBYTE
_ALONE = "127.0.0.1"
_NO_SUCH_PROGRAM = 127
"""The exit code of env(1), in every technology."""
_STEP_S = 10
"""How long each program waits for a single step of the other, such as a connection."""
_LIMIT_S = 40.0
_PING = ("env", "ping", "-n", "-c", "3", "-i", "0.2", "-w", str(_STEP_S))
_ROUND_TRIP = re.compile(r"= ([\d.]+)/")
_NOT_PERMITTED = re.compile(r"not permitted|permission denied|SOCK_RAW", re.IGNORECASE)

_SERVER = """
import socket, sys
address, note, step_s = sys.argv[1:]
server = socket.create_server((address, 0))
server.settimeout(float(step_s))
with open(note, "w") as file:
    file.write(str(server.getsockname()[1]))
print("READY", flush=True)
peer, _ = server.accept()
peer.settimeout(float(step_s))
count = 0
while part := peer.recv(65536):
    count += len(part)
peer.sendall(str(count).encode())
"""
_CLIENT = """
import json, socket, sys, time
address, port, size, name, step_s = sys.argv[1:]
try:
    found = socket.gethostbyname(name)
except OSError:
    found = None
begun = time.monotonic()
with socket.create_connection((address, int(port)), timeout=float(step_s)) as server:
    server.sendall(bytes(int(size)))
    server.shutdown(socket.SHUT_WR)
    count = int(server.recv(64))
print(json.dumps({"byte": count, "s": time.monotonic() - begun, "named": found == address}))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkFinding:
    """What two real nodes of an environment could do over one kind of network."""

    kind: NetworkKind | None
    """``None``: of every kind."""
    usable: bool
    network: str = ""
    """What it turned out to be, such as ``default (the host's)``."""
    round_trip_s: float | None = None
    """The least of three pings; ``None`` if none came through: see ``reason`` or ``remarks``."""
    transferred_byte: int | None = None
    transfer_s: float | None = None
    remarks: tuple[str, ...] = ()
    reason: str = ""
    remedy: str = ""


TryNetwork = Callable[[Provider, NetworkKind], NetworkFinding]
"""Starts nodes of an environment on a kind of network, has them meet, and stops them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundTrip:
    """The results of traffic from one node to the other and back."""

    round_trip_s: float | None
    """The shortest of three pings; ``None``: see ``remarks``."""
    transferred_byte: int
    transfer_s: float
    remarks: tuple[str, ...] = ()
    """What failed although the transfer worked."""


class _Transfer(TypedDict):
    byte: int
    s: float
    named: bool


def try_reach(client: Node, server: Node, provider: Provider) -> RoundTrip:
    """Ping and transfer from ``client`` to ``server``, possibly the same node; ``NodeError`` says what failed."""
    address = node_address(server) or (_ALONE if client is server else None)
    if address is None:
        raise NodeError(f"{server.spec.name} has no IPv4 address; choose network = veth")
    round_trip_s, remark = _ping(client, address, provider)
    moved = _transfer(client, server, address, provider)
    remarks = [remark] if remark else []
    if client is not server and not moved["named"]:
        remarks.append("the other node's name is not resolved: address it by number")
    return RoundTrip(
        round_trip_s=round_trip_s,
        transferred_byte=moved["byte"],
        transfer_s=moved["s"],
        remarks=tuple(remarks),
    )


def _ping(client: Node, address: str, provider: Provider) -> tuple[float | None, str]:
    """The shortest round trip, or why there is none; ``NodeError`` when no answer comes."""
    done = process.run([*provider.prefix(client), *_PING, address], timeout_s=_LIMIT_S)
    if done.code == _NO_SUCH_PROGRAM:
        return None, "the node has no ping"
    if done.code != 0 and _NOT_PERMITTED.search(done.stderr):
        return None, "the node may not ping: raw sockets are refused there"
    return read_round_trip_s(done, address), ""


def read_round_trip_s(done: process.Completed, address: str) -> float:
    """The shortest time that ping(8) reports, from iputils or busybox."""
    match = _ROUND_TRIP.search(done.stdout)
    if done.code != 0 or match is None:
        raise NodeError(f"no ping to {address} is answered: {done.last_words}")
    try:
        return figure(match[1]) / 1000
    except ValueError as error:
        raise NodeError(f"what ping prints is not understood: {error}") from None


def _transfer(client: Node, server: Node, address: str, provider: Provider) -> _Transfer:
    """The bytes that arrived, the seconds they took, and whether the server's name led to the same address."""
    note = "transfer-port"
    serve = [*_python(server, provider, _SERVER), address, f"{server.work_directory}/{note}", str(_STEP_S)]
    try:
        waiting = process.start_idle(serve, log=server.spec.directory / "transfer.log")
    except NodeError as error:
        raise NodeError(
            f"no TCP server starts in {server.spec.name}: {error}; has the image python3?"
        ) from error
    try:
        provider.fetch(server, [note])
        port = (server.spec.work / note).read_text()
        name = server.spec.name
        ask = [*_python(client, provider, _CLIENT), address, port, str(TRANSFER_BYTE), name, str(_STEP_S)]
        return read_transfer(process.run(ask, timeout_s=_LIMIT_S), address)
    finally:
        process.kill_idle(waiting)


def _python(node: Node, provider: Provider, program: str) -> list[str]:
    return [*provider.prefix(node), "python3", "-c", program]


def read_transfer(done: process.Completed, address: str) -> _Transfer:
    """The client's output; ``NodeError`` if it failed or not all bytes arrived."""
    if done.code != 0:
        raise NodeError(f"no TCP transfer to {address}: {done.last_words}")
    try:
        moved = told(_Transfer, done.stdout, "the node's transfer")
    except NodeError as error:
        raise NodeError(f"no TCP transfer to {address}: {done.last_words} ({error})") from None
    if moved["byte"] != TRANSFER_BYTE:
        raise NodeError(f"no TCP transfer to {address}: {moved['byte']} of {TRANSFER_BYTE} bytes arrived")
    return moved
