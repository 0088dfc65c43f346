# SPDX-License-Identifier: Apache-2.0
"""Nodes in domains of Tare's own: its kernel and initramfs, the image as a disk, commands through a Xen console."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from tare.engines import engine
from tare.environments.qemu import inside
from tare.environments.xen import xl
from tare.environments.xen.brought import probe_xen
from tare.environments.xen.configuration import HVM, KINDS, OwnDomain, text
from tare.errors import NodeError
from tare.guests import channel
from tare.guests.boot import Boot, DiskLayer, MemoryLayer, SerialChannel
from tare.guests.disk import image_disk, layer_disk
from tare.guests.group import parse_kills
from tare.guests.initramfs import write_initramfs
from tare.guests.kernel import GuestKernel, find_kernel, needed_modules
from tare.guests.provider import GuestProvider
from tare.host import process
from tare.host.cgroups import Settings
from tare.nodes.provider import TOOLS_DIRECTORY, Node, NodeGroup, NodeSpec, Probe
from tare.records import NetworkKind, OptionValue, Storage

_LIMIT_S = 30.0
_MEBIBYTE = 1 << 20
_WORDS = "{console} quiet panic=-1{emulated} -- guest"
_LAYER_BYTE = 16 << 30
"""Apparent size of the disk for a guest's writes; its file takes only as much as is written."""
_PARAVIRTUAL = ("xen-blkfront", "erofs", "overlay", "ext4")
_EMULATED = ("ata_piix", "sd_mod", "erofs", "overlay", "ext4")


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
            kernel_of(self._options)
        except NodeError as error:
            return Probe(usable=False, reason=str(error), remedy="tare image kernel, or the option kernel")
        return probe

    def start(self, spec: NodeSpec) -> Node:
        engine.require(self.check_options(spec.options))
        refuse(spec)
        spec.work.mkdir(parents=True, exist_ok=True)
        domain = make(spec)
        configuration = spec.directory / "xl.cfg"
        configuration.write_text(text(domain.settings()))
        xl.create(str(configuration))
        channel.keep_connected(spec, [], domain.channel)
        seen = inside.look(channel.prefix(spec))
        verify(domain.kind, seen)
        information = xl.parse_info(xl.ask("info"))
        version = f"{information.get('xen_version')}, scheduler {information.get('xen_scheduler')}, type {domain.kind}"
        release = find_kernel(asked_kernel(spec.options)).release
        facts = {"Xen": version, "guest's kernel": release, "disk driver": ", ".join(_drivers(seen))}
        return Node(spec=spec, init_pid=None, facts=facts, own_kernel=True, machine=True)

    def group(self, node: Node) -> NodeGroup | None:
        return XenGroup(node.spec, channel.prefix(node.spec))

    def stop(self, spec: NodeSpec) -> None:
        """The keeper ends when its channel does."""
        if (spec.directory / "xl.cfg").exists():
            xl.destroy(spec.name)
        channel.release(spec)
        channel_of(spec).unlink(missing_ok=True)
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
