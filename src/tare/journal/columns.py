# SPDX-License-Identifier: Apache-2.0
"""Large journals condensed: samples as columns in a Parquet file, all else as light lines; made anew at need."""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self
from zlib import crc32

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import TypeAdapter

from tare.errors import JournalError
from tare.host.own_files import open_regular, read_plain
from tare.journal.lines import MOST_LINE_BYTE
from tare.journal.one_file import OneFile
from tare.journal.reader import Reading, campaign_digest, journal_of, without_repeats
from tare.journal.result import CAMPAIGN_FILE
from tare.journal.seals import first_link, seal
from tare.journal.whole import open_new, write_whole
from tare.journal.writer import make_folder
from tare.records import Integrity, Outcome, Sample, Session
from tare.records.columns import NONE, SampleColumns, SampleKind

ROWS_AT_ONCE = 1_000_000
"""Of a row group at least, if there are so many; a trial is never divided."""
VERSION = 3
_PIECE_BYTE = 1 << 20
_MOST_STATE_BYTE = 64 << 20
_SCHEMA = pa.schema(
    [(name, pa.int32()) for name in ("trial", "kind", "iteration", "instance")] + [("value", pa.float64())]
)
_COLUMNS = tuple(_SCHEMA.names)
_KINDS = TypeAdapter(list[SampleKind])
_INTEGRITY = TypeAdapter(Integrity)
_JOURNAL = "outcomes.jsonl"
_SAMPLES = "samples.parquet"
_STATE = "state.json"
Arrays = dict[str, np.ndarray[Any, Any]]
Contents = dict[str, str]


class Condensed:
    """What was derived from a journal."""

    def __init__(self, directory: Path) -> None:
        """Open what ``condense`` wrote to ``directory``."""
        self._samples = directory / _SAMPLES
        light = journal_of(OneFile(directory / _JOURNAL).records())
        state = _state(directory)
        self.journal = replace(
            light,
            condensed=True,
            repeated=tuple(state["repeated"]),
            integrity=_INTEGRITY.validate_python(state["integrity"], strict=False),
        )
        """All but the samples."""
        self.kinds: list[SampleKind] = _KINDS.validate_python(state["kinds"], strict=False)

    def groups(self) -> Iterator[SampleColumns]:
        """The samples, so many trials at a time."""
        with pq.ParquetFile(self._samples, memory_map=False) as opened:
            for number in range(opened.num_row_groups):
                table = opened.read_row_group(number, use_threads=False)
                yield SampleColumns(**{name: table.column(name).to_numpy() for name in _COLUMNS})


class ColumnWriter:
    """Writes trials one after the other in little memory; a context manager."""

    def __init__(self, directory: Path) -> None:
        """Make ``directory`` and the files in it."""
        self._directory = directory
        self._stack = ExitStack()
        self._kinds: dict[SampleKind, int] = {}
        self._waiting: list[Arrays] = []
        self._rows = self._trials = 0
        self._last = first_link(_JOURNAL)

    def __enter__(self) -> Self:
        make_folder(self._directory)
        (self._directory / _STATE).unlink(missing_ok=True)
        self._lines: BinaryIO = self._stack.enter_context(open_new(self._directory / _JOURNAL))
        writer = pq.ParquetWriter(
            self._stack.enter_context(open_new(self._directory / _SAMPLES)),
            _SCHEMA,
            compression="lz4",
            use_dictionary=["trial", "kind", "instance"],
        )
        self._parquet: pq.ParquetWriter = self._stack.enter_context(writer)
        return self

    def __exit__(self, kind: type[BaseException] | None, _: object, trace: TracebackType | None) -> None:
        if kind is None:
            self._flush()
        self._stack.close()

    def add(self, record: Session | Outcome) -> None:
        """Keep a line of the journal, the samples of an outcome as columns."""
        if isinstance(record, Session):
            self._write_line(record)
            return
        kinds = [_kind_of(sample) for sample in record.samples]
        self.add_columns(replace(record, samples=()), *_arrays(record.samples, kinds))

    def add_columns(self, outcome: Outcome, arrays: Arrays, kinds: Sequence[SampleKind]) -> None:
        """Keep an outcome without samples, and its samples; ``arrays["kind"]`` counts in ``kinds``."""
        numbers = [self._kinds.setdefault(kind, len(self._kinds)) for kind in kinds]
        rows = len(arrays["value"])
        own = {"kind": np.asarray(numbers, dtype=np.int32)[arrays["kind"]]} if rows else {}
        self._waiting.append({**arrays, **own, "trial": np.full(rows, self._trials, dtype=np.int32)})
        self._write_line(outcome)
        self._trials += 1
        self._rows += rows
        if self._rows >= ROWS_AT_ONCE:
            self._flush()

    def finish(
        self, journal: Contents, repeated: Sequence[str] = (), integrity: Integrity | None = None
    ) -> None:
        """Say of which journal this is all; without it nothing is believed. After the context has ended."""
        state = {
            "version": VERSION,
            "journal": journal,
            "derived": _contents(self._directory / name for name in (_JOURNAL, _SAMPLES)),
            "kinds": [asdict(kind) for kind in self._kinds],
            "repeated": list(repeated),
            "integrity": _INTEGRITY.dump_python(integrity or Integrity(), mode="json"),
        }
        sealed = {"crc": crc32(json.dumps(state).encode()), "state": state}
        write_whole(self._directory / _STATE, json.dumps(sealed))

    def _write_line(self, record: Session | Outcome) -> None:
        line, self._last = seal(record, self._last)
        self._lines.write(line)

    def _flush(self) -> None:
        if self._rows:
            columns = [np.concatenate([part[name] for part in self._waiting]) for name in _COLUMNS]
            table = pa.table(dict(zip(_COLUMNS, columns, strict=True)), schema=_SCHEMA)
            self._parquet.write_table(table, row_group_size=self._rows)
        self._waiting, self._rows = [], 0


def condensed(journal: Path, directory: Path) -> Condensed:
    """What stands in ``directory``, if all of it is of the journal as it is now; else it is made, which takes its time.

    Both are read for that, whatever their sizes and times say: a second for each gigabyte or so, where what is derived
    from a changed journal would be a wrong number.
    """
    try:
        now = journal_contents(journal)
        state = _state(directory)
        if (state.get("version"), state.get("journal")) != (VERSION, now) or not _is_whole(directory, state):
            _condense(journal, directory, now)
        return Condensed(directory)
    except (OSError, pa.ArrowException) as error:
        raise JournalError(
            f"cannot condense the journal {journal} into {directory}: {error}. "
            f"Make the folder writable, with room for a tenth of the journal, and run again"
        ) from error


def journal_contents(journal: Path) -> Contents:
    """What tells a journal, with the campaign that it is of, from any other; raises ``OSError``."""
    campaign = campaign_digest(journal.parent)
    return {**_contents(sorted(journal.glob("*.jsonl"))), **({CAMPAIGN_FILE: campaign} if campaign else {})}


def _condense(journal: Path, directory: Path, now: Contents) -> None:
    repeated: list[str] = []
    reading = Reading(journal)
    with ColumnWriter(directory) as writer:
        for record in without_repeats(reading.records(), repeated):
            writer.add(record)
    writer.finish(now, repeated, reading.integrity)


def _is_whole(directory: Path, state: dict[str, Any]) -> bool:
    try:
        return bool(_contents(directory / name for name in (_JOURNAL, _SAMPLES)) == state["derived"])
    except OSError:
        return False


def _contents(paths: Iterable[Path]) -> Contents:
    """Name → size and CRC of all that a reader would read of it."""
    found = {}
    for path in paths:
        size = crc = since_end = 0
        with os.fdopen(open_regular(path), "rb", buffering=0) as opened:
            # A line that has no end for longer ends the reading (one_file): what follows it may be without end.
            while since_end <= 2 * MOST_LINE_BYTE + 1 and (piece := opened.read(_PIECE_BYTE)):
                size, crc = size + len(piece), crc32(piece, crc)
                end = piece.rfind(b"\n")
                since_end = len(piece) - end - 1 + (since_end if end < 0 else 0)
        found[path.name] = f"{size} {crc:08x}"
    return found


def _state(directory: Path) -> dict[str, Any]:
    """Empty when there is none that is as it was written."""
    try:
        found = json.loads(read_plain(directory / _STATE, _MOST_STATE_BYTE))
        state: dict[str, Any] = found["state"]
        return state if crc32(json.dumps(state).encode()) == found["crc"] else {}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}


def _kind_of(sample: Sample) -> SampleKind:
    return SampleKind(
        name=sample.name,
        unit=sample.unit,
        direction=sample.direction,
        x=sample.x,
        x_unit=sample.x_unit,
        first=sample.iteration == 0,
    )


def _arrays(samples: Sequence[Sample], kinds: Sequence[SampleKind]) -> tuple[Arrays, list[SampleKind]]:
    """A trial's rows in the order that ``SampleColumns`` asks for."""
    order: dict[SampleKind, int] = {}
    places = [order.setdefault(kind, len(order)) for kind in kinds]
    found: Arrays = {
        "kind": np.asarray(places, dtype=np.int32),
        "iteration": _numbers([sample.iteration for sample in samples]),
        "instance": _numbers([sample.instance for sample in samples]),
        "value": np.asarray([sample.value for sample in samples], dtype=np.float64),
    }
    rows = np.lexsort((found["instance"], found["iteration"], found["kind"]))
    return {name: column[rows] for name, column in found.items()}, list(order)


def _numbers(values: Sequence[int | None]) -> np.ndarray[Any, Any]:
    return np.asarray([NONE if value is None else value for value in values], dtype=np.int32)
