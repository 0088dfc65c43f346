# SPDX-License-Identifier: Apache-2.0
"""Memory at other processors than the node's: memory.numa_stat of its control group.

Version 1 writes pages, ``hierarchical_total=30 N0=10 N1=20`` for the group and its subgroups; version 2 bytes, one line
for each kind of memory, ``anon N0=4096 N1=8192`` (the kernel's cgroup-v1/memory.rst and cgroup-v2.rst). In version 2
anonymous memory and files are counted, which corresponds to version 1's total.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tare.host.cgroups import parse_processors
from tare.records import Scope
from tare.signals.family import Kind, SignalFamily, TextSource, Unreadable, group_files
from tare.signals.place import Place

_NODES = Path("/sys/devices/system/node")
_NEAR = b"near"
_TOTAL_V1 = b"hierarchical_total="
_KINDS_V2 = (b"anon", b"file")


def numa_nodes(folder: Path = _NODES) -> Mapping[int, frozenset[int]]:
    """NUMA node → its processors, none for a node with only memory (the kernel's ABI, sysfs-devices-node).

    Empty if this kernel shows no nodes.
    """
    lists = {path.parent.name: path for path in folder.glob("node*/cpulist")}
    return {
        int(name.removeprefix("node")): frozenset(parse_processors(path.read_text()))
        for name, path in sorted(lists.items())
    }


@dataclass(frozen=True, slots=True)
class _NearAndFar(TextSource):
    """The text after a line with the near NUMA nodes, which differ for each node of a trial."""

    text: TextSource
    near: tuple[int, ...]

    def read(self) -> bytes:
        return near_line(self.near) + self.text.read()


def near_line(near: Iterable[int]) -> bytes:
    """The first line of the parsed text, such as ``near 0 2``."""
    return b" ".join((_NEAR, *(b"%d" % node for node in near))) + b"\n"


class RemoteMemory(SignalFamily):
    kinds = (Kind(name="remote_memory_byte", unit="byte", scope=Scope.NODE, level=True),)

    def __init__(self, nodes: Mapping[int, frozenset[int]] | None = None) -> None:
        """``nodes``: a host's nodes, as from ``numa_nodes``; ``None``: this host's."""
        self._nodes = nodes

    def sources(self, place: Place) -> Sequence[TextSource]:
        if self._nodes is None:
            self._nodes = numa_nodes()
        if not self._nodes:
            raise Unreadable("this kernel does not show the host's NUMA nodes")
        if len(self._nodes) == 1:
            raise Unreadable("this host has one NUMA node")
        files = group_files(place, "memory", "memory.numa_stat")
        own = zip(files, place.group_processors, strict=True)
        return [_NearAndFar(file, _near(self._nodes, processors)) for file, processors in own]

    def parse(self, text: bytes, place: Place) -> Mapping[str, float]:  # noqa: ARG002 - the same for every place
        first, *lines = [line.split() for line in text.splitlines()] or [[]]
        if first[:1] != [_NEAR]:
            raise ValueError("it does not say which NUMA nodes are near")
        near = {int(word) for word in first[1:]}
        counts = [words for words in lines if words and _is_counted(words[0])]
        if not counts:
            raise ValueError("it holds no memory by NUMA nodes")
        return {"remote_memory_byte": sum(_far_byte(words, near) for words in counts)}


def _near(nodes: Mapping[int, frozenset[int]], processors: Iterable[int]) -> tuple[int, ...]:
    return tuple(node for node, own in nodes.items() if own.intersection(processors))


def _is_counted(label: bytes) -> bool:
    return label.startswith(_TOTAL_V1) or label in _KINDS_V2


def _far_byte(words: Sequence[bytes], near: set[int]) -> int:
    """Far memory in one line, in version 1 as pages; ``ValueError`` if it is not such a line."""
    unit_byte = os.sysconf("SC_PAGE_SIZE") if words[0].startswith(_TOTAL_V1) else 1
    pairs = [word.partition(b"=") for word in words[1:]]
    if not pairs or not all(name.startswith(b"N") for name, _, _ in pairs):
        raise ValueError("a line of memory.numa_stat names no NUMA node")
    return unit_byte * sum(int(count) for name, _, count in pairs if int(name[1:]) not in near)
