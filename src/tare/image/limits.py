# SPDX-License-Identifier: Apache-2.0
"""What an import may take of this host: files, nested folders, bytes of disk and of memory.

An archive of a few hundred kilobytes can ask for terabytes of each. It is refused before it gets them.
"""

import os
import reprlib
import resource
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tare.errors import HostError, InputError
from tare.units import GIBIBYTE, MEBIBYTE, format_byte

MAXIMUM_ENTRIES = 500_000
"""The listing of this many takes 550 MiB of memory."""
MAXIMUM_BYTE = 256 * GIBIBYTE
MAXIMUM_DEPTH = 256
"""Nested folders. Programs of the host cannot be trusted to copy or remove anything deeper."""
MAXIMUM_PATH_BYTE = 2048
"""Half of the kernel's limit (PATH_MAX, limits.h), as an environment puts it below its own folders."""
HEADER_BYTE = MEBIBYTE
"""For the whole description of an archive member, as in Go's archive/tar, with which containers' tools read images."""
TAIL_BYTE = 64 * MEBIBYTE
"""For what follows the end of an archive: zeros, up to the end of a tape's block."""
TEXT_BYTE = 8 * MEBIBYTE
"""For a JSON file in an image archive, read whole; OCI's registries accept 4 MiB (distribution-spec 1.1)."""
MEMORY_BYTE = 768 * MEBIBYTE
"""Address space beyond the amount before the import."""
MAXIMUM_SHOWN = 100
"""Letters of a name in a message."""
FREE_BYTE, FREE_FILES = GIBIBYTE, 1000
"""Bytes and files that must stay free in the file system."""


class Account:
    """What an import has taken so far, with all its archives and layers, in the file system of ``folder``."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.entries = 0
        self.size_byte = 0
        self.devices: list[str] = []
        """Standard device nodes that are left out, as paths within the image."""

    def add(self, path: str, size_byte: int = 0) -> None:
        """Count ``path``, relative to the root, before it is made; ``InputError`` or ``HostError`` if it is too big."""
        self.entries += 1
        self.size_byte += size_byte
        if self.entries > MAXIMUM_ENTRIES:
            raise InputError(
                f"The import is refused: it holds more than {MAXIMUM_ENTRIES} files and folders."
            )
        if path.count("/") >= MAXIMUM_DEPTH or len(os.fsencode(path)) > MAXIMUM_PATH_BYTE:
            raise InputError(
                f"The import is refused: {shown(path)} is below more than {MAXIMUM_DEPTH} folders, "
                f"or its path is longer than {MAXIMUM_PATH_BYTE} byte."
            )
        if not 0 <= size_byte <= self.size_byte <= MAXIMUM_BYTE:
            raise InputError(
                f"The import is refused: unpacked it is larger than {format_byte(MAXIMUM_BYTE)}."
            )
        self.require_free(size_byte)

    def require_free(self, size_byte: int) -> None:
        """Raise ``HostError`` when this much more would leave too little of the file system for others."""
        disk = os.statvfs(self._folder)
        free_byte = disk.f_bavail * disk.f_frsize - FREE_BYTE
        if size_byte > free_byte or (disk.f_files and disk.f_favail < FREE_FILES):
            raise HostError(
                f"The import takes {format_byte(size_byte)} more, and then less than {format_byte(FREE_BYTE)}, or than "
                f"{FREE_FILES} files, would be left at {self._folder}: free some, or set TARE_STATE to a larger disk."
            )


@contextmanager
def bounded_memory() -> Iterator[None]:
    """Keep this process from taking much more memory than it has now (RLIMIT_AS, setrlimit(2)).

    Exceeding it is an ``InputError``: tarfile, json and sqlite take as much as a file makes them take.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = _address_space_byte() + MEMORY_BYTE
    limits = [wanted, *(limit for limit in (soft, hard) if limit != resource.RLIM_INFINITY)]
    resource.setrlimit(resource.RLIMIT_AS, (min(limits), hard))
    try:
        yield
    except MemoryError:
        raise InputError(
            f"The import is refused: it takes more than {format_byte(MEMORY_BYTE)} of memory."
        ) from None
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def bounded(argv: Sequence[str]) -> list[str]:
    """The command with its own bound, where the host has prlimit(1): this process may already hold much."""
    prlimit = shutil.which("prlimit")
    return [*argv] if prlimit is None else [prlimit, f"--as={MEMORY_BYTE}", "--", *argv]


def shown(name: str) -> str:
    """A name from an archive, in quotes, without terminal control sequences, and never longer than a line."""
    return _SHORT.repr(name)


def _address_space_byte() -> int:
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


_SHORT = reprlib.Repr()
_SHORT.maxstring = MAXIMUM_SHOWN
