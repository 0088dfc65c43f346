# SPDX-License-Identifier: Apache-2.0
"""Kernels and modules of the user's own, unpacked once for all guests: a cache that may be removed at any time."""

import hashlib
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tare.errors import NodeError
from tare.guests.bzimage import boot_image
from tare.guests.compression import decompressed
from tare.host.paths import state_directory
from tare.host.removal import remove_what_goes


@dataclass(frozen=True, slots=True, kw_only=True)
class Unpacked:
    """A kernel whose file has been examined."""

    release: str
    image: Path
    direct: bool


def kernel(path: Path) -> Unpacked:
    """The quickest form of this kernel's file (``bzimage.boot_image``); raises ``NodeError`` and ``OSError``."""
    folder = _place(path)
    if not (folder / "about.json").is_file():
        unpacked = boot_image(path.read_bytes())
        with _made(folder) as made:
            if unpacked.direct:
                (made / "vmlinux").write_bytes(unpacked.content)
            about = {"release": unpacked.release, "direct": unpacked.direct}
            (made / "about.json").write_text(json.dumps(about))
    about = json.loads((folder / "about.json").read_bytes())
    image = folder / "vmlinux" if about["direct"] else path
    return Unpacked(release=about["release"], image=image, direct=about["direct"])


def module(path: Path) -> Path:
    """The file itself, or its uncompressed copy; ``NodeError`` when it cannot be unpacked."""
    if path.suffix == ".ko":
        return path
    try:
        folder = _place(path)
        copy = folder / f"{path.name.partition('.ko')[0]}.ko"
        if not copy.is_file():
            with _made(folder) as made:
                (made / copy.name).write_bytes(unpacked_module(path))
    except OSError as error:
        raise NodeError(f"the kernel module {path} cannot be unpacked: {error.strerror}") from error
    return copy


def unpacked_module(path: Path) -> bytes:
    """The module in a file; raises ``NodeError`` and ``OSError``."""
    content = path.read_bytes()
    if path.suffix == ".ko":
        return content
    unpacked = decompressed(content)
    if unpacked is None:
        raise NodeError(
            f"the kernel module {path} is packed in a way not known here; give it unpacked, as a .ko file"
        )
    return unpacked


def _place(path: Path) -> Path:
    """The cached folder, by the file's path, size and time, so that a replaced file gets another."""
    status = path.stat()
    key = f"{path.resolve()} {status.st_ino} {status.st_size} {status.st_mtime_ns}"
    return state_directory() / "cache" / "guest" / hashlib.sha256(key.encode()).hexdigest()[:24]


@contextmanager
def _made(folder: Path) -> Iterator[Path]:
    """Yield an empty folder that then atomically becomes ``folder``, unless another process was quicker."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(dir=folder.parent, prefix=".new-"))
    try:
        yield made
        with suppress(OSError):
            os.rename(made, folder)  # noqa: PTH104 - fails for a folder that is not empty, as it should
    finally:
        remove_what_goes(made)
