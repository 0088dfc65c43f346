# SPDX-License-Identifier: Apache-2.0
"""The first root filesystem of a guest: its first process, that process's settings, and the modules that it loads."""

from collections.abc import Sequence
from pathlib import Path

from tare.errors import NodeError
from tare.guests import cpio
from tare.guests.boot import MODULES_FOLDER

_FOLDERS = ("dev", "proc", "sys", MODULES_FOLDER.strip("/"))
_CONSOLE = ("dev/console", 5, 1)
"""Without it the first process has no standard files (the kernel's Documentation/admin-guide/devices.txt)."""


def write_initramfs(path: Path, *, init: Path, modules: Sequence[Path], boot: str) -> None:
    """Write an uncompressed archive of /init, /boot.conf, /dev/console and /modules.

    ``init`` is the static program of that name, ``boot`` the text of ``Boot``, ``modules`` the files in its lines.
    Takes about 20 ms. ``NodeError`` names a file that cannot be read or written.
    """
    entries = [*map(cpio.folder, _FOLDERS), cpio.character_device(*_CONSOLE)]
    try:
        entries.append(cpio.file("init", init.read_bytes(), 0o755))
        entries.append(cpio.file("boot.conf", boot.encode()))
        entries += [cpio.file(_place(module), module.read_bytes()) for module in modules]
        path.write_bytes(cpio.archive(entries))
    except OSError as error:
        raise NodeError(
            f"the guest's initramfs cannot be made: {error.filename}: {error.strerror}; if it is of the image, "
            "run: tare image build"
        ) from error


def _place(module: Path) -> str:
    return f"{MODULES_FOLDER.strip('/')}/{module.name}"
