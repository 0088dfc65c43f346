# SPDX-License-Identifier: Apache-2.0
"""The ``qemu`` environment's machine as a libvirt domain: the same devices, in libvirt's format.

Source: libvirt's domain XML format.
"""

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tare.environments.libvirt.once import add_processors, element
from tare.environments.qemu.command import QemuMachine, kernel_words
from tare.environments.qemu.devices import PORT
from tare.environments.qemu.options import Accelerator
from tare.nodes.provider import Bind

_KIBIBYTE = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainFiles:
    """The files that a domain needs by full path, besides the files named by its machine."""

    initramfs: Path
    image: Path
    """The image's disk; for emulated disks, which cannot be read-only, a throw-away layer over it (qcow2)."""
    layer: Path | None
    channel: Path
    """The Unix socket that carries commands."""
    console: Path


def described(machine: QemuMachine, processors: Sequence[int], files: DomainFiles) -> str:
    """The whole domain, each virtual processor pinned to its own of these."""
    kvm = machine.accelerator is Accelerator.KVM
    domain = ET.Element("domain", type="kvm" if kvm else "qemu")
    element(domain, "name", machine.name)
    for tag in ("memory", "currentMemory"):
        element(domain, tag, str(machine.memory_byte // _KIBIBYTE), unit="KiB")
    add_processors(domain, processors, None, pinned=True)
    _add_boot(domain, machine, files)
    _add_processor_kind(domain, machine)
    element(domain, "clock", offset="utc")
    for event in ("on_poweroff", "on_reboot", "on_crash"):
        element(domain, event, "destroy")
    _add_devices(element(domain, "devices"), machine, files)
    return ET.tostring(domain, encoding="unicode")


def _add_boot(domain: ET.Element, machine: QemuMachine, files: DomainFiles) -> None:
    system = element(domain, "os")
    element(system, "type", "hvm", arch="x86_64", machine=machine.options.machine)
    element(system, "kernel", str(machine.kernel))
    element(system, "initrd", str(files.initramfs))
    element(system, "cmdline", kernel_words(machine))


def _add_processor_kind(domain: ET.Element, machine: QemuMachine) -> None:
    kvm, hidden = machine.accelerator is Accelerator.KVM, not machine.devices.paravirtual
    features = element(domain, "features")
    element(features, "acpi")
    element(features, "apic")
    if kvm and hidden:
        element(element(features, "kvm"), "hidden", state="on")
    cpu = element(domain, "cpu", mode="host-passthrough" if kvm else "maximum")
    if hidden:
        element(cpu, "feature", policy="disable", name="hypervisor")


def _add_devices(devices: ET.Element, machine: QemuMachine, files: DomainFiles) -> None:
    paravirtual = machine.devices.paravirtual
    element(devices, "controller", type="usb", model="none")
    element(devices, "memballoon", model="none")
    _add_disk(devices, machine, files.image, 0)
    if files.layer is not None:
        _add_disk(devices, machine, files.layer, 1)
    for number, bound in enumerate(machine.binds):
        _add_bind(devices, number, bound)
    if machine.link is not None:
        link = element(devices, "interface", type="user")
        element(link, "model", type="virtio" if paravirtual else "e1000")
    _add_serial(devices, "file", files.console, 0)
    if not paravirtual:
        _add_serial(devices, "unix", files.channel, 1)
        return
    port = element(devices, "channel", type="unix")
    element(port, "source", mode="bind", path=str(files.channel))
    element(port, "target", type="virtio", name=PORT)


def _add_disk(devices: ET.Element, machine: QemuMachine, path: Path, number: int) -> None:
    """Disk 0 is the image's, which all nodes share."""
    bus, device = "virtio", "vd"
    if not machine.devices.paravirtual:
        bus, device = ("sata", "sd") if machine.options.is_q35 else ("ide", "hd")
    disk = element(devices, "disk", type="file", device="disk")
    element(disk, "driver", name="qemu", type="qcow2" if path.suffix == ".qcow2" else "raw")
    element(disk, "source", file=str(path))
    element(disk, "target", dev=f"{device}{'ab'[number]}", bus=bus)
    if number == 0 and bus == "virtio":
        element(disk, "readonly")


def _add_serial(devices: ET.Element, kind: str, path: Path, port: int) -> None:
    serial = element(devices, "serial", type=kind)
    element(serial, "source", path=str(path), **({"mode": "bind"} if kind == "unix" else {}))
    element(element(serial, "target", type="isa-serial", port=str(port)), "model", name="isa-serial")


def _add_bind(devices: ET.Element, number: int, bound: Bind) -> None:
    """``squash``: this QEMU may not give files to other users, and a guest must not fail for that reason."""
    folder = element(devices, "filesystem", type="mount", accessmode="squash")
    element(folder, "source", dir=str(bound.path))
    element(folder, "target", dir=f"bind{number}")
    if not bound.writable:
        element(folder, "readonly")
