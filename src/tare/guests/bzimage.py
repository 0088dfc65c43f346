# SPDX-License-Identifier: Apache-2.0
"""The ELF file in a bzImage: a guest started with it need not unpack its kernel first.

A hypervisor starts an ELF kernel at the entry that a note in it names (PVH; CONFIG_PVH). Under software emulation a
guest takes about 2.5 s to unpack its kernel. Fields: the kernel's Documentation/arch/x86/boot.rst.
"""

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from tare.errors import NodeError
from tare.guests.compression import decompressed

_SECTOR_BYTE = 512
_SETUP_SECTORS, _BOOT_FLAG, _MAGIC, _VERSION, _RELEASE, _PAYLOAD = 0x1F1, 0x1FE, 0x202, 0x206, 0x20E, 0x248
_HEADER_BYTE = 0x250
_RELEASE_BASE = 0x200
_OLDEST_VERSION = 0x208
"""Version of the boot protocol: the first that says where the payload is."""
_DEFAULT_SETUP_SECTORS = 4
_LENGTH_BYTE = 4
"""The payload ends with its unpacked length."""
_BANNER = re.compile(rb"Linux version (\d[!-~]*) \(")
_PT_NOTE = 4
_PHYS32_ENTRY = 18
"""XEN_ELFNOTE_PHYS32_ENTRY (xen/interface/elfnote.h): where a PVH guest starts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BootImage:
    """A kernel in its quickest form to start."""

    release: str
    content: bytes
    direct: bool
    """Whether it is an ELF file with a PVH entry; else the bzImage as it was."""


def boot_image(content: bytes) -> BootImage:
    """The quickest form of a kernel's file; ``NodeError`` when no x86-64 guest can start it."""
    if content.startswith(b"\x7fELF"):
        return BootImage(release=_elf_release(content), content=content, direct=True)
    release = _release(content)
    inner = _payload(content)
    if inner is not None and has_pvh_entry(inner):
        return BootImage(release=release, content=inner, direct=True)
    return BootImage(release=release, content=content, direct=False)


def has_pvh_entry(content: bytes) -> bool:
    """Whether it is a 64-bit x86 ELF file (elf(5)) with the note that a PVH start needs."""
    if content[:6] != b"\x7fELF\x02\x01" or content[18:20] != b"\x3e\0":
        return False
    try:
        return any(_PHYS32_ENTRY in _xen_notes(part) for part in _note_parts(content))
    except struct.error:
        return False


def _elf_release(content: bytes) -> str:
    banner = _BANNER.search(content)
    if banner is None or not has_pvh_entry(content):
        raise NodeError(
            "this ELF file is no Linux kernel for x86-64 with a PVH entry (CONFIG_PVH); take its bzImage (vmlinuz)"
        )
    return banner[1].decode()


def _release(content: bytes) -> str:
    if len(content) < _HEADER_BYTE or content[_BOOT_FLAG : _BOOT_FLAG + 2] != b"\x55\xaa":
        raise NodeError(
            "this file is no Linux kernel for x86; take a bzImage (vmlinuz) or an ELF file (vmlinux)"
        )
    (offset,) = struct.unpack_from("<H", content, _RELEASE)
    words = content[_RELEASE_BASE + offset :].split(b"\0", 1)[0].decode(errors="replace").split()
    if content[_MAGIC : _MAGIC + 4] != b"HdrS" or not offset or not words:
        raise NodeError("this kernel does not say its release in its header; take a newer one")
    return words[0]


def _payload(content: bytes) -> bytes | None:
    """The unpacked kernel; ``None`` where the header does not say where it is, or its packing is not known."""
    (version,) = struct.unpack_from("<H", content, _VERSION)
    if version < _OLDEST_VERSION:
        return None
    offset, length = struct.unpack_from("<II", content, _PAYLOAD)
    start = ((content[_SETUP_SECTORS] or _DEFAULT_SETUP_SECTORS) + 1) * _SECTOR_BYTE + offset
    packed = content[start : start + length]
    if len(packed) < length or length <= _LENGTH_BYTE:
        raise NodeError("this kernel's file is cut short; get it anew")
    unpacked = decompressed(_stream(packed))
    (expected,) = struct.unpack("<I", packed[-_LENGTH_BYTE:])
    if unpacked is not None and len(unpacked) != expected:
        raise NodeError("this kernel's packed part has not the length that it names; get the file anew")
    return unpacked


def _stream(packed: bytes) -> bytes:
    """The stream without the length behind it, which zstd(1) would refuse; gzip's own last field is that length."""
    return packed if packed.startswith(b"\x1f\x8b") else packed[:-_LENGTH_BYTE]


def _note_parts(content: bytes) -> Iterator[bytes]:
    (table,) = struct.unpack_from("<Q", content, 32)
    size, count = struct.unpack_from("<HH", content, 54)
    for start in range(table, table + size * count, size or 1):
        (kind,) = struct.unpack_from("<I", content, start)
        if kind == _PT_NOTE:
            (offset,), (length,) = (struct.unpack_from("<Q", content, start + at) for at in (8, 32))
            yield content[offset : offset + length]


def _xen_notes(part: bytes) -> Iterator[int]:
    """The types of the notes that Xen defined; name and description are padded to four bytes."""
    at = 0
    while at + 12 <= len(part):
        name_byte, description_byte, kind = struct.unpack_from("<III", part, at)
        if part[at + 12 : at + 12 + name_byte] == b"Xen\0":
            yield kind
        at += 12 + (-(-name_byte // 4) + -(-description_byte // 4)) * 4
