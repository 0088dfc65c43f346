# SPDX-License-Identifier: Apache-2.0
"""A writer of cpio archives in the "newc" format, which the kernel unpacks as its initramfs.

Format: the kernel's Documentation/driver-api/early-userspace/buffer-format.rst. Each entry is a header of 13 numbers of
eight hexadecimal digits, the name with a zero byte, and the contents, each padded to four bytes.
"""

import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass

_MAGIC = b"070701"
_END = "TRAILER!!!"
_ALIGNMENT_BYTE = 4


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
