# SPDX-License-Identifier: Apache-2.0
"""Large journals condensed to columns beside them, for reading in little time and memory."""

import errno
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa

from tare.collection import without_collection
from tare.errors import JournalError
from tare.host.scratch import scratch_folder
from tare.journal.column_state import (
    OUTCOMES,
    SAMPLES,
    Contents,
    Files,
    State,
    believed_state,
    journal_contents,
    open_columns,
)
from tare.journal.column_writer import ColumnWriter
from tare.journal.light import LightOutcomes
from tare.journal.reader import Joining, Journal, Reading, without_repeats
from tare.journal.sample_columns import KeptSamples

UNFIT = (OverflowError, OSError, pa.ArrowException)
"""Columns cannot hold the journal's numbers, or cannot be read although they were just made."""
_MENDED_BY_ROOM = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT}


class Condensed:
    """A journal as columns; its files stay open and may be deleted meanwhile."""

    def __init__(self, state: State, files: Files) -> None:
        """Reopen exactly these ``files``: another command may have replaced them since."""
        self._state = state
        self._samples = KeptSamples(_again(files[SAMPLES]), state.kinds, state.first_trials)
        self._outcomes = LightOutcomes(_again(files[OUTCOMES]), self._samples)

    def journal(self, joining: Joining | None = None) -> Journal:
        """The result of ``read_journal``; with ``joining`` each outcome has joined samples instead of its own."""
        with without_collection():
            outcomes = tuple(self._outcomes.all())
        if joining:
            self._outcomes.samples = joining(outcomes, self._state.kinds, self._samples.groups())
        return Journal(
            sessions=self._state.sessions,
            outcomes=outcomes,
            without=self._without(self._outcomes.sessions()),
            repeated=self._state.repeated,
            condensed=joining is not None,
            integrity=self._state.integrity,
            seen=self._state.seen,
        )

    def _without(self, sessions: Sequence[int]) -> tuple[frozenset[str], ...]:
        """``sessions``: number of sessions begun when each trial was measured."""
        missing = [
            frozenset(skip.environment for skip in session.skipped) for session in self._state.sessions
        ]
        return tuple(missing[begun - 1] if begun else frozenset() for begun in sessions)


def condensed(journal: Path, directory: Path) -> Condensed:
    """The columns in ``directory`` if they belong to the present journal; else made anew, which takes time.

    Both are read in full for the check, whatever their sizes and times: about half a second per gigabyte, as columns of
    a changed journal would give wrong numbers. Columns that cannot be stored there are made for this use alone.
    ``JournalError`` if that is not possible either; ``UNFIT`` if only the journal itself can be read.
    """
    try:
        now = journal_contents(journal)
    except OSError as error:
        raise JournalError(f"cannot read the journal {journal}: {error}") from error
    with suppress(OSError):
        return _believed(directory, now) or _condense(journal, directory, now)
    try:
        with scratch_folder("derived") as made:
            return _condense(journal, made, now)
    except OSError as error:
        if error.errno is None:  # pyarrow's own error, for a file that it cannot read
            raise
        remedy = ". Make one of them writable, with room for a tenth of the journal, and run again"
        raise JournalError(
            f"cannot condense the journal {journal} into {directory} or {tempfile.gettempdir()}: {error.strerror}"
            f"{remedy if error.errno in _MENDED_BY_ROOM else ''}"
        ) from error


def _believed(directory: Path, now: Contents) -> Condensed | None:
    try:
        with open_columns(directory) as files:
            state = believed_state(directory, now, files)
            return Condensed(state, files) if state else None
    except (OSError, pa.ArrowException):
        return None


def _condense(journal: Path, directory: Path, now: Contents) -> Condensed:
    repeated: list[str] = []
    reading = Reading(journal)
    with ColumnWriter(directory) as writer, without_collection():
        for record in without_repeats(reading.records(), repeated):
            writer.add(record)
        state = writer.finish(now, repeated, reading.integrity, reading.seen)
        return Condensed(state, writer.files)


def _again(opened: BinaryIO) -> Path:
    """A path to reopen an open file, even if its name is gone (proc(5))."""
    return Path(f"/proc/self/fd/{opened.fileno()}")
