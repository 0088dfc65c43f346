# SPDX-License-Identifier: Apache-2.0
"""The sealed lines of one file as a chain: intact lines are passed on, all else is noted as damage, in words."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from tare.errors import JournalError
from tare.journal.lines import END, LaterVersionError, Opened, first_link, open_seal, read_record
from tare.records import Damage, Fault, Outcome, Session
from tare.untrusted import from_json

_WORDS = {
    Fault.DAMAGED: "damaged, not used",
    Fault.ALTERED: "altered since it was written, not used",
    Fault.DOUBLED: "present twice, counted once",
    Fault.MOVED: "not in its place, used",
    Fault.FOREIGN: "written to another file, not used",
    Fault.ORPHANED: "its session's record is lost, not used",
}
_LOOKED_AT_BYTE = 1 << 20
"""A longer line with a wrong CRC counts as damaged, whether or not it is JSON."""
Record = Session | Outcome
Numbered = tuple[int, Record]
"""A line number and its record."""


@dataclass(slots=True)
class _Run:
    """Consecutive lines with the same fault."""

    fault: Fault
    line: int
    lines: int = 1


class Faults:
    """The faults of one file."""

    def __init__(self, file: str) -> None:
        """``file``: its name in the result folder."""
        self._file = file
        self._runs: list[_Run] = []
        self._others: list[Damage] = []

    def line(self, fault: Fault, number: int) -> None:
        """Note a line, by its number in the present file."""
        last = self._runs[-1] if self._runs else None
        if last and last.fault is fault and last.line + last.lines == number:
            last.lines += 1
        else:
            self._runs.append(_Run(fault, number))

    def missing(self, lines: int, after: int | None) -> None:
        """Note missing lines; ``after`` is the line before them, ``None``: they were the last."""
        where = "at its end" if after is None else f"after line {after}" if after else "at its beginning"
        said = "1 line is" if lines == 1 else f"{lines} lines are"
        self.whole(Fault.REMOVED, f"{self._file}: {said} missing {where}", after, lines)

    def whole(self, fault: Fault, sentence: str, line: int | None = None, lines: int | None = None) -> None:
        """Note a fault that is not limited to single lines."""
        damage = Damage(file=self._file, fault=fault, line=line, lines=lines, sentence=sentence)
        self._others.append(damage)

    def damage(self) -> tuple[Damage, ...]:
        """All damage, by line; damage to the whole file comes last."""
        damages = [*(self._told(run) for run in self._runs), *self._others]
        return tuple(sorted(damages, key=lambda damage: (damage.line is None, damage.line or 0)))

    def _told(self, run: _Run) -> Damage:
        where = f"line {run.line}" if run.lines == 1 else f"lines {run.line} to {run.line + run.lines - 1}"
        sentence = f"{self._file}, {where}: {_WORDS[run.fault]}"
        return Damage(file=self._file, fault=run.fault, line=run.line, lines=run.lines, sentence=sentence)


class _Gap(NamedTuple):
    """Skipped numbers from ``first`` to before ``end``; ``broken`` lines are in their place."""

    first: int
    end: int
    after: int
    broken: int


class Chain:
    """The chain of one file; everything but ``records`` is complete when ``records`` is exhausted."""

    def __init__(self, name: str, faults: Faults, where: Callable[[int], str]) -> None:
        self._last = first_link(name)
        self._faults = faults
        self._where = where
        self._gaps: list[_Gap] = []
        self._broken = self._at = 0
        self._held: Numbered | None = None
        self._is_doubtful = False
        self.crcs: dict[int, int] = {}
        """Number of each intact line → its CRC."""
        self.ended = False
        """Whether the file contains the session's end."""

    @property
    def broken_at_end(self) -> int:
        return self._broken

    def records(self, lines: Iterable[tuple[int, bytes | None]]) -> Iterator[Numbered]:
        """The records of intact lines, each once; one is held back until the next line confirms what it follows."""
        for number, line in lines:
            opened = self._whole(number, line)
            if opened is None:
                continue
            record = self._record(opened, line or b"", number)
            if opened.link.number > self._last.number:
                self._follow(opened, number)
                record, self._held = self._held, record
            self.crcs[opened.link.number] = opened.link.crc
            if record is not None:
                yield record
        self._deny_held(self._is_doubtful)
        if self._held is not None:
            yield self._held
        self._say_gaps()

    def _whole(self, number: int, line: bytes | None) -> Opened | None:
        """``None`` for an unusable line; its fault is noted."""
        opened = open_seal(line, self._where(number)) if line is not None else None
        if opened is None:
            self._broken += 1
            self._faults.line(Fault.ALTERED if _is_json(line) else Fault.DAMAGED, number)
        elif opened.link.file != self._last.file:
            self._faults.line(Fault.FOREIGN, number)
        elif opened.link.number in self.crcs:
            self._faults.line(Fault.DOUBLED, number)
        else:
            if opened.link.number < self._last.number:
                self._faults.line(Fault.MOVED, number)
            return opened
        return None

    def _follow(self, opened: Opened, number: int) -> None:
        """Make it the last line; if it does not follow the previous last line, one of the two was altered."""
        expected = self._last.number + 1
        if opened.link.number > expected:
            self._gaps.append(_Gap(expected, opened.link.number, self._at, self._broken))
            self._deny_held(self._is_doubtful)
            self._is_doubtful = False
        else:
            self._is_doubtful = opened.after != self._last.crc
            self._deny_held(self._is_doubtful)
        self._last, self._at, self._broken = opened.link, number, 0
        self.ended = opened.kind == END

    def _deny_held(self, denied: bool) -> None:
        if denied and self._held is not None:
            self._faults.line(Fault.ALTERED, self._held[0])
            self._held = None

    def _record(self, opened: Opened, line: bytes, number: int) -> Numbered | None:
        if opened.kind == END:
            return None
        try:
            return number, read_record(opened.kind, line, self._where(number))
        except LaterVersionError:
            raise
        except JournalError:
            self._faults.line(Fault.DAMAGED, number)
            return None

    def _say_gaps(self) -> None:
        for gap in self._gaps:
            gone = sum(number not in self.crcs for number in range(gap.first, gap.end)) - gap.broken
            if gone > 0:
                self._faults.missing(gone, gap.after)


def _is_json(line: bytes | None) -> bool:
    """Whether a reader would take the line for a journal line."""
    try:
        return line is not None and len(line) < _LOOKED_AT_BYTE and isinstance(from_json(line), dict)
    except ValueError:
        return False
