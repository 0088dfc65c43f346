# SPDX-License-Identifier: Apache-2.0
"""Large journals condensed to columns beside them, for reading in little time and memory."""

import errno
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, Self

import pyarrow as pa
import pyarrow.parquet as pq

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
    column_contents,
    journal_contents,
    open_columns,
    remove_state,
    write_state,
)
from tare.journal.light import LightOutcomes
from tare.journal.outcome_columns import OUTCOME_SCHEMA, packed_outcomes
from tare.journal.reader import Joining, Journal, Reading, without_repeats
from tare.journal.sample_columns import SAMPLE_ENCODING, SAMPLE_SCHEMA, KeptSamples, SampleRows
from tare.journal.whole import open_new
from tare.journal.writer import make_folder
from tare.records import Integrity, Outcome, Seen, Session

UNFIT = (OverflowError, OSError, pa.ArrowException)
"""Columns cannot hold the journal's numbers, or cannot be read although they were just made."""
_MENDED_BY_ROOM = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT}
ROWS_AT_ONCE, OUTCOMES_AT_ONCE = 1 << 16, 1 << 12
"""Numbers of samples (or other records) and of outcomes written together; a trial is never divided."""


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


class ColumnWriter:
    """Writes a journal's records in order; a context manager."""

    def __init__(self, directory: Path) -> None:
        """Make ``directory`` and the files in it."""
        self._directory = directory
        self._stack = ExitStack()
        self.files: dict[str, BinaryIO] = {}
        self._samples = SampleRows()
        self._first_trials: list[int] = []
        self._sessions: list[Session] = []
        self._waiting: list[Outcome] = []
        self._waiting_records = 0
        self._of_session: list[int] = []
        self._trials = 0

    def __enter__(self) -> Self:
        make_folder(self._directory)
        remove_state(self._directory)
        self._outcome_file = self._begin(OUTCOMES, OUTCOME_SCHEMA)
        self._sample_file = self._begin(SAMPLES, SAMPLE_SCHEMA, **SAMPLE_ENCODING)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            self._stack.close()
        finally:
            for name in self.files if kind else ():
                (self._directory / name).unlink(missing_ok=True)  # frees the space if the disk was full

    def add(self, record: Session | Outcome) -> None:
        """Add a record; ``OverflowError`` for numbers that columns cannot hold."""
        if isinstance(record, Session):
            self._sessions.append(record)
            return
        self._samples.add(self._trials, record)
        self._waiting.append(record)
        self._waiting_records += len(record.instances) + len(record.signals)
        self._of_session.append(len(self._sessions))
        self._trials += 1
        if len(self._samples) >= ROWS_AT_ONCE:
            self._write_samples()
        if len(self._waiting) >= OUTCOMES_AT_ONCE or self._waiting_records >= ROWS_AT_ONCE:
            self._write_outcomes()

    def finish(
        self,
        journal: Contents,
        repeated: Sequence[str] = (),
        integrity: Integrity | None = None,
        seen: Mapping[str, Seen] | None = None,
    ) -> State:
        """Write the rest and the journal's identity; without it the columns are not trusted."""
        self._write_samples()
        self._write_outcomes()
        self._outcome_file.close()
        self._sample_file.close()
        state = State(
            journal=journal,
            derived=column_contents(self.files),
            sessions=tuple(self._sessions),
            kinds=tuple(self._samples.kinds),
            first_trials=tuple(self._first_trials),
            repeated=tuple(repeated),
            integrity=integrity or Integrity(),
            seen=seen or {},
        )
        write_state(self._directory, state)
        return state

    def _begin(self, name: str, schema: pa.Schema, **encoding: Any) -> pq.ParquetWriter:
        opened = self.files[name] = self._stack.enter_context(open_new(self._directory / name))
        writer: pq.ParquetWriter = pq.ParquetWriter(opened, schema, compression="lz4", **encoding)
        return self._stack.enter_context(writer)

    def _write_samples(self) -> None:
        if rows := len(self._samples):
            table = self._samples.taken()
            self._first_trials.append(table.column("trial")[0].as_py())
            self._sample_file.write_table(table, row_group_size=rows)
        self._waiting = [replace(outcome, samples=()) for outcome in self._waiting]

    def _write_outcomes(self) -> None:
        if self._waiting:
            table = packed_outcomes(self._waiting, self._of_session)
            self._outcome_file.write_table(table, row_group_size=len(self._waiting))
        self._waiting, self._of_session, self._waiting_records = [], [], 0
