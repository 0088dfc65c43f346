# SPDX-License-Identifier: Apache-2.0
"""The queues before the links of the trial's own namespaces, as tc(8) -s shows them: RTM_GETQDISC (rtnetlink(7)).

Only the root queue of each link is read, which includes drops in the queues below it. Overlimits count how often a rate
limit held a packet back. Numbers are from the kernel's headers linux/rtnetlink.h and linux/gen_stats.h.
"""

import struct
from collections.abc import Iterator, Mapping, Sequence

from tare.measure.signals.family import Kind, SignalFamily, TextSource, Unreadable
from tare.measure.signals.namespaces import DONE, HEADER, dump_in
from tare.measure.signals.place import Place
from tare.records import Scope

_GET_QUEUES, _QUEUE = 38, 36
_MESSAGE = struct.Struct("=BxHiIII")
"""Family, padding, link, handle, parent, info."""
_ROOT = 0xFFFFFFFF
_STATISTICS, _OF_QUEUE = 7, 3
_ATTRIBUTE = struct.Struct("=HH")
_FIGURES = struct.Struct("=5I")
"""Length, backlog in byte, drops, requeues, overlimits."""
_TYPE_MASK = 0x3FFF


class Queues(SignalFamily):
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
