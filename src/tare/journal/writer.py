# SPDX-License-Identifier: Apache-2.0
"""Appending to a journal: one file for each runner, one line on disk before the next trial begins."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Self

from tare.errors import JournalError
from tare.journal.lines import first_link, seal
from tare.records import Outcome, Session

_PIECE_BYTE = 1 << 20


class JournalWriter:
    """Appends whole lines or nothing, each sealed; a context manager, whose end is a separate line."""

    def __init__(self, path: Path) -> None:
        """Make the file; ``JournalError`` if that is not possible."""
        self._path = path
        try:
            make_folder(path.parent)
            self._descriptor = os.open(
                path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o644
            )
            keep_names(path.parent)
        except OSError as error:
            raise JournalError(f"cannot begin the journal {path}: {error.strerror}") from error
        self._length = 0
        self._torn = False
        self._last = first_link(path.name)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                self._append(None)
            else:  # the pending error says more than this one would
                with suppress(JournalError):
                    self._append(None)
        finally:
            os.close(self._descriptor)

    def append(self, record: Session | Outcome) -> None:
        """Write and fsync one line; on a full disk remove the torn line and raise ``JournalError``.

        A session is written twice, as everything after it is worthless without it.
        """
        self._append(*(record, record) if isinstance(record, Session) else (record,))

    def is_in_place(self) -> bool:
        """Whether its name still leads to the file: it may have been deleted or moved."""
        try:
            named, own = self._path.stat(), os.fstat(self._descriptor)
        except OSError:
            return False
        return os.path.samestat(named, own)

    def content(self) -> bytes:
        """Everything that was written, wherever it is now; raises ``OSError``."""
        places = range(0, self._length, _PIECE_BYTE)
        return b"".join(os.pread(self._descriptor, _PIECE_BYTE, place) for place in places)[: self._length]

    def _append(self, *records: Session | Outcome | None) -> None:
        last, lines = self._last, b""
        for record in records:
            line, last = seal(record, last)
            lines += line
        try:
            if self._torn:
                self._take_back()
            _write_all(self._descriptor, lines)
            os.fsync(self._descriptor)
        except OSError as error:
            self._torn = True
            with suppress(OSError):  # what cannot be removed is a torn last line, which the reader drops
                self._take_back()
            raise JournalError(
                f"cannot write the journal {self._path}: {error.strerror}. "
                f"All earlier lines are safe; make room and run the same command again to continue"
            ) from error
        self._length += len(lines)
        self._last = last

    def _take_back(self) -> None:
        os.ftruncate(self._descriptor, self._length)
        self._torn = False


def make_folder(folder: Path) -> None:
    """Make it and its missing parents, all durable across a crash; raises ``OSError``.

    No group may write there, whatever the mask: the next run would not trust it.
    """
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    for path in reversed(missing):
        path.mkdir(mode=0o755, exist_ok=True)
        keep_names(path.parent)


def keep_names(folder: Path) -> None:
    """Sync the folder's entries to disk: a file's own fsync(2) does not guarantee that its name survives."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _write_all(descriptor: int, line: bytes) -> None:
    written = 0
    while written < len(line):
        written += os.write(descriptor, line[written:])
