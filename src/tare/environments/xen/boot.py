# SPDX-License-Identifier: Apache-2.0
"""The boot files of a domain of Tare's own: kernel, initramfs and disks, and its first process's settings."""

from collections.abc import Mapping
from pathlib import Path

from tare.environments.xen.configuration import HVM, KINDS, OwnDomain
from tare.errors import NodeError
from tare.guests.boot import Boot, DiskLayer, MemoryLayer, SerialChannel
from tare.guests.disk import image_disk, layer_disk
from tare.guests.initramfs import write_initramfs
from tare.guests.kernel import GuestKernel, find_kernel, needed_modules
from tare.host import process
from tare.nodes.provider import TOOLS_DIRECTORY, NodeSpec
from tare.records import NetworkKind, OptionValue, Storage

_WORDS = "{console} quiet panic=-1{emulated} -- guest"
_LAYER_BYTE = 16 << 30
"""Apparent size of the disk for a guest's writes; its file takes only as much as is written."""
_PARAVIRTUAL = ("xen-blkfront", "erofs", "overlay", "ext4")
_EMULATED = ("ata_piix", "sd_mod", "erofs", "overlay", "ext4")


def asked_kernel(options: Mapping[str, OptionValue]) -> str | None:
    release = options.get("kernel")
    return None if release is None else str(release)


def kind_of(options: Mapping[str, OptionValue]) -> str:
    return str(options.get("type", KINDS[0]))


def kernel_of(options: Mapping[str, OptionValue]) -> GuestKernel:
    """The kernel; ``NodeError`` when there is none, or none that this kind of domain can start."""
    guest_kernel = find_kernel(asked_kernel(options))
    if kind_of(options) == HVM and guest_kernel.direct:
        raise NodeError(
            f"an HVM domain starts no ELF file as {guest_kernel.image} is: name a bzImage by the option kernel"
        )
    return guest_kernel


def refuse(spec: NodeSpec) -> None:
    """Raise ``NodeError`` for a domain of Tare's own that cannot exist."""
    if spec.network.kind is not NetworkKind.NONE:
        raise NodeError(f"a Xen domain of Tare's own has no network {spec.network.kind}; choose none")
    if spec.binds:
        raise NodeError("a Xen domain of Tare's own cannot see a directory of the host: leave binds out")


def make(spec: NodeSpec) -> OwnDomain:
    """Write everything that the domain boots from into the node's folder."""
    kind, kernel = kind_of(spec.options), kernel_of(spec.options)
    layer = spec.directory / "layer.img" if spec.storage is Storage.DISK else None
    if layer is not None:
        layer_disk(layer, _LAYER_BYTE)
    modules = needed_modules(kernel, _EMULATED if kind == HVM else _PARAVIRTUAL)
    disk = "/dev/sd" if kind == HVM else "/dev/xvd"
    boot = Boot(
        channel=SerialChannel(device="/dev/ttyS1" if kind == HVM else "/dev/hvc1"),
        modules=modules,
        root_device=f"{disk}a",
        layer=MemoryLayer(size_byte=spec.memory_byte) if layer is None else DiskLayer(device=f"{disk}b"),
        shm_byte=spec.shm_byte,
        name=spec.name,
    )
    initramfs = spec.directory / "initramfs"
    program = Path(f"{spec.image_root}{TOOLS_DIRECTORY}/init")
    write_initramfs(initramfs, init=program, modules=modules, boot=boot.text())
    image = image_disk(spec.image_root, spec.image_digest)
    return OwnDomain(
        spec=spec,
        kind=kind,
        kernel=kernel.image,
        initramfs=initramfs,
        command_line=_command_line(kind),
        image=_layered(spec, image) if kind == HVM else image,
        layer=layer,
        channel=channel_of(spec),
    )


def channel_of(spec: NodeSpec) -> Path:
    """A short path, since it is a socket's (unix(7): 107 bytes)."""
    return Path("/run") / f"{spec.name}-channel"


def _command_line(kind: str) -> str:
    """``xen_emul_unplug``: otherwise the kernel removes the emulated disk when it finds Xen's own."""
    if kind == HVM:
        return _WORDS.format(console="console=ttyS0", emulated=" nopv xen_emul_unplug=never")
    return _WORDS.format(console="console=hvc0", emulated="")


def _layered(spec: NodeSpec, disk: Path) -> Path:
    """A layer over the image's disk: an emulated disk cannot be read-only (qemu-img(1))."""
    made = spec.directory / "image.qcow2"
    process.run_checked(["qemu-img", "create", "-q", "-f", "qcow2", "-F", "raw", "-b", str(disk), str(made)])
    return made
