# SPDX-License-Identifier: Apache-2.0
"""Outcomes of a large journal: short fields are in memory, long fields are read on access."""

from bisect import bisect_right
from functools import lru_cache
from itertools import accumulate, repeat
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from tare.journal.outcome_columns import FIELDS, SESSION, TEXTS, TRIAL, Column, read_field
from tare.journal.reader import Samples
from tare.records import Outcome, Trial
from tare.records.columns import filled

_LONG = {
    "excerpt",
    "instances",
    "signals",
    "host_signals",
    "missing_signals",
    "clock_quality",
    "parity",
    "load",
    "turns",
    "facts",
}
_COLUMNS_KEPT = 64
"""Number of long columns, by field and row group, that stay in memory."""


class LightOutcome(Outcome):
    """An outcome without its long fields in memory: a hundred thousand take tens of megabytes instead of gigabytes.

    Every field reads as in any outcome, and ``dataclasses.replace`` gives an outcome that holds all of them.
    """

    __slots__ = ("_place", "_source")
    _source: "LightOutcomes"
    _place: int

    def __getattr__(self, name: str) -> Any:
        """Read a field that is not set."""
        if name == "samples":
            return self._source.samples[self._place]
        if name in _LONG:
            return self._source.value(name, self._place)
        raise AttributeError(name)


class LightOutcomes:
    """The outcomes of a file of columns, which stays open."""

    def __init__(self, path: Path, samples: Samples) -> None:
        """Open the file; ``samples`` may be replaced later."""
        self._opened = pq.ParquetFile(path, read_dictionary=list(TEXTS))
        self.samples = samples
        groups = range(self._opened.num_row_groups)
        sizes = [self._opened.metadata.row_group(group).num_rows for group in groups]
        self._firsts = list(accumulate(sizes, initial=0))
        """Position of the first outcome of each row group, and the position after the last outcome."""
        self._column = lru_cache(_COLUMNS_KEPT)(self._read)

    def all(self) -> list[LightOutcome]:
        """All outcomes in the journal's order."""
        return [outcome for group in range(self._opened.num_row_groups) for outcome in self._group(group)]

    def sessions(self) -> list[int]:
        """Number of sessions begun before each outcome."""
        return list(self._opened.read([SESSION], use_threads=False).column(SESSION).to_pylist())

    def value(self, name: str, place: int) -> Any:
        """The value of a long field."""
        group = bisect_right(self._firsts, place) - 1
        return self._column(group, name)[place - self._firsts[group]]

    def _group(self, group: int) -> list[LightOutcome]:
        first, end = self._firsts[group : group + 2]
        columns = {path: self._read(group, path) for path in FIELDS if path not in _LONG}
        trial = {name.removeprefix(TRIAL): columns.pop(name) for name in FIELDS if name.startswith(TRIAL)}
        own = {
            "trial": filled(Trial, trial, end - first),
            "_source": repeat(self),
            "_place": range(first, end),
        }
        return filled(LightOutcome, {**columns, **own}, end - first)

    def _read(self, group: int, path: str) -> Column:
        return read_field(self._opened, group, path)
