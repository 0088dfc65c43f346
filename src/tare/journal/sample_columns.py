# SPDX-License-Identifier: Apache-2.0
"""The samples of a large journal as columns, and back."""

from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tare.records import Outcome, Sample
from tare.records.columns import NONE, SampleColumns, SampleKind, filled

_NUMBERS = ("iteration", "instance", "round", "process")
SAMPLE_SCHEMA = pa.schema(
    [(name, pa.int32()) for name in ("trial", "kind", "place", *_NUMBERS)] + [("value", pa.float64())]
)
SAMPLE_ENCODING = {
    "use_dictionary": ["trial", "kind", "instance", "round", "process"],
    "column_encoding": {"place": "DELTA_BINARY_PACKED"},
}
"""Encodings for columns with few values, and for one that counts up."""
JOINED = ("trial", "kind", "iteration", "instance", "value")
"""The columns needed to join samples."""
_ALIKE = ("name", "unit", "direction", "coordinates")
_KEY = attrgetter(*(name if name != "direction" else "direction._value_" for name in _ALIKE), "iteration")
"""A string's hash takes a tenth of an enumeration's."""
_BEYOND = 1 << 40
"""Beyond any value in a column."""
_FIELDS = {name: attrgetter(name) for name in _NUMBERS}
_VALUE = attrgetter("value")
_PIECES = 2
"""Number of row groups kept in memory."""
Array = np.ndarray[Any, Any]


class SampleRows:
    """Collects the samples of successive trials."""

    def __init__(self) -> None:
        """Start empty."""
        self._numbers: dict[tuple[Any, ...], int] = {}
        self.kinds: list[SampleKind] = []
        """The kinds that the column ``kind`` indexes."""
        self._begin()

    def __len__(self) -> int:
        return len(self._columns["value"])

    def add(self, trial: int, outcome: Outcome) -> None:
        """Add a trial's samples; ``OverflowError`` for a number below 0 or too large for a column."""
        samples = outcome.samples
        order: dict[int, int] = {}
        kinds = list(map(self._kind, samples))
        self._columns["trial"].extend([trial] * len(samples))
        self._columns["kind"].extend(kinds)
        self._columns["order"].extend([order.setdefault(kind, len(order)) for kind in kinds])
        self._columns["place"].extend(range(len(samples)))
        self._columns["value"].extend(map(_VALUE, samples))
        for name, get in _FIELDS.items():
            numbers = map(get, samples)
            self._columns[name].extend(
                [NONE if number is None else number if number >= 0 else _BEYOND for number in numbers]
            )

    def taken(self) -> pa.Table:
        """All rows since the last call, by trial, kind, iteration and instance; kinds in order of appearance."""
        columns = {name: np.asarray(column) for name, column in self._columns.items()}
        self._begin()
        rows = np.lexsort([columns[name] for name in ("instance", "iteration", "order", "trial")])
        return pa.table({name: columns[name][rows] for name in SAMPLE_SCHEMA.names}, schema=SAMPLE_SCHEMA)

    def _begin(self) -> None:
        names = (*SAMPLE_SCHEMA.names, "order")
        self._columns = {name: array("d" if name == "value" else "i") for name in names}

    def _kind(self, sample: Sample) -> int:
        *alike, iteration = _KEY(sample)
        key = (*alike, iteration == 0)
        if (number := self._numbers.get(key)) is None:
            number = self._numbers[key] = len(self.kinds)
            fields = {name: getattr(sample, name) for name in _ALIKE}
            self.kinds.append(SampleKind(**fields, first=iteration == 0))
        return number


class KeptSamples:
    """Each trial's samples as its workload reported them, read on access."""

    def __init__(self, path: Path, kinds: Sequence[SampleKind], first_trials: Sequence[int]) -> None:
        """Open the file; ``first_trials``: for each row group, the first trial with rows there."""
        self._opened, self._kinds, self._first_trials = pq.ParquetFile(path), kinds, first_trials
        self._rows = lru_cache(_PIECES)(self._piece)

    def groups(self) -> Iterator[SampleColumns]:
        """The columns needed to join the samples, one group of trials at a time."""
        for number in range(self._opened.num_row_groups):
            yield SampleColumns(**self._read(number, JOINED))

    def __getitem__(self, place: int) -> tuple[Sample, ...]:
        if (piece := bisect_right(self._first_trials, place) - 1) < 0:
            return ()
        columns = self._rows(piece)
        first, end = np.searchsorted(columns["trial"], [place, place + 1])
        rows = first + np.argsort(columns["place"][first:end])
        kinds = [self._kinds[kind] for kind in columns["kind"][rows].tolist()]
        fields = {
            **{name: map(attrgetter(name), kinds) for name in _ALIKE},
            **{name: _or_none(columns[name][rows].tolist()) for name in _NUMBERS},
            "value": columns["value"][rows].tolist(),
        }
        return tuple(filled(Sample, fields, len(kinds)))

    def _piece(self, number: int) -> dict[str, Array]:
        return self._read(number, SAMPLE_SCHEMA.names)

    def _read(self, number: int, names: Sequence[str]) -> dict[str, Array]:
        table = self._opened.read_row_group(number, columns=list(names), use_threads=False)
        return {name: table.column(name).to_numpy() for name in names}


def _or_none(numbers: list[int]) -> list[int | None]:
    return [None if number == NONE else number for number in numbers]
