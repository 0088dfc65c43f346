# SPDX-License-Identifier: Apache-2.0
"""Outcomes of a large journal: what is short is at hand, what is long is read whenever it is asked for."""

from bisect import bisect_right
from functools import lru_cache
from itertools import accumulate, repeat
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from tare.journal.outcome_columns import FIELDS, SESSION, TEXTS, TRIAL, Column, read_field
from tare.journal.reader import Samples
from tare.records import Outcome, Trial
from tare.records.filled import filled

_LONG = {
    "excerpt",
    "instances",
    "signals",
    "missing_signals",
    "clock_quality",
    "parity",
    "load",
    "turns",
    "facts",
}
_COLUMNS_KEPT = 64
"""Of so many fields and row groups what is long stays in memory."""


class LightOutcome(Outcome):
    """An outcome whose long fields are not kept: a hundred thousand take tens of megabytes and not gigabytes.

    Every field reads as any outcome's, and ``dataclasses.replace`` gives one that holds all of them.
    """

    __slots__ = ("_place", "_source")
    _source: "LightOutcomes"
    _place: int

    def __getattr__(self, name: str) -> Any:
        """What is not set."""
        if name == "samples":
            return self._source.samples[self._place]
        if name in _LONG:
            return self._source.value(name, self._place)
        raise AttributeError(name)


class LightOutcomes:
    """The outcomes of a file of columns, which stays open."""

    def __init__(self, path: Path, samples: Samples) -> None:
        """Open it; ``samples`` may be exchanged for others later."""
        self._opened = pq.ParquetFile(path, read_dictionary=list(TEXTS))
        self.samples = samples
        groups = range(self._opened.num_row_groups)
        sizes = [self._opened.metadata.row_group(group).num_rows for group in groups]
        self._firsts = list(accumulate(sizes, initial=0))
        """Of each row group the place of its first outcome, and of what would follow the last."""
        self._column = lru_cache(_COLUMNS_KEPT)(self._read)

    def all(self) -> list[LightOutcome]:
        """In the journal's order."""
        return [outcome for group in range(self._opened.num_row_groups) for outcome in self._group(group)]

    def sessions(self) -> list[int]:
        """Of each outcome, how many sessions had begun."""
        return list(self._opened.read([SESSION], use_threads=False).column(SESSION).to_pylist())

    def value(self, name: str, place: int) -> Any:
        """Of a long field."""
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
