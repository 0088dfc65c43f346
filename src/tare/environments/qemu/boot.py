# SPDX-License-Identifier: Apache-2.0
"""From a node to its planned machine: its disks, its initramfs, and all settings for QEMU."""

from collections.abc import Sequence
from ipaddress import IPv4Address
from pathlib import Path

from tare.environments.qemu import host, snapshot
from tare.environments.qemu.accelerator import chosen, kvm_obstacle
from tare.environments.qemu.command import GuestLink, QemuMachine
from tare.environments.qemu.options import Accelerator, BindWay, Devices, QemuOptions, StartWay
from tare.errors import NodeError
from tare.guests.boot import Boot, DiskLayer, GuestBind, MemoryLayer
from tare.guests.disk import image_disk, layer_disk
from tare.guests.initramfs import write_initramfs
from tare.guests.kernel import GuestKernel, find_kernel, needed_modules
from tare.nodes.provider import TOOLS_DIRECTORY, NodeSpec
from tare.records import NetworkKind, Storage
from tare.units import MEBIBYTE, format_byte

PREFIX_LENGTH = 16
"""Prefix length of ``tare.network.SUBNET``, which holds the addresses of nodes with a link."""
LAYER_BYTE = 16 << 30
"""Apparent size of the disk for a guest's writes; its file takes only as much as is written."""
LEAST_MEMORY_BYTE = 128 * MEBIBYTE
"""With less, the kernel does not reach its first process."""

_USER_ADDRESS, _USER_GATEWAY = "10.0.2.15/24", "10.0.2.2"
"""QEMU's defaults for its user-space network."""
_LAYER = "layer.img"


def accelerator_of(options: QemuOptions, kernel: GuestKernel) -> Accelerator:
    """The guest's accelerator; ``NodeError`` when KVM was requested and does not work."""
    if options.accelerator is Accelerator.TCG:
        return Accelerator.TCG
    return chosen(options.accelerator, kvm_obstacle(kernel, host.qemu_version()))


def plan(spec: NodeSpec) -> QemuMachine:
    """Plan the machine; nothing of it is made yet except the image's disk."""
    options = QemuOptions.of(spec.options)
    _refuse(spec, options)
    kernel = find_kernel(options.kernel)
    accelerator = accelerator_of(options, kernel)
    return QemuMachine(
        name=spec.name,
        accelerator=accelerator,
        options=options,
        processors=len(spec.processors),
        memory_byte=spec.memory_byte,
        kernel=kernel.image,
        image_disk=image_disk(spec.image_root, spec.image_digest),
        layer_disk=_LAYER if spec.storage is Storage.DISK else None,
        link=_link(spec, host.uses_vhost(options, accelerator)),
        binds=spec.binds,
        tsc_khz=host.tsc_khz(spec.image_root) if accelerator is Accelerator.TCG else None,
        huge_pages=host.huge_pages_for(spec.memory_byte) if options.huge_pages else None,
        processes=spec.bounds.processes,
    )


def make(spec: NodeSpec, machine: QemuMachine) -> None:
    """Make the initramfs and, if the machine has one, the disk for the guest's writes, in the node's folder."""
    if machine.layer_disk is not None:
        layer_disk(spec.directory / machine.layer_disk, LAYER_BYTE)
    kernel = find_kernel(machine.options.kernel)
    modules = needed_modules(kernel, machine.devices.modules(machine.needs))
    write_initramfs(
        spec.directory / "initramfs",
        init=Path(f"{spec.image_root}{TOOLS_DIRECTORY}/init"),
        modules=modules,
        boot=_boot(spec, machine, modules).text(),
    )


def _boot(spec: NodeSpec, machine: QemuMachine, modules: Sequence[Path]) -> Boot:
    devices = machine.devices
    address, gateway = _address(spec)
    return Boot(
        channel=devices.channel,
        modules=modules,
        root_device=devices.disk_name(0),
        layer=MemoryLayer(size_byte=spec.memory_byte)
        if machine.layer_disk is None
        else DiskLayer(device=devices.disk_name(1)),
        shm_byte=spec.shm_byte,
        name=spec.name,
        address=address,
        gateway=gateway,
        binds=[
            GuestBind(
                tag=f"bind{number}", target=str(bind.path), writable=bind.writable, kind=machine.options.share
            )
            for number, bind in enumerate(spec.binds)
        ],
    )


def _link(spec: NodeSpec, vhost: bool) -> GuestLink | None:
    network = spec.network
    if network.kind is NetworkKind.NONE:
        return None
    if network.kind is NetworkKind.DEFAULT:
        return GuestLink(tap=None)
    number = int(IPv4Address(network.address or 0)) & 0xFFFF
    return GuestLink(tap=network.tap, number=number, vhost=vhost)


def _address(spec: NodeSpec) -> tuple[str | None, str | None]:
    """The address of the guest's interface in CIDR notation, and its gateway."""
    if spec.network.kind is NetworkKind.DEFAULT:
        return _USER_ADDRESS, _USER_GATEWAY
    address = spec.network.address
    return (None if address is None else f"{address}/{PREFIX_LENGTH}"), None


def _refuse(spec: NodeSpec, options: QemuOptions) -> None:
    """Raise ``NodeError`` for a machine that cannot exist."""
    if spec.binds and options.devices is Devices.EMULATED:
        raise NodeError(
            "a directory of the host reaches a guest by a paravirtual device, so one with emulated devices has none: "
            "leave binds out, or choose devices = paravirtual"
        )
    if options.share is BindWay.VIRTIOFS and (guarded := [bind for bind in spec.binds if not bind.writable]):
        raise NodeError(
            f"QEMU's virtiofsd lets a guest write to all that it serves, and {guarded[0].path} is to be read only: "
            'bind it with ":rw", or choose share = 9p'
        )
    if options.start is StartWay.SNAPSHOT and (why := snapshot.obstacle(spec)):
        raise NodeError(f"{why}, or start = boot")
    if spec.memory_byte < LEAST_MEMORY_BYTE:
        raise NodeError(
            f"a guest needs {format_byte(LEAST_MEMORY_BYTE)} of memory to start, and is to have "
            f"{format_byte(spec.memory_byte)}: give the layout more, or fewer nodes"
        )
    if spec.network.kind is NetworkKind.DEFAULT and spec.index > 0:
        raise NodeError(
            "QEMU's own network of user space leads each guest to the host alone, so there is one node: choose veth"
        )
