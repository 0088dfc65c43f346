# SPDX-License-Identifier: Apache-2.0
"""The plain bytes of a tar archive, compressed or not, read once from beginning to end."""

import hashlib
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from tare.errors import HostError, InputError
from tare.host.distribution import to_install
from tare.image.limits import HEADER_BYTE, TAIL_BYTE, bounded, shown
from tare.units import format_byte

DECOMPRESSORS = {
    b"\x1f\x8b": ("gzip", "-dc"),
    b"\x1f\x9d": ("gzip", "-dc"),
    b"BZh": ("bzip2", "-dc"),
    b"\xfd7zXZ\x00": ("xz", "-dc"),
    b"\x5d\x00\x00": ("xz", "--format=lzma", "-dc"),
    b"\x28\xb5\x2f\xfd": ("zstd", "-dc"),
    b"LZIP": ("lzip", "-dc"),
    b"\x89LZO": ("lzop", "-dc"),
}
"""First bytes of a compressed file → the program that decompresses it to standard output."""
END_MARK = bytes(1024)
"""The two empty blocks at a tar archive's end (pax(1)); layers may lack them, and have a digest instead."""
STOP_LIMIT_S = 10
_PIECE_BYTE = 1 << 20


class Plain:
    """A stream that digests everything read through it."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._header_left_byte: int | None = None
        self.sha256 = hashlib.sha256()
        self.end = b""
        self.is_at_end = False

    def read(self, size: int) -> bytes:
        data = self._file.read(size)
        self.is_at_end = not data
        self.sha256.update(data)
        self.end = (self.end + data[-len(END_MARK) :])[-len(END_MARK) :]
        if self._header_left_byte is not None:
            self._header_left_byte -= len(data)
            if self._header_left_byte < 0:
                raise InputError(
                    f"The archive is refused: the header of one file in it is longer than {format_byte(HEADER_BYTE)}."
                )
        return data

    @contextmanager
    def header(self) -> Iterator[None]:
        """Limit the description of a member while it is read: tarfile takes it into memory however long it is."""
        self._header_left_byte = HEADER_BYTE
        yield
        self._header_left_byte = None

    def read_to_end(self) -> None:
        """Read the rest; ``InputError`` when far more follows the archive's end than the rest of a block."""
        for _ in range(TAIL_BYTE // _PIECE_BYTE):
            if not self.read(_PIECE_BYTE):
                return
        raise InputError(f"The archive is refused: {format_byte(TAIL_BYTE)} and more follow its end.")


@contextmanager
def plain(archive: Path) -> Iterator[Plain]:
    """Open it; ``HostError`` when the host lacks its decompressor, ``InputError`` when that fails."""
    with archive.open("rb", buffering=0) as file:
        start = file.read(8)
        file.seek(0)
        command = next((argv for magic, argv in DECOMPRESSORS.items() if start.startswith(magic)), None)
        if command is None:
            yield Plain(file)
        else:
            with _decompressed(command, file, archive) as stream:
                yield stream


@contextmanager
def _decompressed(command: Sequence[str], file: IO[bytes], archive: Path) -> Iterator[Plain]:
    if not shutil.which(command[0]):
        package = {"xz": "xz-utils"}.get(command[0], command[0])
        raise HostError(f"{archive} is compressed, and {command[0]} is missing: {to_install(package)}")
    pipe = subprocess.PIPE
    with subprocess.Popen(bounded(command), stdin=file, stdout=pipe, stderr=pipe) as process:
        stream = Plain(cast("IO[bytes]", process.stdout))
        try:
            yield stream
            _end(process, command, archive)
        except BaseException:
            if stream.is_at_end:  # what was made of half an archive is its fault
                _end(process, command, archive)
            process.kill()
            raise


def _end(process: subprocess.Popen[bytes], command: Sequence[str], archive: Path) -> None:
    """Wait for the decompressor; ``InputError`` with its own words when it failed."""
    said = process.communicate(timeout=STOP_LIMIT_S)[1].decode(errors="replace").strip()
    if process.returncode:
        raise InputError(
            f"{archive} is not whole: {shown(said) if said else command[0]}, says {command[0]}"
        ) from None
