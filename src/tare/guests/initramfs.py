# SPDX-License-Identifier: Apache-2.0
"""The first root filesystem of a guest: its first process, that process's settings, and the modules that it loads."""

import os
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tare.errors import NodeError
from tare.guests.boot import MODULES_FOLDER

_MAGIC = b"070701"
_END = "TRAILER!!!"
_ALIGNMENT_BYTE = 4
_FOLDERS = ("dev", "proc", "sys", MODULES_FOLDER.strip("/"))
_CONSOLE = ("dev/console", 5, 1)
"""Without it the first process has no standard files (the kernel's Documentation/admin-guide/devices.txt)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CpioEntry:
    """A file, a folder or a device in the archive; owned by root, without a time."""

    name: str
    """Its path without a leading slash; its folder comes before it."""
    mode: int
    """Type and permissions, as in ``st_mode`` (inode(7))."""
    content: bytes = b""
    device: int = 0
    """``os.makedev`` of a device node."""


def folder(name: str) -> CpioEntry:
    return CpioEntry(name=name, mode=stat.S_IFDIR | 0o755)


def file(name: str, content: bytes, permissions: int = 0o644) -> CpioEntry:
    return CpioEntry(name=name, mode=stat.S_IFREG | permissions, content=content)


def character_device(name: str, major: int, minor: int) -> CpioEntry:
    return CpioEntry(name=name, mode=stat.S_IFCHR | 0o600, device=os.makedev(major, minor))


def archive(entries: Iterable[CpioEntry]) -> bytes:
    """The whole archive with its end mark, uncompressed."""
    parts = [_packed(entry, number) for number, entry in enumerate(entries, 1)]
    return b"".join([*parts, _packed(CpioEntry(name=_END, mode=0), 0)])


def _packed(entry: CpioEntry, inode: int) -> bytes:
    name = os.fsencode(entry.name) + b"\0"
    numbers = (
        *(inode, entry.mode, 0, 0, 1, 0, len(entry.content)),  # owner, group; one link; no time
        *(0, 0, os.major(entry.device), os.minor(entry.device), len(name), 0),  # on no device; no checksum
    )
    header = _MAGIC + b"".join(b"%08x" % number for number in numbers)
    return _padded(header + name) + _padded(entry.content)


def _padded(content: bytes) -> bytes:
    return content + bytes(-len(content) % _ALIGNMENT_BYTE)


def write_initramfs(path: Path, *, init: Path, modules: Sequence[Path], boot: str) -> None:
    """Write an uncompressed archive of /init, /boot.conf, /dev/console and /modules.

    ``init`` is the static program of that name, ``boot`` the text of ``Boot``, ``modules`` the files in its lines.
    Takes about 20 ms. ``NodeError`` names a file that cannot be read or written.
    """
    entries = [*map(folder, _FOLDERS), character_device(*_CONSOLE)]
    try:
        entries.append(file("init", init.read_bytes(), 0o755))
        entries.append(file("boot.conf", boot.encode()))
        entries += [file(_place(module), module.read_bytes()) for module in modules]
        path.write_bytes(archive(entries))
    except OSError as error:
        raise NodeError(
            f"the guest's initramfs cannot be made: {error.filename}: {error.strerror}; if it is of the image, "
            "run: tare image build"
        ) from error


def _place(module: Path) -> str:
    return f"{MODULES_FOLDER.strip('/')}/{module.name}"
