# SPDX-License-Identifier: Apache-2.0
"""mount(2) and umount2(2), called directly: a mount takes microseconds where a process takes milliseconds."""

import ctypes
import os
import re
from dataclasses import dataclass
from pathlib import Path

from tare.errors import NodeError

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 32, 4096, 16384, 1 << 18
_MNT_DETACH = 2
_ESCAPED = re.compile(r"\\([0-7]{3})")
_PLAIN = re.compile(r"[^\s\\#]*")
"""Characters that the kernel does not write as octal numbers."""
_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mount:
    """One entry of proc(5) mounts."""

    point: Path
    kind: str
    options: tuple[str, ...]


def mounts_text() -> str:
    """This process's mounts; names that are not valid text survive as surrogates (PEP 383)."""
    with open("/proc/self/mounts", "rb") as opened:  # noqa: PTH123 - read in every trial
        return os.fsdecode(opened.read())


def parse_mounts(text: str) -> list[Mount]:
    """Entries in the order of mounting, with the octal escapes of their mount points decoded."""
    rows = [line.split(" ") for line in text.split("\n") if line]
    return [
        Mount(point=Path(_unescaped(point)), kind=kind, options=tuple(options.split(",")))
        for _, point, kind, options, *_ in rows
    ]


def _unescaped(point: str) -> str:
    return _ESCAPED.sub(_character, point)


def _character(escaped: re.Match[str]) -> str:
    return chr(int(escaped[1], 8))


def mount(source: str, target: Path, kind: str, flags: int = 0, data: str = "") -> None:
    """Mount it; ``NodeError`` names the target and the kernel's reason."""
    if (
        _libc.mount(
            os.fsencode(source), os.fsencode(target), kind.encode(), ctypes.c_ulong(flags), os.fsencode(data)
        )
        != 0
    ):
        reason = os.strerror(ctypes.get_errno())
        raise NodeError(
            f"cannot mount {kind or source} on {target}: {reason}; `tare doctor` says what this host lacks"
        )


def bind(source: Path, target: Path, *, writable: bool) -> None:
    """Show ``source`` with everything mounted below it; unmounting ``target`` later leaves the originals alone."""
    mount(str(source), target, "", MS_BIND | MS_REC)
    # Where "/" is shared, as under systemd, an unmount below the copy would reach the original.
    mount("", target, "", MS_PRIVATE | MS_REC)
    if not writable:
        for point in mounts_below(target):
            kept = os.statvfs(point).f_flag & (MS_NOSUID | MS_NODEV | MS_NOEXEC)
            mount("", point, "", MS_REMOUNT | MS_BIND | MS_RDONLY | kept)


def mounts_below(directory: Path) -> list[Path]:
    """Mount points at or below ``directory``, latest first (proc(5)); links on the way to it are followed."""
    return list(map(Path, _points_below(directory)))


def _points_below(directory: Path) -> list[str]:
    top = os.path.realpath(directory)
    begin = " " + _PLAIN.findall(top)[0]
    lines = [line for line in mounts_text().split("\n") if begin in line]  # hundreds on some hosts
    points = [_unescaped(line.split(" ", 2)[1]) for line in reversed(lines)]
    return [point for point in points if point == top or point.startswith(f"{top.rstrip('/')}/")]


def unmount_below(directory: Path) -> None:
    """Unmount everything at or below ``directory``, latest first; busy mounts are detached."""
    for point in _points_below(directory):
        _libc.umount2(os.fsencode(point), _MNT_DETACH)


def unmount(point: Path) -> None:
    """Unmount everything mounted at ``point`` itself; harmless when there is nothing, or the point is gone."""
    while _libc.umount2(os.fsencode(point), _MNT_DETACH) == 0:
        pass
