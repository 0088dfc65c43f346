# SPDX-License-Identifier: Apache-2.0
"""Writing a large journal's columns: trial by trial in little memory, and finally the journal's identity."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, Self

import pyarrow as pa
import pyarrow.parquet as pq

from tare.journal.column_state import (
    OUTCOMES,
    SAMPLES,
    Contents,
    State,
    column_contents,
    remove_state,
    write_state,
)
from tare.journal.outcome_columns import OUTCOME_SCHEMA, packed_outcomes
from tare.journal.sample_columns import SAMPLE_ENCODING, SAMPLE_SCHEMA, SampleRows
from tare.journal.whole import open_new
from tare.journal.writer import make_folder
from tare.records import Integrity, Outcome, Seen, Session

ROWS_AT_ONCE, OUTCOMES_AT_ONCE = 1 << 16, 1 << 12
"""Numbers of samples (or other records) and of outcomes written together; a trial is never divided."""


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
