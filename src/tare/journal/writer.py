# SPDX-License-Identifier: Apache-2.0
"""Appending to a journal: one file for each runner, one line on disk before the next trial begins."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Self

from tare.errors import JournalError
from tare.journal.lines import encode
from tare.records import Outcome, Session


class JournalWriter:
    """Appends whole lines or nothing; a context manager."""

    def __init__(self, path: Path) -> None:
        """Make the file; ``JournalError`` if that is not possible."""
        self._path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._descriptor = os.open(
                path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o644
            )
            keep_names(path.parent)
        except OSError as error:
            raise JournalError(f"cannot begin the journal {path}: {error.strerror}") from error
        self._length = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)

    def append(self, record: Session | Outcome) -> None:
        """Write and fsync one line; on a full disk the torn line is taken back and ``JournalError`` raised."""
        line = encode(record)
        try:
            _write_all(self._descriptor, line)
            os.fsync(self._descriptor)
        except OSError as error:
            with suppress(OSError):  # what cannot be taken back is a torn last line, which the reader drops
                os.ftruncate(self._descriptor, self._length)
            raise JournalError(
                f"cannot write the journal {self._path}: {error.strerror}. "
                f"All earlier lines are safe; make room and run the same command again to continue"
            ) from error
        self._length += len(line)


def keep_names(folder: Path) -> None:
    """Put the folder's entries on disk: a file's own fsync(2) does not promise that it is found again."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _write_all(descriptor: int, line: bytes) -> None:
    written = 0
    while written < len(line):
        written += os.write(descriptor, line[written:])
