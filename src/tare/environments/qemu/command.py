# SPDX-License-Identifier: Apache-2.0
"""The argv that starts a machine: a pure function of its description (qemu-system-x86_64(1))."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tare.environments.qemu.devices import DeviceSet, Needs
from tare.environments.qemu.options import Accelerator, BindWay, Devices, QemuOptions
from tare.guests.group import kernel_processes
from tare.nodes.provider import Bind

PROGRAM = "qemu-system-x86_64"
TRANSLATED_MEBIBYTE = 256
"""Translated code that software emulation may keep; stated, as its default depends on the guest's memory."""

_PLAIN = ("-nodefaults", "-no-user-config", "-display", "none", "-no-reboot")
_HARDWARE = "52:54:00:12"
_KERNEL = ("console=ttyS0", "quiet", "panic=-1", "no_timer_check", "sysctl.vm.overcommit_memory=1")
"""A panic ends the machine at once; on a busy host the timer check fails without reason. Memory may be overcommitted,
as in a control group of a large host: a process that touches too much is killed, not refused beforehand."""
_FIRST_PROCESS = ("--", "guest")
"""The first process's arguments: its role."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GuestLink:
    """How the guest's one network interface is connected."""

    tap: str | None
    """The tap device to open; ``None``: QEMU's own user-space network."""
    number: int = 0
    """Distinguishes the guests of one network."""
    vhost: bool = False

    @property
    def hardware_address(self) -> str:
        return f"{_HARDWARE}:{self.number >> 8:02x}:{self.number & 0xFF:02x}"

    def words(self) -> list[str]:
        if self.tap is None:
            return ["-netdev", "user,id=link"]
        vhost = "on" if self.vhost else "off"
        return ["-netdev", f"tap,id=link,ifname={self.tap},script=no,downscript=no,vhost={vhost}"]


@dataclass(frozen=True, slots=True, kw_only=True)
class QemuMachine:
    """Everything that determines the command line. Relative paths start at the node's folder, where QEMU is started."""

    name: str
    accelerator: Accelerator
    options: QemuOptions
    processors: int
    memory_byte: int
    kernel: Path
    image_disk: Path
    layer_disk: str | None = None
    link: GuestLink | None = None
    binds: tuple[Bind, ...] = ()
    tsc_khz: int | None = None
    """Rate of the host's time stamp counter, where it is known."""
    huge_pages: Path | None = None
    """The mount of huge pages, if the guest's memory uses them."""
    processes: int | None = None
    """The most that the guest may have, besides its kernel's own."""

    @property
    def devices(self) -> DeviceSet:
        return DeviceSet(options=self.options)

    @property
    def needs(self) -> Needs:
        return Needs(
            link=self.link is not None, layer_disk=self.layer_disk is not None, binds=len(self.binds)
        )

    @property
    def shares_memory(self) -> bool:
        """Whether another process than QEMU moves data into the guest's memory."""
        return bool(self.binds) and self.options.share is BindWay.VIRTIOFS

    @property
    def cpu(self) -> str:
        return cpu_words(self.options, self.accelerator)


def argv(machine: QemuMachine) -> list[str]:
    """QEMU with all its arguments."""
    link = machine.link
    return [
        *(PROGRAM, "-name", f"guest={_escaped(machine.name)},debug-threads=on", *_PLAIN),
        *(
            "-machine",
            _machine(machine),
            "-accel",
            accelerator_words(machine.accelerator),
            "-cpu",
            machine.cpu,
        ),
        *("-smp", f"cpus={machine.processors},sockets=1,cores={machine.processors},threads=1"),
        *_memory(machine),
        *("-rtc", "base=utc,clock=host", "-qmp", "unix:qmp,server=on,wait=off"),
        *("-kernel", str(machine.kernel), "-initrd", "initramfs", "-append", kernel_words(machine)),
        *_drives(machine),
        *_binds(machine),
        *([] if link is None else link.words()),
        *machine.devices.words(machine.needs, "" if link is None else link.hardware_address),
    ]


def accelerator_words(accelerator: Accelerator) -> str:
    """QEMU's option -accel."""
    if accelerator is Accelerator.KVM:
        return "kvm"
    return f"tcg,thread=multi,tb-size={TRANSLATED_MEBIBYTE}"


def cpu_words(options: QemuOptions, accelerator: Accelerator) -> str:
    """QEMU's option -cpu: by default all of the accelerator's features; emulated devices hide the hypervisor."""
    if options.cpu is not None:
        return options.cpu
    model = "host" if accelerator is Accelerator.KVM else "max"
    if options.devices is Devices.PARAVIRTUAL:
        return model
    hidden = ",kvm=off" if accelerator is Accelerator.KVM else ""
    return f"{model}{hidden},-hypervisor"


def kernel_words(machine: QemuMachine) -> str:
    """The kernel's command line (the kernel's admin-guide/kernel-parameters.rst).

    With software emulation on a busy host, the kernel would measure its clock's rate wrongly, so the rate is passed.
    """
    words = [*_KERNEL]
    if machine.options.devices is Devices.EMULATED:
        words.append("nopv")
    if machine.accelerator is Accelerator.TCG and machine.tsc_khz is not None:
        words += [f"tsc_early_khz={machine.tsc_khz}", "tsc=reliable"]
    if machine.processes is not None:
        words.append(f"sysctl.kernel.threads-max={kernel_processes(machine.processes, machine.processors)}")
    return " ".join([*words, *_FIRST_PROCESS])


def _machine(machine: QemuMachine) -> str:
    backed = ",memory-backend=memory" if machine.huge_pages is not None or machine.shares_memory else ""
    return f"{machine.options.machine}{backed}"


def _memory(machine: QemuMachine) -> Iterator[str]:
    yield from ("-m", f"{machine.memory_byte}B")
    shared = ",share=on" if machine.shares_memory else ""
    if machine.huge_pages is not None:
        place = f"mem-path={_escaped(machine.huge_pages)},prealloc=on{shared}"
        yield from ("-object", f"memory-backend-file,id=memory,size={machine.memory_byte},{place}")
    elif machine.shares_memory:
        yield from ("-object", f"memory-backend-memfd,id=memory,size={machine.memory_byte}{shared}")


def _drives(machine: QemuMachine) -> Iterator[str]:
    """The drives; writes to the image's disk are discarded with the machine, and there should be none."""
    image = f"file={_escaped(machine.image_disk)},format=raw,snapshot=on"
    yield from ("-drive", f"if=none,id=image,{image}")
    if machine.layer_disk is not None:
        yield from ("-drive", f"if=none,id=layer,file={machine.layer_disk},format=raw")


def _binds(machine: QemuMachine) -> Iterator[str]:
    for number, bind in enumerate(machine.binds):
        if machine.shares_memory:
            yield from ("-chardev", f"socket,id=bind{number},path=bind{number}")
            continue
        guarded = "" if bind.writable else ",readonly=on"
        path = f"path={_escaped(bind.path)},security_model=passthrough,multidevs=remap{guarded}"
        yield from ("-fsdev", f"local,id=bind{number},{path}")


def _escaped(value: Path | str) -> str:
    """Escape commas, which would end the value."""
    return str(value).replace(",", ",,")
