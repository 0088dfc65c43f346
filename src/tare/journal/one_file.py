# SPDX-License-Identifier: Apache-2.0
"""One file of a journal: its records, whether it can be checked, and what is wrong with it."""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO
from zlib import crc32

from tare.errors import JournalError
from tare.journal.chain import Chain, Faults, Numbered, Record
from tare.journal.lines import MOST_LINE_BYTE, decode, has_seal
from tare.records import Fault, Seen, Session

Line = tuple[int, bytes | None]
"""Its number in the present file, from 1, and its content without the line end; ``None`` if that is too long."""
_PIECE_BYTE = 1 << 20


class OneFile:
    """One file; everything but ``records`` is complete when ``records`` is exhausted."""

    def __init__(self, path: Path) -> None:
        """Read nothing yet."""
        self._path = path
        self.shown = f"{path.parent.name}/{path.name}"
        self.faults = Faults(self.shown)
        self._chain = Chain(path.name, self.faults, self._where)
        self.checked = True
        """Whether its lines have CRCs; earlier versions wrote none."""

    def records(self) -> Iterator[Record]:
        """The sessions and their outcomes; a torn last line is dropped, damage is noted.

        ``JournalError`` if the file cannot be read, or was written by a later Tare.
        """
        try:
            if self._path.exists() and not (self._path.is_file() or self._path.is_dir()):
                raise JournalError(f"{self._path} is no file; remove it from the journal")
            self.checked = _is_sealed(_lines(self._path))
            lines = _lines(self._path)
            yield from self._of_sessions(self._chain.records(lines) if self.checked else self._plain(lines))
        except OSError as error:
            raise JournalError(f"cannot read the journal {self._path}: {error.strerror}") from error

    @property
    def ended(self) -> bool:
        """Whether it contains the end of its session; ``True`` for versions that did not write ends."""
        return self._chain.ended or not self.checked

    @property
    def seen(self) -> Seen:
        """The extent of the file, for the next session to record."""
        last = max(self._chain.crcs, default=0)
        return Seen(lines=last, crc=f"{self._chain.crcs.get(last, 0):08x}")

    def compare(self, seen: Seen) -> None:
        """Note what a later session read here and is now missing."""
        crc = self._chain.crcs.get(seen.lines)
        gone = seen.lines - self.seen.lines - self._chain.broken_at_end
        if gone > 0:
            self.faults.missing(gone, after=None)
        elif crc is not None and f"{crc:08x}" != seen.crc:
            self.faults.whole(Fault.ALTERED, f"{self.shown} is not what a later session read there")

    def _where(self, number: int) -> str:
        return f"{self._path}:{number}"

    def _plain(self, lines: Iterator[Line]) -> Iterator[Numbered]:
        """Lines without CRCs of their own share a single CRC."""
        crc = 0
        for number, line in lines:
            self._chain.crcs[number] = crc = crc32(line or b"", crc)
            try:
                yield number, decode(line or b"", self._where(number))
            except JournalError:
                self.faults.line(Fault.DAMAGED, number)

    def _of_sessions(self, records: Iterator[Numbered]) -> Iterator[Record]:
        """Use the first of a session's two identical lines; no outcome without a session.

        Only the session says which host, image and environments there were.
        """
        session: Session | None = None
        for number, record in records:
            if isinstance(record, Session):
                if record != session:
                    yield record
                session = record
            elif session is None:
                self.faults.line(Fault.ORPHANED, number)
            else:
                yield record


def _is_sealed(lines: Iterator[Line]) -> bool:
    """Whether any line was meant to have a seal, or there is no line yet."""
    number = 0
    for number, line in lines:  # noqa: B007 - known after the loop
        if line is not None and has_seal(line):
            return True
    return number == 0


def _lines(path: Path) -> Iterator[Line]:
    """The complete lines; what follows the last line end is torn.

    Anything longer than two lines may be was not written by Tare and may never end: it counts as the last line.
    """
    with path.open("rb", buffering=_PIECE_BYTE) as opened:
        number = 0
        while piece := opened.readline(MOST_LINE_BYTE + 1):
            number += 1
            if piece.endswith(b"\n"):
                yield number, piece[:-1]
            elif len(piece) > MOST_LINE_BYTE:
                yield number, None
                if not _ends(opened):
                    return


def _ends(opened: BinaryIO) -> bool:
    """Skip the rest of a line that is too long, at most as much again; return whether it ended."""
    left_byte = MOST_LINE_BYTE
    while left_byte > 0 and (piece := opened.readline(min(left_byte, _PIECE_BYTE))):
        if piece.endswith(b"\n"):
            return True
        left_byte -= len(piece)
    return False
