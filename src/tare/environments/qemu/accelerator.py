# SPDX-License-Identifier: Apache-2.0
"""Whether KVM works, tested by booting a guest with a time limit: /dev/kvm may open and yet run no guest."""

import fcntl
import json
import os
import struct
from collections.abc import Sequence
from pathlib import Path

from tare.environments.qemu.command import PROGRAM, accelerator_words
from tare.environments.qemu.options import Accelerator
from tare.environments.qemu.processor import DIES_WITH_US
from tare.errors import NodeError
from tare.guests.initramfs import write_initramfs
from tare.guests.kernel import GuestKernel
from tare.host import process
from tare.host.paths import state_directory
from tare.host.scratch import scratch_folder
from tare.untrusted import object_from_json

BOOT_LIMIT_S = 10.0
"""For a guest that does nothing; with a working KVM it takes less than one second."""
CANNOT_BOOT = "/dev/kvm opens but cannot boot a guest"
WORDS = {Accelerator.KVM: "KVM", Accelerator.TCG: "TCG, software emulation: says nothing about KVM"}
"""An outcome's words for what ran its guests."""

_DEVICE = Path("/dev/kvm")
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_KERNEL_WORDS = "console=ttyS0 quiet panic=-1 no_timer_check"
_MEMORY = "256M"
WORD = b"TARE GUEST RUNS\n"

_BASE = 0x400000
_HEADERS_BYTE = 64 + 56
_WRITE, _REBOOT = 1, 169
_MAGIC, _MAGIC_2, _POWER_OFF = 0xFEE1DEAD, 672274793, 0x4321FEDC
_EXECUTABLE, _X86_64, _LOAD, _READ_AND_EXECUTE = 2, 62, 1, 5


def kvm_obstacle(kernel: GuestKernel, qemu_version: str) -> str | None:
    """Why no guest can run with KVM here; ``None`` if one boots.

    Tried once per boot of this host, QEMU and kernel, and then remembered.
    """
    if not _DEVICE.exists():
        return f"there is no {_DEVICE}"
    if not os.access(_DEVICE, os.R_OK | os.W_OK):
        return f"this user may not open {_DEVICE}"
    status = kernel.image.stat()
    key: list[str | int] = [
        _BOOT_ID.read_text().strip(),
        qemu_version,
        str(kernel.image.resolve()),
        status.st_mtime_ns,
        status.st_size,
    ]
    return _remembered(key, kernel)


def chosen(asked: Accelerator | None, obstacle: str | None) -> Accelerator:
    """The accelerator to use; ``NodeError`` when KVM was requested and does not work."""
    if asked is Accelerator.KVM and obstacle is not None:
        raise NodeError(f'{obstacle}: choose accelerator = "tcg" or "auto"')
    if asked is not None:
        return asked
    return Accelerator.KVM if obstacle is None else Accelerator.TCG


def boots(kernel: GuestKernel, accelerator: Accelerator, limit_s: float = BOOT_LIMIT_S) -> bool:
    """Whether a guest's first process runs in time; ``NodeError`` if there is no QEMU."""
    with scratch_folder("kvm") as folder:
        program = folder / "init"
        program.write_bytes(first_program())
        write_initramfs(folder / "initramfs", init=program, modules=[], boot="")
        process.run_checked([PROGRAM, "--version"])
        try:
            words = boot_words(kernel.image, folder / "initramfs", accelerator)
            done = process.run([*DIES_WITH_US, *words], timeout_s=limit_s)
        except NodeError:
            return False
    return WORD.decode().strip() in done.stdout


def boot_words(kernel: Path, initramfs: Path, accelerator: Accelerator) -> list[str]:
    """The argv of a machine without disk, network and channel, whose console is its standard output."""
    cpu = "host" if accelerator is Accelerator.KVM else "max"
    return [
        *(PROGRAM, "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"),
        *("-machine", "q35", "-accel", accelerator_words(accelerator), "-cpu", cpu, "-m", _MEMORY),
        *("-chardev", "stdio,id=console,signal=off", "-device", "isa-serial,chardev=console"),
        *("-kernel", str(kernel), "-initrd", str(initramfs), "-append", _KERNEL_WORDS),
    ]


def _remembered(key: Sequence[str | int], kernel: GuestKernel) -> str | None:
    """Remember whether KVM boots; one process at a time tries, and any that waited then know the outcome."""
    known = state_directory() / "kvm.json"
    try:
        known.parent.mkdir(parents=True, exist_ok=True)
        with known.open("a+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            remembered = _told(file.read(), key)
            if remembered is None:
                remembered = {"key": list(key), "boots": boots(kernel, Accelerator.KVM)}
                file.truncate(0)
                file.write(json.dumps(remembered))
    except OSError as error:
        raise NodeError(f"{known} cannot be written ({error.strerror}): set TARE_STATE") from error
    return None if remembered["boots"] else CANNOT_BOOT


def _told(text: str, key: Sequence[str | int]) -> dict[str, object] | None:
    """The remembered record, if it has the same key."""
    try:
        record = object_from_json(text)
    except ValueError:
        return None
    return record if record.get("key") == list(key) and isinstance(record.get("boots"), bool) else None


def first_program() -> bytes:
    """The whole file.

    The smallest first process of a guest: prints that it runs, and switches the machine off.

    It can test KVM before there is an image. An ELF file of one segment (elf(5)) with x86-64 code that makes two
    system calls (syscall(2)): write to the console, then reboot(2) with LINUX_REBOOT_CMD_POWER_OFF.
    """
    code = _code()
    size = _HEADERS_BYTE + len(code)
    identity = b"\x7fELF\x02\x01\x01" + bytes(9)
    entry = _BASE + _HEADERS_BYTE
    header = identity + struct.pack(
        *("<HHIQQQIHHHHHH", _EXECUTABLE, _X86_64, 1, entry, 64, 0, 0, 64, 56, 1, 64, 0, 0)
    )
    segment = struct.pack("<IIQQQQQQ", _LOAD, _READ_AND_EXECUTE, 0, _BASE, _BASE, size, size, 0x1000)
    return header + segment + code


def _code() -> bytes:
    """write(1, WORD, its length); reboot(MAGIC, MAGIC_2, POWER_OFF); then nothing, forever."""
    off = _call(_REBOOT, _MAGIC, _MAGIC_2, _POWER_OFF) + b"\xeb\xfe"
    length = len(_call(_WRITE, 1, 0, 0))
    word = _BASE + _HEADERS_BYTE + length + len(off)
    return _call(_WRITE, 1, word, len(WORD)) + off + WORD


def _call(number: int, first: int, second: int, third: int) -> bytes:
    """Four mov instructions, to eax, edi, esi and edx; then syscall."""
    loads = zip((0xB8, 0xBF, 0xBE, 0xBA), (number, first, second, third), strict=True)
    return b"".join(struct.pack("<BI", code, value) for code, value in loads) + b"\x0f\x05"
