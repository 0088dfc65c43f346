# SPDX-License-Identifier: Apache-2.0
"""Makes a root filesystem an image: nothing from the host that made it, and every mount point in place."""

import os
import shutil
from pathlib import Path

from tare.errors import ImageError
from tare.host.removal import remove_tree
from tare.nodes.provider import TOOLS_DIRECTORY, WORK_DIRECTORY

MOUNT_POINTS = {
    "proc": 0o755,
    "sys": 0o755,
    "dev": 0o755,
    "dev/shm": 0o1777,
    "tmp": 0o1777,
    "run": 0o755,
    "root": 0o700,
}
SHARED = ("X11/locale", "bash-completion", "info", "lintian", "locale", "man")
EMPTIED = (
    *("dev", "run", "tmp", "var/cache", "var/log", "var/tmp", "var/lib/apt/lists"),
    *(f"usr/share/{folder}" for folder in SHARED),
)
REMOVED = (
    *("etc/apt/sources.list", "etc/apt/sources.list.d", "etc/apt/apt.conf.d", "etc/.pwd.lock"),
    *("etc/passwd-", "etc/group-", "etc/shadow-", "etc/gshadow-", "etc/subuid-", "etc/subgid-"),
    *("var/lib/dpkg/status-old", "var/lib/dpkg/diversions-old", "var/lib/dpkg/statoverride-old"),
    *("var/lib/dpkg/lock", "var/lib/dpkg/lock-frontend", "etc/dpkg/dpkg.cfg.d/99mmdebstrap"),
    "var/lib/dbus/machine-id",
)
PT_INTERP = 3
WRITTEN = {
    "etc/hostname": "",
    "etc/machine-id": "",
    "etc/resolv.conf": "",
    "etc/hosts": "127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n",
}
"""Fixed, because environments mount their own files over these paths or write them."""


def strip_host(root: Path) -> None:
    """Remove or fix everything that differs between two hosts, or two runs, of one recipe; and what no job reads."""
    unread = [item for folder in EMPTIED for item in (root / folder).glob("*")]
    unread += [item for item in (root / "usr/share/doc").glob("*/*") if item.name != "copyright"]
    for item in unread:
        remove_tree(item)
    for name in REMOVED:
        remove_tree(root / name)
    for name, text in WRITTEN.items():
        remove_tree(root / name)
        (root / name).write_text(text)
        (root / name).chmod(0o644)


def add_mount_points(root: Path) -> None:
    """Make the missing ones; ``ImageError`` when one is reached through a link, which may lead to the host."""
    for name in [*MOUNT_POINTS, WORK_DIRECTORY.strip("/"), TOOLS_DIRECTORY.strip("/")]:
        path = root
        for part in Path(name).parts:
            path /= part
            if path.is_symlink() or (path.exists() and not path.is_dir()):
                shown = path.relative_to(root)
                raise ImageError(
                    f"In the image /{shown} is not a directory; Tare mounts there. Make it one in the source."
                )
            if not path.exists():
                path.mkdir()
                path.chmod(MOUNT_POINTS.get(name, 0o755) if path == root / name else 0o755)


def add_directory(root: Path, directory: str) -> None:
    """Make the directory that an image's commands begin in, as container engines do; no link is followed."""
    path = root
    for part in Path(os.path.normpath(f"/{directory}")).parts[1:]:
        path /= part
        if path.is_symlink() or (path.exists() and not path.is_dir()):
            return
        if not path.exists():
            path.mkdir()
            path.chmod(0o755)


def add_tools(root: Path, programs: Path) -> None:
    """Copy Tare's own programs into the image; a program that is not static only if its loader is there.

    ``ImageError`` when the image has a folder where a program belongs.
    """
    target = root / TOOLS_DIRECTORY.strip("/")
    for program in sorted(programs.iterdir()):
        loader = elf_loader(program)
        if (target / program.name).is_dir() and not (target / program.name).is_symlink():
            raise ImageError(
                f"In the image {TOOLS_DIRECTORY}/{program.name} is a folder; Tare puts a program there. Remove it in "
                "the source."
            )
        (target / program.name).unlink(missing_ok=True)
        if loader is None or (root / loader.strip("/")).exists():
            shutil.copyfile(program, target / program.name)
            (target / program.name).chmod(0o755)


def elf_loader(program: Path) -> str | None:
    """The dynamic loader that a program names (PT_INTERP, elf(5)); ``None``: it is static, or no ELF file."""
    content = program.read_bytes()
    if content[:6] != b"\x7fELF\x02\x01":
        return None
    table, size, count = (
        int.from_bytes(content[at : at + width], "little") for at, width in ((32, 8), (54, 2), (56, 2))
    )
    for start in range(table, table + size * count, size):
        if int.from_bytes(content[start : start + 4], "little") == PT_INTERP:
            offset, length = (
                int.from_bytes(content[start + at : start + at + 8], "little") for at in (8, 32)
            )
            return content[offset : offset + length].rstrip(b"\0").decode()
    return None
