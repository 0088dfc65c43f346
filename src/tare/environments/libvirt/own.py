# SPDX-License-Identifier: Apache-2.0
"""Nodes in domains of Tare's own: the ``qemu`` environment's machine, started by a libvirtd for this node alone."""

import shutil
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import partial
from typing import Self

from tare.environments import engine
from tare.environments.libvirt import booting, monitor
from tare.environments.libvirt.daemon import OwnDaemon
from tare.environments.libvirt.virsh import parse_memory_byte
from tare.environments.qemu import options as qemu_options
from tare.environments.qemu import threads
from tare.environments.qemu.provider import Qemu
from tare.errors import NodeError
from tare.guests import channel
from tare.guests.group import Held, OwnMachineGroup
from tare.guests.provider import GuestProvider
from tare.host import cgroups, process
from tare.nodes import confined
from tare.nodes.provider import Node, NodeGroup, NodeSpec, Probe
from tare.records import NetworkKind, OptionValue
from tare.units import MEBIBYTE

_SHARED = ("accelerator", "devices", "kernel", "machine")


class OwnLibvirtDomains(GuestProvider):
    technology = "libvirt"
    option_names: Mapping[str, str] = {
        "connection": "libvirt's URI; Tare's own domains are on qemu:///session",
        **{name: qemu_options.OPTION_NAMES[name] for name in _SHARED},
    }
    networks = frozenset({NetworkKind.NONE, NetworkKind.DEFAULT})
    cooperates = False

    def __init__(self, options: Mapping[str, OptionValue] | None = None) -> None:
        """Keep the options for ``probe``; nodes have their own."""
        self._options: Mapping[str, OptionValue] = options or {}

    def check_options(self, options: Mapping[str, OptionValue]) -> Mapping[str, str]:
        if (given := options.get("connection", booting.CONNECTION)) != booting.CONNECTION:
            words = (
                f"is {given!r}, where Tare makes no domains of its own: name the user's by the option domain"
            )
            return {"connection": words}
        return qemu_options.complaints(_shared(options))

    def check_spanning(self, options: Mapping[str, OptionValue]) -> Mapping[str, str]:  # noqa: ARG002 - none helps
        words = "is missing: domains of Tare's own have no network between them; use qemu, or domains of the user's"
        return {"domain": words}

    def configured(self, options: Mapping[str, OptionValue]) -> Self:
        return type(self)(options)

    def probe(self) -> Probe:
        """Check the needs of the ``qemu`` environment, and libvirt."""
        probe = Qemu(_shared(self._options)).probe()
        if not probe.usable:
            return probe
        programs = [
            "virsh",
            "libvirtd",
            *(["qemu-img"] if self._options.get("devices") == "emulated" else []),
        ]
        for program in programs:
            if shutil.which(program, path=process.tool_environment()["PATH"]) is None:
                remedy = (
                    "apt-get install libvirt-clients libvirt-daemon libvirt-daemon-driver-qemu qemu-utils"
                )
                return Probe(usable=False, reason=f"{program} is not on this host", remedy=remedy)
        version = confined.probe_version(["virsh", "--version"], "libvirt-clients").version
        return replace(probe, version=f"libvirt {version}, QEMU {probe.version}")

    def lacking_flags(self, flags: AbstractSet[str]) -> AbstractSet[str]:
        """The default of the ``qemu`` environment, to which libvirt's processor settings are equal."""
        return Qemu(_shared(self._options)).lacking_flags(flags)

    def start(self, spec: NodeSpec) -> Node:
        engine.require(self.check_options(spec.options))
        if spec.network.kind not in self.networks:
            raise NodeError(f"a libvirt domain of Tare's own has no network {spec.network.kind}; choose none")
        facts = booting.start(spec)
        return Node(
            spec=spec,
            init_pid=booting.monitor_of(spec),
            facts=facts,
            own_kernel=True,
            machine=True,
        )

    def helpers(self, node: Node) -> list[int]:
        """libvirtd, QEMU and the keeper: everything in the node's control group."""
        return cgroups.own_group(node.spec.name).processes()

    def virtual_processors(self, node: Node) -> list[int]:
        return monitor.processor_threads(booting.monitor_of(node.spec))

    def group(self, node: Node) -> NodeGroup | None:
        """The memory as libvirt reports it, the processors as the host's kernel does."""
        spec, pid = node.spec, booting.monitor_of(node.spec)
        given = parse_memory_byte(OwnDaemon.of(spec.name).virsh.ask("dominfo", spec.name)) or 0
        rounded = 0 <= given - spec.memory_byte < MEBIBYTE  # libvirt gives whole MiB
        held = Held(
            memory_byte=spec.memory_byte if rounded else given,
            processors=threads.run_on(monitor.processor_threads(pid)),
        )
        group, prefix = cgroups.group_of(pid), channel.prefix(spec)
        return OwnMachineGroup(group, pid, spec, held, prefix, partial(booting.gone, spec))

    def stop(self, spec: NodeSpec) -> None:
        """Switch it off with its libvirtd: nothing that either wrote is needed."""
        confined.remove(spec)
        channel.release(spec)
        OwnDaemon.of(spec.name).remove()


def _shared(options: Mapping[str, OptionValue]) -> dict[str, OptionValue]:
    """The options that the ``qemu`` environment also has."""
    return {name: value for name, value in options.items() if name in _SHARED}
