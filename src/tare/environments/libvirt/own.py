# SPDX-License-Identifier: Apache-2.0
"""Nodes in domains of Tare's own: the ``qemu`` environment's machine, started by a libvirtd for this node alone."""

import shutil
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Self

from tare.engines import engine
from tare.environments.libvirt import description, monitor
from tare.environments.libvirt.daemon import OwnDaemon
from tare.environments.libvirt.virsh import parse_memory_byte
from tare.environments.managed.machine import wait_for
from tare.environments.qemu import Qemu, boot, console, host, inside
from tare.environments.qemu import options as qemu_options
from tare.environments.qemu.accelerator import WORDS
from tare.environments.qemu.command import QemuMachine
from tare.environments.qemu.monitor import run_on
from tare.errors import NodeError
from tare.guests import channel
from tare.guests.group import Held, OwnMachineGroup
from tare.guests.kernel import lack_of_modules
from tare.guests.provider import GuestProvider
from tare.host import cgroups, process
from tare.host.distribution import to_install
from tare.nodes import confined
from tare.nodes.provider import Node, NodeGroup, NodeSpec, Probe
from tare.records import NetworkKind, OptionValue
from tare.units import MEBIBYTE

_SHARED = ("accelerator", "devices", "kernel", "machine")
CONNECTION = "qemu:///session"
_PACKAGES = ("libvirt-clients", "libvirt-daemon", "libvirt-daemon-driver-qemu", "qemu-utils")
_START_LIMIT_S = 60.0
_WORDS_LIMIT_S = 1.0
_DAEMON_BYTE = 192 * MEBIBYTE
"""Memory for libvirtd, and for the QEMUs that it starts the first time to learn their abilities."""


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
        if (given := options.get("connection", CONNECTION)) != CONNECTION:
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
                remedy = to_install(*_PACKAGES)
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
        facts = start(spec)
        return Node(
            spec=spec,
            init_pid=monitor_of(spec),
            facts=facts,
            own_kernel=True,
            machine=True,
        )

    def helpers(self, node: Node) -> list[int]:
        """libvirtd, QEMU and the keeper: everything in the node's control group."""
        return cgroups.own_group(node.spec.name).processes()

    def virtual_processors(self, node: Node) -> list[int]:
        return monitor.processor_threads(monitor_of(node.spec))

    def group(self, node: Node) -> NodeGroup | None:
        """The memory as libvirt reports it, the processors as the host's kernel does."""
        spec, pid = node.spec, monitor_of(node.spec)
        given = parse_memory_byte(OwnDaemon.of(spec.name).virsh.ask("dominfo", spec.name)) or 0
        rounded = 0 <= given - spec.memory_byte < MEBIBYTE  # libvirt gives whole MiB
        held = Held(
            memory_byte=spec.memory_byte if rounded else given,
            processors=run_on(monitor.processor_threads(pid)),
        )
        group, prefix = cgroups.group_of(pid), channel.prefix(spec)
        return OwnMachineGroup(group, pid, spec, held, prefix, partial(gone, spec))

    def stop(self, spec: NodeSpec) -> None:
        """Switch it off with its libvirtd: nothing that either wrote is needed."""
        confined.remove(spec)
        channel.release(spec)
        OwnDaemon.of(spec.name).remove()


def _shared(options: Mapping[str, OptionValue]) -> dict[str, OptionValue]:
    """The options that the ``qemu`` environment also has."""
    return {name: value for name, value in options.items() if name in _SHARED}


def start(spec: NodeSpec) -> dict[str, str]:
    """Start the guest; return its facts if it is as requested, else raise ``NodeError``."""
    machine = boot.plan(spec)
    files = _files(spec, machine)
    boot.make(spec, machine)
    daemon, join = OwnDaemon.of(spec.name), _join(spec, machine)
    daemon.start(join)
    (spec.directory / "domain.xml").write_text(description.described(machine, spec.processors, files))
    daemon.virsh.ask("create", str(spec.directory / "domain.xml"), limit_s=_START_LIMIT_S)
    _keep(spec, join, files, machine)
    return _look(spec, machine)


def monitor_of(spec: NodeSpec) -> int:
    """The process id of QEMU; ``NodeError`` when it has ended."""
    daemon = OwnDaemon.of(spec.name)
    pid = monitor.process(daemon.state, spec.name)
    if pid is None:
        raise NodeError(f"the domain {spec.name} has ended: {daemon.said(spec.name)}")
    return pid


def _files(spec: NodeSpec, machine: QemuMachine) -> description.DomainFiles:
    """The paths of the domain's files; makes the files that are not made with the machine."""
    spec.work.mkdir(parents=True, exist_ok=True)
    console.make(spec)
    return description.DomainFiles(
        initramfs=spec.directory / "initramfs",
        image=machine.image_disk if machine.devices.paravirtual else _layered(spec, machine.image_disk),
        layer=None if machine.layer_disk is None else spec.directory / machine.layer_disk,
        channel=OwnDaemon.of(spec.name).folder / "channel",
        console=spec.directory / console.LOG,
    )


def _layered(spec: NodeSpec, disk: Path) -> Path:
    """A layer over the image's disk: an emulated disk cannot be read-only (qemu-img(1))."""
    made = spec.directory / "image.qcow2"
    words = ["create", "-q", "-f", "qcow2", "-F", "raw", "-b", str(disk), str(made)]
    process.run_checked(["qemu-img", *words])
    return made


def _join(spec: NodeSpec, machine: QemuMachine) -> list[str]:
    """The prefix into the node's control group, which has room for what serves the guest."""
    more = host.monitor_memory_byte(machine.accelerator) + _DAEMON_BYTE
    unbounded = replace(spec.bounds, processes=None)  # the guest's kernel enforces it
    held = replace(spec, memory_byte=spec.memory_byte + more, bounds=unbounded)
    return confined.join(spec, confined.create_group(held))


def _keep(spec: NodeSpec, join: Sequence[str], files: description.DomainFiles, machine: QemuMachine) -> None:
    try:
        channel.keep_connected(spec, join, files.channel)
    except NodeError as error:
        raise _with_reasons(spec, str(error), lack_of_modules(machine.options.kernel)) from error


def gone(spec: NodeSpec) -> NodeError:
    """Why a domain has ended in the middle of its work. The keeper may be about to report it."""
    with suppress(NodeError):
        wait_for(lambda: channel.last_words(spec), _WORDS_LIMIT_S, "the keeper's last word", pause_s=0.05)
    return _with_reasons(spec, channel.last_words(spec) or "the guest is gone")


def _with_reasons(spec: NodeSpec, words: str, hint: str = "") -> NodeError:
    said, log = console.read(spec), OwnDaemon.of(spec.name).said(spec.name)
    parts = [words, f"the guest's console: {console.reason(said)}", f"QEMU's log: {log or 'nothing'}", hint]
    return NodeError("; ".join(filter(None, parts)), console.end_of(said) or None)


def _look(spec: NodeSpec, machine: QemuMachine) -> dict[str, str]:
    """The facts of a guest that is as requested."""
    seen = inside.look(channel.prefix(spec))
    inside.verify(machine, seen)
    said = OwnDaemon.of(spec.name).virsh.ask("version").splitlines()
    versions = dict(line.partition(": ")[::2] for line in said)
    return {
        "accelerator": WORDS[machine.accelerator],
        "libvirt": f"{versions.get('Using library')}, {versions.get('Running hypervisor')}, {CONNECTION}",
        **inside.facts(machine, seen),
    }
