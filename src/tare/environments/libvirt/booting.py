# SPDX-License-Identifier: Apache-2.0
"""The start of a domain of Tare's own: its files, its libvirtd, its keeper, and a check from inside."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from tare.environments.libvirt import description, monitor
from tare.environments.libvirt.daemon import OwnDaemon
from tare.environments.managed.waiting import wait_for
from tare.environments.qemu import boot, console, host, inside
from tare.environments.qemu.accelerator import WORDS
from tare.environments.qemu.command import QemuMachine
from tare.errors import NodeError
from tare.guests import channel
from tare.guests.kernel import lack_of_modules
from tare.host import process
from tare.nodes import confined
from tare.nodes.provider import NodeSpec
from tare.units import MEBIBYTE

CONNECTION = "qemu:///session"
_START_LIMIT_S = 60.0
_WORDS_LIMIT_S = 1.0
_DAEMON_BYTE = 192 * MEBIBYTE
"""Memory for libvirtd, and for the QEMUs that it starts the first time to learn their abilities."""


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


def _files(spec: NodeSpec, machine: QemuMachine) -> description.Files:
    """The paths of the domain's files; makes the files that are not made with the machine."""
    spec.work.mkdir(parents=True, exist_ok=True)
    console.make(spec)
    return description.Files(
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


def _keep(spec: NodeSpec, join: Sequence[str], files: description.Files, machine: QemuMachine) -> None:
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
