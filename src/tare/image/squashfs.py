# SPDX-License-Identifier: Apache-2.0
"""SIF and squashfs files, as Apptainer, SingularityCE and enroot make them, unpacked to a folder.

A SIF holds a header, a table of descriptors and their data; the root filesystem is the primary system partition.
Sources: the SIF specification (github.com/apptainer/sif, pkg/sif), squashfs's superblock (kernel.org, squashfs.rst),
unsquashfs(1). Nothing in the file is run; its entries are counted before any is made.
"""

import os
import re
import stat
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from tare.errors import ImageError, InputError
from tare.image.limits import Account, bounded
from tare.image.tool import Progress, require_tools, run_tool

_MAGIC = b"SIF_MAGIC\0"
_HEADER = struct.Struct("<32s10s3s3s16s8q")
"""Launch script, magic, version, architecture, id; then times, and counts and places of descriptors and data."""
_DESCRIPTOR = struct.Struct("<i?III7q128s384s")
_PARTITION = struct.Struct("<ii3s")
_DATA_PARTITION, _SQUASHFS, _PRIMARY = 0x4004, 1, 2
_ARCHITECTURES = {b"02": "x86_64", b"04": "aarch64"}
_SQUASHFS_MAGIC = b"hsqs"
_MOST_DESCRIPTORS = 1000
_LIMIT_S = 900.0
_ENTRY = re.compile(
    r"([-dlbcps])\S{9} \d+/\d+\s+(\d+)(?:,\s*\d+)? \d{4}-\d\d-\d\d \d\d:\d\d squashfs-root(?:/(.*?))?(?: -> .*)?"
)
"""A line of ``unsquashfs -lln``: kind and rights, owner, size or device numbers, time, path."""


def partition_offset(file: Path) -> int | None:
    """Where the squashfs of a SIF or squashfs file begins; ``None`` if it is neither.

    ``InputError`` for a SIF that is broken, for another processor, or has another file system.
    """
    with file.open("rb") as opened:
        head = opened.read(_HEADER.size)
        if head[:4] == _SQUASHFS_MAGIC:
            return 0
        if len(head) < _HEADER.size or head[32:42] != _MAGIC:
            return None
        return _primary(opened, head)


def _primary(opened: BinaryIO, head: bytes) -> int:
    *_, total, start, _, _, _ = _HEADER.unpack(head)
    size_byte = os.fstat(opened.fileno()).st_size
    if not (0 < total <= _MOST_DESCRIPTORS and 0 < start < size_byte):
        raise InputError("The SIF file is broken: its header names no descriptors.")
    opened.seek(start)
    for _ in range(total):
        content = opened.read(_DESCRIPTOR.size)
        if len(content) < _DESCRIPTOR.size:
            raise InputError("The SIF file is cut short within its descriptors.")
        kind, used, _, _, _, offset, *_, extra = _DESCRIPTOR.unpack(content)
        filesystem, role, architecture = _PARTITION.unpack(extra[: _PARTITION.size])
        if used and kind == _DATA_PARTITION and role == _PRIMARY:
            if not 0 < offset < size_byte:
                raise InputError("The SIF file is cut short: its root file system is not in it.")
            _check(filesystem, architecture[:2])
            return int(offset)
    raise InputError("The SIF file holds no root file system; it may hold data alone.")


def _check(filesystem: int, architecture: bytes) -> None:
    if filesystem != _SQUASHFS:
        raise InputError("The root file system in the SIF is no squashfs; it may be encrypted or ext3.")
    wanted = _ARCHITECTURES.get(architecture)
    if wanted is not None and wanted != os.uname().machine:
        raise InputError(f"The SIF is for {wanted}, and this host is {os.uname().machine}.")


def unpack_squashfs(file: Path, offset: int, root: Path, progress: Progress, account: Account) -> None:
    """Fill the new folder ``root``; device nodes are left out. Raises ``InputError``, or ``HostError`` for no room."""
    require_tools({"unsquashfs": "squashfs-tools"})
    progress(f"listing {file}")
    devices = _counted(file, offset, account)
    account.devices += devices
    progress(f"unpacking {file}")
    excluded = root.with_name("excluded")
    excluded.write_text("".join(f"{path}\n" for path in devices))
    argv = ["unsquashfs", "-o", str(offset), "-no-progress", "-quiet", "-dest", str(root)]
    if devices:
        argv += ["-exclude-file", str(excluded)]
    _unsquash([*argv, str(file)], file)
    excluded.unlink()
    _remove_devices(root)


def _counted(file: Path, offset: int, account: Account) -> list[str]:
    """Count every entry before it is made; return the device nodes, but for those with a line break in their names."""
    devices: list[str] = []
    before = account.entries

    def count(line: str) -> None:
        if entry := _ENTRY.fullmatch(line.rstrip("\n")):
            account.add(entry[3] or "", int(entry[2]) if entry[1] == "-" else 0)
            if entry[1] in "bc":
                devices.append(entry[3] or "")

    _unsquash(["unsquashfs", "-o", str(offset), "-lln", str(file)], file, count)
    if account.entries - before < _inodes(file, offset):
        raise InputError(f"{file} is refused: its listing is not whole.")
    account.require_free(account.size_byte)
    return devices


def _unsquash(argv: Sequence[str], file: Path, on_line: Progress | None = None) -> None:
    """``InputError`` with its own words when it fails: the file is what it got from the user."""
    try:
        run_tool(bounded(argv), limit_s=_LIMIT_S, on_line=on_line)
    except ImageError as error:
        raise InputError(f"{file} cannot be unpacked; it may be cut short or broken. {error}") from None


def _remove_devices(root: Path) -> None:
    """Remove device nodes whose names could not be listed."""
    for folder, _, names in os.walk(root):
        for path in (Path(folder, name) for name in names):
            mode = path.lstat().st_mode
            if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
                path.unlink()


def _inodes(file: Path, offset: int) -> int:
    with file.open("rb") as opened:
        opened.seek(offset + len(_SQUASHFS_MAGIC))
        return int.from_bytes(opened.read(4), "little")
