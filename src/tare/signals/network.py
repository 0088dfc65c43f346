# SPDX-License-Identifier: Apache-2.0
"""TCP, interfaces and queues of the nodes' own network namespaces, read through a process in each.

/proc/PID/net belongs to the namespace of that process (proc(5)); names as in nstat(8) and the kernel's
networking/snmp_counter.rst. In a node that shares the host's network the counts are the host's, including others'.
"""

import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence

from tare.records import Scope
from tare.signals.family import File, Kind, SignalFamily, TextSource, Unreadable
from tare.signals.namespaces import DONE, HEADER, dump_in, opened_in
from tare.signals.place import Place

_GET_QUEUES, _QUEUE = 38, 36
_MESSAGE = struct.Struct("=BxHiIII")
"""Family, padding, link, handle, parent, info."""
_ROOT = 0xFFFFFFFF
_STATISTICS, _OF_QUEUE = 7, 3
_ATTRIBUTE = struct.Struct("=HH")
_FIGURES = struct.Struct("=5I")
"""Length, backlog in byte, drops, requeues, overlimits."""
_TYPE_MASK = 0x3FFF


def _files(place: Place, name: str) -> Sequence[TextSource]:
    if not place.network_processes:
        raise Unreadable("this host's kernel does not keep the nodes' network")
    return [
        File(f"/proc/{pid}/net/{name}", f"the nodes' /proc/net/{name}") for pid in place.network_processes
    ]


def parse_counters(text: bytes, prefix: str, names: Iterable[str]) -> dict[str, int]:
    """The numbers for ``names`` in a protocol's pair of lines, names and numbers.

    ``ValueError`` if the lines are missing or do not match.
    """
    wanted = {name.encode(): name for name in names}
    start = f"{prefix}:".encode()
    rows = [line.split()[1:] for line in text.splitlines() if line.startswith(start)]
    if len(rows) != 2 or len(rows[0]) != len(rows[1]):  # noqa: PLR2004 - a line of names, a line of numbers
        raise ValueError(f"it has no two lines {prefix} that fit each other")
    return {wanted[name]: int(number) for name, number in zip(*rows, strict=True) if name in wanted}


class _Tcp(SignalFamily):
    file: str
    prefix: str
    names: Mapping[str, str]

    def __init__(self) -> None:
        self.kinds = tuple(
            Kind(name=name, unit="1", scope=Scope.NODE, of_network=True) for name in self.names.values()
        )

    def sources(self, place: Place) -> Sequence[TextSource]:
        if place.own_kernel:
            raise Unreadable(
                "the nodes' TCP is in kernels of their own, which this host's kernel cannot read"
            )
        return _files(place, self.file)

    def parse(self, text: bytes, place: Place) -> Mapping[str, float]:  # noqa: ARG002 - the same for every place
        counts = parse_counters(text, self.prefix, self.names)
        return {name: counts[key] for key, name in self.names.items() if key in counts}


class Tcp(_Tcp):
    file, prefix = "snmp", "Tcp"
    names = {"RetransSegs": "tcp_retransmissions"}  # noqa: RUF012 - constant


class TcpExtended(_Tcp):
    file, prefix = "netstat", "TcpExt"
    names = {  # noqa: RUF012 - constant
        "TCPTimeouts": "tcp_timeouts",
        "TCPLostRetransmit": "tcp_lost_retransmissions",
        "TCPBacklogDrop": "tcp_backlog_drops",
        "TCPRcvQDrop": "tcp_receive_drops",
    }


class Interfaces(SignalFamily):
    """All interfaces of the nodes except loopback: drops and traffic."""

    kinds = (
        Kind(name="interface_drops", unit="1", scope=Scope.NODE, of_network=True),
        Kind(name="interface_errors", unit="1", scope=Scope.NODE, of_network=True),
        Kind(name="interface_received_byte", unit="byte", scope=Scope.NODE, of_network=True),
        Kind(name="interface_sent_byte", unit="byte", scope=Scope.NODE, of_network=True),
    )

    def sources(self, place: Place) -> Sequence[TextSource]:
        return _files(place, "dev")

    def parse(self, text: bytes, place: Place) -> Mapping[str, float]:  # noqa: ARG002 - the same for every place
        rows = [numbers for name, numbers in interface_rows(text) if name != b"lo"]
        received, sent = _RECEIVED, _SENT
        return {
            "interface_drops": sum(row[received["drop"]] + row[sent["drop"]] for row in rows),
            "interface_errors": sum(row[received["errs"]] + row[sent["errs"]] for row in rows),
            "interface_received_byte": sum(row[received["bytes"]] for row in rows),
            "interface_sent_byte": sum(row[sent["bytes"]] for row in rows),
        }


_RECEIVED = {"bytes": 0, "errs": 2, "drop": 3}
_SENT = {"bytes": 8, "errs": 10, "drop": 11}
_COLUMNS = 16


class Switch(SignalFamily):
    """Drops at every interface of the namespace where the nodes' links meet: ports, taps, the bridge."""

    kinds = (Kind(name="switch_drops", unit="1", scope=Scope.NODE),)

    def sources(self, place: Place) -> Sequence[TextSource]:
        if not place.switches:
            raise Unreadable("no links of the nodes meet in a namespace of the trial's own")
        return [opened_in(path, "dev") for path in place.switches]

    def parse(self, text: bytes, place: Place) -> Mapping[str, float]:  # noqa: ARG002 - the same for every place
        rows = [numbers for _, numbers in interface_rows(text)]
        return {"switch_drops": sum(row[_RECEIVED["drop"]] + row[_SENT["drop"]] for row in rows)}


def interface_rows(text: bytes) -> Iterator[tuple[bytes, list[int]]]:
    """Name and numbers of each interface of /proc/net/dev; ``ValueError`` if it is no such table."""
    if b"|" not in text:
        raise ValueError("it is no table of interfaces")
    for line in text.splitlines()[2:]:
        name, _, rest = line.partition(b":")
        numbers = rest.split()
        if len(numbers) < _COLUMNS or not all(number.isdigit() for number in numbers):
            raise ValueError("a line of an interface is not whole")
        yield name.strip(), list(map(int, numbers))


class Queues(SignalFamily):
    """The queues before the links of the trial's own namespaces, as tc(8) -s shows them (rtnetlink(7)).

    Only the root queue of each link is read, which includes drops in the queues below it. Overlimits count how often
    a rate limit held a packet back. Numbers are from the kernel's headers linux/rtnetlink.h and linux/gen_stats.h.
    """

    kinds = (
        Kind(name="queue_drops", unit="1", scope=Scope.NODE),
        Kind(name="queue_overlimits", unit="1", scope=Scope.NODE),
        Kind(name="queue_requeues", unit="1", scope=Scope.NODE),
        Kind(name="queue_backlog_byte", unit="byte", scope=Scope.NODE, level=True),
    )

    def sources(self, place: Place) -> Sequence[TextSource]:
        if not place.namespaces:
            raise Unreadable("the trial has no network namespace of its own")
        body = _MESSAGE.pack(0, 0, 0, 0, 0, 0)
        return [dump_in(path, _GET_QUEUES, body) for path in place.namespaces]

    def parse(self, text: bytes, place: Place) -> Mapping[str, float]:  # noqa: ARG002 - the same for every place
        roots = list(_roots(text))
        return {
            "queue_backlog_byte": sum(figures[1] for figures in roots),
            "queue_drops": sum(figures[2] for figures in roots),
            "queue_requeues": sum(figures[3] for figures in roots),
            "queue_overlimits": sum(figures[4] for figures in roots),
        }


def _roots(text: bytes) -> Iterator[tuple[int, ...]]:
    offset, ended = 0, False
    while offset < len(text) and not ended:
        if offset + HEADER.size > len(text):
            raise ValueError("a message of the kernel is torn")
        length, kind, *_ = HEADER.unpack_from(text, offset)
        if length < HEADER.size or offset + length > len(text):
            raise ValueError("a message of the kernel is torn")
        body = text[offset + HEADER.size : offset + length]
        if kind == _QUEUE and len(body) < _MESSAGE.size:
            raise ValueError("a message of the kernel is torn")
        if kind == _QUEUE and _MESSAGE.unpack_from(body)[4] == _ROOT:
            yield _figures(body[_MESSAGE.size :])
        ended = kind == DONE
        offset += length + (-length % 4)
    if not ended:
        raise ValueError("the kernel's list of queues has no end")


def _figures(attributes: bytes) -> tuple[int, ...]:
    statistics = dict(_attributes(attributes)).get(_STATISTICS, b"")
    figures = dict(_attributes(statistics)).get(_OF_QUEUE, b"")
    if len(figures) < _FIGURES.size:
        raise ValueError("a queue has no figures")
    return _FIGURES.unpack_from(figures)


def _attributes(text: bytes) -> Iterator[tuple[int, bytes]]:
    offset = 0
    while offset + _ATTRIBUTE.size <= len(text):
        length, kind = _ATTRIBUTE.unpack_from(text, offset)
        if length < _ATTRIBUTE.size:
            raise ValueError("an attribute of a queue is torn")
        yield kind & _TYPE_MASK, text[offset + _ATTRIBUTE.size : offset + length]
        offset += length + (-length % 4)
