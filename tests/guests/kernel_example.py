# SPDX-License-Identifier: Apache-2.0
"""Small files that are laid out as kernels are: an ELF file with a PVH entry, and a bzImage around one."""

import struct
from pathlib import Path

from tests.conftest import REPOSITORY

OUTPUTS = REPOSITORY / "tests" / "outputs" / "guest"
MODULES = OUTPUTS / "modules"
RELEASE = "6.1.0-56-amd64"
_SETUP_BYTE, _INNER_OFFSET = 5 * 512, 64
_NAME_AT = 0x400


def elf(*, note_type: int = 18, release: str = RELEASE) -> bytes:
    """One program header, a PT_NOTE with one note of Xen's, and the kernel's banner."""
    note = struct.pack("<III", 4, 8, note_type) + b"Xen\0" + bytes(8)
    other = struct.pack("<III", 5, 3, 1) + b"Else\0".ljust(8, b"\0") + b"abc\0"
    header = b"\x7fELF\x02\x01\x01".ljust(16, b"\0") + struct.pack("<HHIQQQ", 2, 0x3E, 1, 0, 64, 0)
    header += struct.pack("<IHHHHHH", 0, 64, 56, 1, 0, 0, 0)
    notes = other + note
    segment = struct.pack("<IIQQQQQQ", 4, 0, 64 + 56, 0, 0, len(notes), len(notes), 4)
    banner = f"Linux version {release} (someone@somewhere) #1 SMP\0".encode()
    return header + segment + notes + banner.ljust(4096, b"\0")


def bzimage(packed: bytes, *, unpacked_byte: int, version: int = 0x20F, release: str = RELEASE) -> bytes:
    """``packed`` in a boot sector, four setup sectors and some code; gzip's own end is the unpacked length."""
    ends = b"" if packed.startswith(b"\x1f\x8b") else struct.pack("<I", unpacked_byte)
    payload = packed + ends
    head = bytearray(_SETUP_BYTE + _INNER_OFFSET)
    head[0x1F1] = 0  # as old kernels say four setup sectors
    head[0x1FE:0x200] = b"\x55\xaa"
    head[0x202:0x206] = b"HdrS"
    struct.pack_into("<H", head, 0x206, version)
    struct.pack_into("<H", head, 0x20E, _NAME_AT - 0x200)
    struct.pack_into("<II", head, 0x248, _INNER_OFFSET, len(payload))
    name = f"{release} (someone@somewhere) #1 SMP".encode() + b"\0"
    head[_NAME_AT : _NAME_AT + len(name)] = name
    return bytes(head) + payload + b"what follows"


def keep(kernels: Path, release: str, *, direct: bool = True, modules: bool = True) -> Path:
    """A kernel in the store."""
    folder = kernels / release
    folder.mkdir(parents=True)
    (folder / ("vmlinux" if direct else "vmlinuz")).write_bytes(elf(release=release))
    (folder / "about.json").write_text(f'{{"schema": 1, "release": "{release}", "origin": "a test"}}\n')
    if modules:
        (folder / "modules").symlink_to(MODULES)
    return folder
