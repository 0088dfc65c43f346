# SPDX-License-Identifier: Apache-2.0
"""Outcomes without their samples as columns, and back: figures as numbers, all other content as texts stored once."""

import math
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from operator import attrgetter
from typing import Any, ClassVar, Protocol, get_type_hints

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pydantic_core
from pydantic import TypeAdapter

from tare.records import Clocks, InstanceRun, Outcome, Scope, Signal, Trial
from tare.records.columns import filled

Array = np.ndarray[Any, Any]
_MOST_WHOLE = 2.0**53
"""Up to here every integer is exact as a double."""
_NUMBERS = " numbers"
"""Suffix to the name of a field of several records, for the column of their numbers."""


Column = Sequence[Any]
"""Values by position."""


class _Field(Protocol):
    """How one field is stored."""

    @property
    def types(self) -> Mapping[str, pa.DataType]:
        """Suffix of the column's name → its type."""
        ...

    def pack(self, values: Sequence[Any]) -> dict[str, pa.Array]:
        """The columns, by the suffixes of their names."""
        ...

    def unpack(self, columns: Mapping[str, pa.Array]) -> Column: ...


class _Text:
    """Strings unchanged, everything else as JSON."""

    types: ClassVar[Mapping[str, pa.DataType]] = {"": pa.string()}

    def __init__(self, hint: Any) -> None:
        self._adapter = TypeAdapter(hint)
        self._plain = hint in {str, str | None}

    def pack(self, values: Sequence[Any]) -> dict[str, pa.Array]:
        if self._plain:
            return {"": pa.array(values, pa.string())}
        once: dict[str, str] = {}
        write = self._adapter.serializer.to_json
        texts = ("null" if value is None else write(value).decode() for value in values)
        return {"": pa.array([once.setdefault(text, text) for text in texts], pa.string())}

    def unpack(self, columns: Mapping[str, pa.Array]) -> Column:
        texts = columns[""].dictionary.to_pylist()
        values = [*(texts if self._plain else map(self._adapter.validate_json, texts)), None]
        places = columns[""].indices.fill_null(len(texts))
        return [values[place] for place in places.to_numpy().tolist()]


class _Figure:
    """A number, or ``None``."""

    types: ClassVar[Mapping[str, pa.DataType]] = {"": pa.float64()}

    def pack(self, values: Sequence[Any]) -> dict[str, pa.Array]:
        return {"": pa.array(values, pa.float64())}

    def unpack(self, columns: Mapping[str, pa.Array]) -> Column:
        return list(columns[""].to_pylist())


class _Rows:
    """Several records of one kind: their numbers in a row, and their other fields as a text that trials share."""

    types: ClassVar[Mapping[str, pa.DataType]] = {"": pa.string(), _NUMBERS: pa.list_(pa.float64())}

    def __init__(self, kind: type[Any], shared: Sequence[str]) -> None:
        """``shared``: the fields that are equal in most trials; all others are numbers or clocks."""
        self._kind, hints = kind, get_type_hints(kind)
        self._names = shared
        # A string's hash takes a tenth of an enumeration's.
        self._shared = attrgetter(*(f"{name}._value_" if hints[name] is Scope else name for name in shared))
        self._text = _Text(list[tuple[*(hints[name] for name in shared)]])  # type: ignore[misc] # by hints
        self._hints = {
            path: hint for name in hints if name not in shared for path, hint in _leaves(name, hints[name])
        }
        self.shape = f"{[(name, hints[name]) for name in shared]} {self._hints}"
        """The layout of the shared fields and of the numbers."""

    def pack(self, values: Sequence[Any]) -> dict[str, pa.Array]:
        numbers, ends = array("d"), [0]
        for records in values:
            for path, hint in self._hints.items():
                numbers.extend(_as_doubles(hint, list(map(attrgetter(path), records))))
            ends.append(len(numbers))
        lists = pa.ListArray.from_arrays(pa.array(ends, pa.int32()), pa.array(np.asarray(numbers)))
        return {"": pa.array(self._texts(values), pa.string()), _NUMBERS: lists}

    def _texts(self, values: Sequence[Any]) -> list[str]:
        """Texts of the shared fields, each encoded once."""
        keys = [tuple(map(self._shared, records)) for records in values]
        texts = {key: pydantic_core.to_json(key).decode() for key in set(keys)}
        return [texts[key] for key in keys]

    def unpack(self, columns: Mapping[str, pa.Array]) -> Column:
        return _RowsColumn(self, self._text.unpack(columns), columns[_NUMBERS])

    def made(self, shared: Sequence[tuple[Any, ...]], numbers: Array) -> tuple[Any, ...]:
        """The records; ``numbers`` holds the numbers of all of them, one after the other."""
        if not shared:
            return ()
        rows = numbers.reshape(len(self._hints), len(shared)).tolist()
        by_path = {
            path: _exact(hint, row) for (path, hint), row in zip(self._hints.items(), rows, strict=True)
        }
        columns = dict(zip(self._names, zip(*shared, strict=True), strict=True))
        return tuple(filled(self._kind, {**columns, **_with_clocks(by_path, len(shared))}, len(shared)))


class _RowsColumn(Sequence[tuple[Any, ...]]):
    """Records made on access."""

    def __init__(self, rows: _Rows, shared: Column, packed: pa.ListArray) -> None:
        self._rows, self._shared = rows, shared
        self._ends, self._numbers = packed.offsets.to_numpy(), packed.values.to_numpy()

    def __len__(self) -> int:
        return len(self._shared)

    def __getitem__(self, place: Any) -> Any:
        first, end = self._ends[place : place + 2]
        return self._rows.made(self._shared[place], self._numbers[first:end])


def _leaves(name: str, hint: Any) -> Iterator[tuple[str, Any]]:
    """The numbers in a field: itself, or the numbers of clocks."""
    if hint is Clocks:
        yield from ((f"{name}.{clock.name}", float) for clock in fields(Clocks))
    else:
        yield name, hint


def _as_doubles(hint: Any, values: list[Any]) -> list[Any]:
    """``None`` becomes NaN; ``OverflowError`` for an integer that no double holds."""
    if hint is int and any(abs(value) > _MOST_WHOLE for value in values):
        raise OverflowError("an integer that no double holds")
    return values if hint in {int, float} else [math.nan if value is None else value for value in values]


def _exact(hint: Any, values: list[float]) -> Sequence[Any]:
    """The values as they were before ``_as_doubles``."""
    if hint is float:
        return values
    return (
        list(map(int, values)) if hint is int else [None if math.isnan(value) else value for value in values]
    )


def _with_clocks(by_path: dict[str, Sequence[Any]], records: int) -> dict[str, Sequence[Any]]:
    """Rebuild the clocks that ``_leaves`` took apart."""
    apart = {path: by_path.pop(path) for path in list(by_path) if "." in path}
    if not apart:
        return by_path
    clocks = filled(Clocks, {path.partition(".")[2]: values for path, values in apart.items()}, records)
    return {**by_path, next(iter(apart)).partition(".")[0]: clocks}


_ROWS = {
    "instances": _Rows(InstanceRun, ("instance", "exit_code", "signal", "timed_out", "iteration")),
    "signals": _Rows(Signal, ("name", "unit", "scope", "lost_time")),
}
TRIAL = "trial."


def _field(hint: Any) -> _Field:
    return _Figure() if hint in {float, float | None} else _Text(hint)


def _fields() -> dict[str, _Field]:
    """The fields, by their path for ``attrgetter``."""
    hints = get_type_hints(Outcome)
    own = {name: _field(hint) for name, hint in hints.items() if name not in {"trial", "samples", *_ROWS}}
    trial = {TRIAL + name: _field(hint) for name, hint in get_type_hints(Trial).items()}
    return {**trial, **own, **_ROWS}


FIELDS = _fields()


SESSION = "session"
"""The column with the number of sessions begun."""
OUTCOME_SCHEMA = pa.schema(
    [(path + end, kind) for path, field in FIELDS.items() for end, kind in field.types.items()]
    + [(SESSION, pa.int32())]
)
OUTCOME_SHAPE = f"{OUTCOME_SCHEMA} {[rows.shape for rows in _ROWS.values()]}"
"""The layout that writing and reading outcomes must share."""
TEXTS = tuple(field.name for field in OUTCOME_SCHEMA if field.type == pa.string())
"""Columns read as dictionaries."""


def packed_outcomes(outcomes: Sequence[Outcome], sessions: Sequence[int]) -> pa.Table:
    """Pack at least one outcome; ``OverflowError`` for numbers that columns cannot hold."""
    columns = {
        path + end: column
        for path, field in FIELDS.items()
        for end, column in field.pack(list(map(attrgetter(path), outcomes))).items()
    }
    return pa.table({**columns, SESSION: pa.array(sessions, pa.int32())}, schema=OUTCOME_SCHEMA)


def read_field(opened: pq.ParquetFile, group: int, path: str) -> Column:
    """One field of all outcomes of a row group; the file's ``TEXTS`` are read as dictionaries."""
    field = FIELDS[path]
    table = opened.read_row_group(group, columns=[path + end for end in field.types], use_threads=False)
    return field.unpack({end: table.column(path + end).combine_chunks() for end in field.types})
