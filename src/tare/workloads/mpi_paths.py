# SPDX-License-Identifier: Apache-2.0
"""What carried an MPI job's messages between each two of its processes, from Open MPI's own report, by pairs of hosts.

Each process names itself by "Using self btl", then the transport to each other process that it sends to, and for TCP
the other's address. Open MPI numbers the processes node by node.
"""

import ipaddress
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tare.records import DIFFERENT_PATHS

Networks = Sequence[ipaddress.IPv4Network]
WITHIN, BETWEEN_NODES, BETWEEN_HOSTS = "within a node", "between nodes of a host", "between hosts"
TRANSPORTS: Mapping[str, str] = {"vader": "shared memory", "sm": "shared memory", "tcp": "TCP"}
"""Open MPI's name → ours."""
_SPEAKER, _PEER = r"^\[([^\]\n]*)\]", r"\[\[\d+,\d+\],(\d+)\]"
_USED = re.compile(rf"{_SPEAKER} mca: bml: Using (\w+) btl for send to {_PEER} on node ", re.MULTILINE)
_CONNECTED = re.compile(
    rf"{_SPEAKER} btl:\s?tcp: (?:now connected to ([0-9.]+), process {_PEER}"
    rf"|attempting to connect\(\) to {_PEER} address ([0-9.]+) on port )",
    re.MULTILINE,
)
_Pair = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MpiPlace:
    """Where a process is."""

    node: str
    host: str


def paths(stderr: str, places: Sequence[MpiPlace], networks: Networks) -> dict[_Pair, str]:
    """Two hosts, or ``WITHIN`` or ``BETWEEN_NODES`` → what carried messages there.

    ``places`` are the nodes in order. Empty where it was not reported, or by a number of processes that the nodes
    cannot share equally.
    """
    used = _USED.findall(stderr)
    own: dict[str, set[int]] = {}
    for speaker, name, rank in used:
        if name == "self":
            own.setdefault(speaker, set()).add(int(rank))
    ranks = 1 + max((int(rank) for _, _, rank in used), default=-1)
    if not ranks or ranks % len(places):
        return {}
    where = [places[rank * len(places) // ranks] for rank in range(ranks)]
    addresses = _addresses(stderr)
    carried: dict[_Pair, set[str]] = {}
    for speaker, name, peer in used:
        if name == "self":
            continue
        senders = {where[rank] for rank in own.get(speaker, ())}
        if (pair := _pair(senders, where[int(peer)], TRANSPORTS.get(name, name))) is not None:
            reached = addresses.get((speaker, int(peer)), set()) if name == "tcp" else set()
            carried.setdefault(pair, set()).add(_carrier(name, reached, networks))
    return {pair: " and ".join(sorted(carriers)) for pair, carriers in sorted(carried.items())}


def said(carried: Mapping[_Pair, str]) -> dict[str, str]:
    """The paths as facts: compact, and the pairs of hosts that differ from most others by name."""
    usual, others = _usual(carried)
    parts = [f"{kind}: {carried[kind,]}" for kind in (WITHIN, BETWEEN_NODES) if (kind,) in carried]
    if usual is None:
        return {"mpi paths": "; ".join(parts)} if parts else {}
    parts.append(f"{BETWEEN_HOSTS}: {usual}")
    parts += [f"{pair}: {carrier}" for pair, carrier in others]
    differ = "; ".join(f"{pair}: {carrier}, where most use {usual}" for pair, carrier in others)
    return {"mpi paths": "; ".join(parts)} | ({DIFFERENT_PATHS: differ} if differ else {})


def _usual(carried: Mapping[_Pair, str]) -> tuple[str | None, list[tuple[str, str]]]:
    """What carried messages between most pairs of hosts, and the pairs with something else."""
    between = {pair: carrier for pair, carrier in carried.items() if len(pair) > 1}
    if not between:
        return None, []
    usual = Counter(between.values()).most_common(1)[0][0]
    return usual, [("-".join(pair), carrier) for pair, carrier in between.items() if carrier != usual]


def _pair(senders: Iterable[MpiPlace], receiver: MpiPlace, carrier: str) -> _Pair | None:
    """``None`` if several processes call themselves alike, and it matters which one it was."""
    nodes = {(BETWEEN_NODES,) if sender.host == receiver.host else (sender.host,) for sender in senders}
    if len(nodes) != 1:
        return None
    (pair,) = nodes
    if pair != (BETWEEN_NODES,):
        first, second = sorted((*pair, receiver.host))
        return first, second
    alike = {sender.node == receiver.node for sender in senders}
    within = carrier == "shared memory" if len(alike) > 1 else alike.pop()
    return (WITHIN,) if within else (BETWEEN_NODES,)


def _addresses(stderr: str) -> dict[tuple[str, int], set[str]]:
    """Who speaks and to which process → that process's addresses."""
    seen: dict[tuple[str, int], set[str]] = {}
    for speaker, accepted, accepted_rank, called_rank, called in _CONNECTED.findall(stderr):
        key = speaker, int(accepted_rank or called_rank)
        seen.setdefault(key, set()).add(accepted or called)
    return seen


def _carrier(name: str, addresses: Iterable[str], networks: Networks) -> str:
    over = sorted(set(_over(addresses, networks)))
    return f"{TRANSPORTS.get(name, name)}{' over ' + ', '.join(over) if over else ''}"


def _over(addresses: Iterable[str], networks: Networks) -> Iterator[str]:
    """The smallest of the hosts' networks that has the address; else the address itself."""
    for text in addresses:
        around = [each for each in networks if ipaddress.IPv4Address(text) in each]
        yield str(max(around, key=lambda each: each.prefixlen)) if around else text
