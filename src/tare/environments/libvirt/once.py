# SPDX-License-Identifier: Apache-2.0
"""A domain's description for one start, with a node's limits replacing its own (libvirt's domain XML format)."""

import xml.etree.ElementTree as ET
from collections.abc import Sequence

from tare.errors import NodeError
from tare.host.cgroups import format_processors
from tare.host.told import number

PERIOD_US = 100_000
_KIBIBYTE = 1024
_CONFLICTING = ("vcpus", "maxMemory", "cputune", "numatune", "memory", "currentMemory", "vcpu")
"""Elements about processors and memory, or that depend on their number."""


def parsed(text: str) -> ET.Element:
    """Parse a description; ``NodeError`` for text that is not one."""
    try:
        domain = ET.fromstring(text)  # noqa: S314 - this host's libvirt has written it
    except ET.ParseError as error:
        raise NodeError(f"virsh dumpxml printed no XML: {error}") from error
    if domain.tag != "domain":
        raise NodeError(f"virsh dumpxml printed a {domain.tag} and no domain")
    return domain


def limited(
    text: str, processors: Sequence[int], memory_byte: int, quota: float | None, *, pinned: bool
) -> str:
    """The description ``text`` with one processor for each of these, each pinned to its own if ``pinned``."""
    domain = parsed(text)
    for tag in _CONFLICTING:
        for match in domain.findall(tag):
            domain.remove(match)
    _forget_topology(domain)
    for tag in ("memory", "currentMemory"):
        element(domain, tag, str(memory_byte // _KIBIBYTE), unit="KiB")
    add_processors(domain, processors, quota, pinned=pinned)
    return ET.tostring(domain, encoding="unicode")


def add_processors(
    domain: ET.Element, processors: Sequence[int], quota: float | None, *, pinned: bool
) -> None:
    """The elements ``vcpu`` and ``cputune``; the hypervisor's own threads may use the whole set."""
    text = format_processors(tuple(processors))
    where = {"cpuset": text} if pinned else {}
    element(domain, "vcpu", str(len(processors)), placement="static", **where)
    tune = ET.Element("cputune")
    if quota is not None:
        element(tune, "global_period", str(PERIOD_US))
        element(tune, "global_quota", str(round(quota * PERIOD_US)))
    if pinned:
        for number, processor in enumerate(processors):
            element(tune, "vcpupin", vcpu=str(number), cpuset=str(processor))
        element(tune, "emulatorpin", cpuset=text)
    if len(tune):
        domain.append(tune)


def element(parent: ET.Element, tag: str, text: str | None = None, **attributes: str) -> ET.Element:
    """A new element, with this text and these attributes, below ``parent``."""
    made = ET.SubElement(parent, tag, attributes)
    made.text = text
    return made


def processor_count(text: str) -> int | None:
    """The number of processors in a description; ``None`` if it does not say."""
    vcpu = parsed(text).find("vcpu")
    if vcpu is None:
        return None
    return number(vcpu.get("current") or vcpu.text or "0", "virsh dumpxml")


def _forget_topology(domain: ET.Element) -> None:
    """Remove sockets and memory nodes, which match the user's own number of processors."""
    for cpu in domain.findall("cpu"):
        for tag in ("topology", "numa"):
            for match in cpu.findall(tag):
                cpu.remove(match)
