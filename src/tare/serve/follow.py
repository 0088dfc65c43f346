# SPDX-License-Identifier: Apache-2.0
"""How far a campaign is, from what its runner adds to the journal: each line is looked at once, and none is decoded."""

import re
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from tare.drawing.words import counted
from tare.errors import JournalError
from tare.foreign import one_line
from tare.host.own_files import open_regular
from tare.journal.lines import END, MOST_LINE_BYTE, open_seal, read_record
from tare.journal.result import ResultFolder, journal_files
from tare.records import Session
from tare.units import format_duration

LEAST_REST_S = 0.5
"""Between two looks at the files, however many readers there are."""
_QUIET_S = 60.0
"""A runner whose lock cannot be seen, as on another host, counts as gone after so long, or three trials, of silence."""
_OUTCOME = re.compile(
    rb'"record":\{"trial":\{"identity":"((?:[^"\\]|\\.){1,400})".*?\},"status":"(ok|failed|invalid)","reason":.*?'
    rb'"elapsed_s":([0-9.]{1,20}(?:[eE][-+]?[0-9]{1,3})?)',
    re.DOTALL,
)
"""As Tare writes an outcome: its members have their places."""
_LOOKED_AT_BYTE = 1 << 16
"""Of an outcome's line: what is looked for stands before its samples."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveProgress:
    """How far a result is."""

    state: str
    """``running``, ``ended``, or ``stopped`` before its end."""
    measured: int
    planned: int
    lost: int
    """Trials that failed or are invalid."""
    last: str
    """The trial that ended last."""
    left_s: float | None
    """Expected; ``None``: nothing tells."""

    @property
    def said(self) -> str:
        """Such as "running: 30 of 120 trials, 1 lost, about 4 min left"."""
        state = "stopped before its end" if self.state == "stopped" else self.state
        lost = f", {self.lost} lost" if self.lost else ""
        left = (
            f", about {format_duration(self.left_s)} left" if self.left_s and self.state == "running" else ""
        )
        return f"{state}: {self.measured} of {counted(self.planned, 'trial')}{lost}{left}"


@dataclass(slots=True)
class _FollowedFile:
    """One file, as far as it was read."""

    place: int = 0
    ended: bool = False


@dataclass(slots=True)
class Follower:
    """One result, looked at by all who follow it."""

    folder: ResultFolder
    _files: dict[Path, _FollowedFile] = field(default_factory=dict)
    _trials: dict[bytes, bool] = field(default_factory=dict)
    """Identity → whether it counts."""
    _planned: int = 0
    _last: bytes = b""
    _spent_s: float = 0.0
    _timed: int = 0
    """Trials since the newest session began."""
    _looked: float = -LEAST_REST_S
    _lock: threading.Lock = field(default_factory=threading.Lock)
    known: LiveProgress | None = None
    """What the last look showed; ``None`` until the first one, which takes longer, is over."""

    def progress(self) -> LiveProgress:
        """Look at what is new; ``JournalError`` if a file cannot be read, or is of a later version."""
        with self._lock:
            if time.monotonic() - self._looked >= LEAST_REST_S:
                for path in journal_files(self.folder.journal):
                    self._read(path, self._files.setdefault(path, _FollowedFile()))
                self._looked = time.monotonic()
            self.known = self._now()
            return self.known

    def _now(self) -> LiveProgress:
        measured, planned = len(self._trials), max(self._planned, len(self._trials))
        each_s = self._spent_s / self._timed if self._timed else None
        return LiveProgress(
            state=self._state(each_s),
            measured=measured,
            planned=planned,
            lost=sum(not counts for counts in self._trials.values()),
            last=one_line(self._last.decode(errors="replace"), 120),
            left_s=None if each_s is None else each_s * (planned - measured),
        )

    def _state(self, each_s: float | None) -> str:
        if is_locked(self.folder.lock):
            return "running"
        newest = self._files.get(max(self._files)) if self._files else None
        if newest is None or newest.ended:
            return "ended" if newest else "stopped"
        silent_s = time.time() - max(_changed_s(path) for path in self._files)
        return "running" if silent_s < max(_QUIET_S, 3 * (each_s or 0)) else "stopped"

    def _read(self, path: Path, seen: _FollowedFile) -> None:
        """Read whole lines alone: what follows the last line end is being written."""
        try:
            with open(open_regular(path), "rb") as opened:  # noqa: PTH123 - a descriptor
                opened.seek(seen.place)
                while (line := opened.readline(MOST_LINE_BYTE + 1)).endswith(b"\n"):
                    seen.place += len(line)
                    self._take(line[:-1], path, seen)
        except OSError as error:
            raise JournalError(f"cannot read the journal {path}: {error.strerror}") from error

    def _take(self, line: bytes, path: Path, seen: _FollowedFile) -> None:
        opened = open_seal(line, str(path))
        if opened is None:
            return
        seen.ended = opened.kind == END
        if opened.kind == "session":
            record = read_record(opened.kind, line, str(path))
            if isinstance(record, Session):
                self._planned = record.planned_trials
                self._spent_s, self._timed = 0.0, 0
        elif opened.kind == "outcome" and (match := _OUTCOME.search(line, 0, _LOOKED_AT_BYTE)):
            self._last = match[1]
            self._trials.setdefault(match[1], match[2] == b"ok")
            self._spent_s += float(match[3])
            self._timed += 1


def is_locked(path: Path) -> bool:
    """Whether a process of this host holds the lock of a result (proc(5), ``/proc/locks``); nothing is locked here."""
    try:
        inode = path.stat().st_ino
        locks = Path("/proc/locks").read_text(encoding="ascii", errors="replace")
    except OSError:
        return False
    return any(
        fields[1] == "FLOCK" and fields[5].rpartition(":")[2] == str(inode)
        for fields in map(str.split, locks.splitlines())
        if len(fields) > 5 and fields[1] != "->"  # noqa: PLR2004 - a waiting one is marked so
    )


def _changed_s(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
