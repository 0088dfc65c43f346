# SPDX-License-Identifier: Apache-2.0
"""Nodes in domains of Tare's own: its kernel and initramfs, the image as a disk, commands through a Xen console."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from tare.environments import engine
from tare.environments.qemu import inside
from tare.environments.xen import boot, xl
from tare.environments.xen.brought import probe_xen
from tare.environments.xen.configuration import HVM, KINDS, text
from tare.errors import NodeError
from tare.guests import channel
from tare.guests.group import parse_kills
from tare.guests.kernel import find_kernel
from tare.guests.provider import GuestProvider
from tare.host import process
from tare.host.cgroups import Settings
from tare.nodes.provider import Node, NodeGroup, NodeSpec, Probe
from tare.records import NetworkKind, OptionValue

_LIMIT_S = 30.0
_MEBIBYTE = 1 << 20


class OwnXenDomains(GuestProvider):
    technology = "xen"
    bounds_processes = False
    option_names: Mapping[str, str] = {
        "type": '"pvh" (default), "pv", or "hvm": emulated devices and none of Xen\'s',
        "kernel": "the guest's kernel: a release that `tare image kernel` keeps, or the path of its file",
    }
    networks = frozenset({NetworkKind.NONE})
    cooperates = False

    def __init__(self, options: Mapping[str, OptionValue] | None = None) -> None:
        """Keep the options for ``probe``; nodes have their own."""
        self._options: Mapping[str, OptionValue] = options or {}

    def check_options(self, options: Mapping[str, OptionValue]) -> Mapping[str, str]:
        check_options = {}
        if (kind := options.get("type", KINDS[0])) not in KINDS:
            check_options["type"] = f"must be one of {', '.join(KINDS)}, but is {kind!r}"
        if not isinstance(kernel := options.get("kernel", "any"), str) or not kernel:
            check_options["kernel"] = f"must be a release or the path of a file, but is {kernel!r}"
        return check_options

    def check_spanning(self, options: Mapping[str, OptionValue]) -> Mapping[str, str]:  # noqa: ARG002 - none helps
        return {"domain": "is missing: domains of Tare's own have no network between them; use the user's"}

    def configured(self, options: Mapping[str, OptionValue]) -> Self:
        return type(self)(options)

    def probe(self) -> Probe:
        probe = probe_xen()
        if not probe.usable:
            return probe
        try:
            boot.kernel_of(self._options)
        except NodeError as error:
            return Probe(usable=False, reason=str(error), remedy="tare image kernel, or the option kernel")
        return probe

    def start(self, spec: NodeSpec) -> Node:
        engine.require(self.check_options(spec.options))
        boot.refuse(spec)
        spec.work.mkdir(parents=True, exist_ok=True)
        domain = boot.make(spec)
        configuration = spec.directory / "xl.cfg"
        configuration.write_text(text(domain.settings()))
        xl.create(str(configuration))
        channel.keep_connected(spec, [], domain.channel)
        seen = inside.look(channel.prefix(spec))
        verify(domain.kind, seen)
        information = xl.parse_info(xl.ask("info"))
        version = f"{information.get('xen_version')}, scheduler {information.get('xen_scheduler')}, type {domain.kind}"
        release = find_kernel(boot.asked_kernel(spec.options)).release
        facts = {"Xen": version, "guest's kernel": release, "disk driver": ", ".join(_drivers(seen))}
        return Node(spec=spec, init_pid=None, facts=facts, own_kernel=True, machine=True)

    def group(self, node: Node) -> NodeGroup | None:
        return XenGroup(node.spec, channel.prefix(node.spec))

    def stop(self, spec: NodeSpec) -> None:
        """The keeper ends when its channel does."""
        if (spec.directory / "xl.cfg").exists():
            xl.destroy(spec.name)
        channel.release(spec)
        boot.channel_of(spec).unlink(missing_ok=True)
        process.reap_idle()


@dataclass(frozen=True, slots=True)
class XenGroup:
    """A ``NodeGroup`` (``tare.nodes.provider``): the hypervisor's limits, which the host does not see."""

    spec: NodeSpec
    prefix: Sequence[str]

    def settings(self) -> Settings:
        """The limits that xl reports; memory in whole MiB, its own unit."""
        held, asked = xl.holds(self.spec.name), self.spec.memory_byte
        rounded = held.memory_byte is not None and 0 <= asked - held.memory_byte < _MEBIBYTE
        return Settings(
            processors=held.processors,
            memory_byte=asked if rounded else held.memory_byte,
            cpu_quota=held.cpu_quota,
        )

    def cpu_s(self) -> float | None:
        return xl.cpu_s(self.spec.name)

    def memory_kills(self) -> int | None:
        """The kills by the guest's own kernel."""
        return parse_kills(process.run([*self.prefix, "cat", "/proc/vmstat"], timeout_s=_LIMIT_S).stdout)

    def refused_processes(self) -> int | None:
        return None

    def lacks(self, inner_pid: int) -> list[str] | None:  # noqa: ARG002 - whatever runs in it, the hypervisor holds
        return [] if xl.exists(self.spec.name) else None


def verify(kind: str, seen: Mapping[str, Any]) -> None:
    """``NodeError`` when the guest's disk is not of the requested kind."""
    drivers, wanted = _drivers(seen), "ata_piix" if kind == HVM else "vbd"
    if wanted not in drivers:
        raise NodeError(f"the guest is not as asked ({kind}): no disk has the driver {wanted}, but {drivers}")


def _drivers(seen: Mapping[str, Any]) -> list[str]:
    return sorted({str(name) for disk in seen["block_devices"] or () for name in disk["drivers"]})
