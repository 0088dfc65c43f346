# SPDX-License-Identifier: Apache-2.0
"""The files of a trace: one line of JSON, then records of a fixed size (native/profile/trace_record.hpp)."""

import mmap
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from tare.errors import InputError
from tare.host.own_files import open_regular
from tare.untrusted import from_json

_RECORD = np.dtype(
    [
        ("begin", "<i8"),
        ("end", "<i8"),
        ("sent_byte", "<u8"),
        ("received_byte", "<u8"),
        ("context", "<u8"),
        ("peer", "<i4"),
        ("tag", "<i4"),
        ("request", "<u4"),
        ("call", "<i2"),
        ("kind", "u1"),
        ("flags", "u1"),
    ]
)
_MOST_HEAD_BYTE = 1 << 20
_CHUNK = 1 << 16
Records = NDArray[np.void]
WORLD = 1
"""The identity of MPI_COMM_WORLD."""


class RecordKind(IntEnum):
    """What a record is; the profiler's numbers."""

    CALL = 0
    MOVED = 1
    SENT = 2
    RECEIVED = 3
    POSTED = 4
    ENDED = 5
    MET = 6
    PART = 7
    MEMBER = 8
    OWN = 9
    CLOSED = 10
    CUT = 11


class RecordFlag(IntEnum):
    """What holds of a record."""

    IS_CALL = 1
    ON_MAIN = 2
    HAS_SENT = 4
    HAS_RECEIVED = 8


class _CallName(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    name: str
    share: Literal["init", "communication", "io"]
    begun: bool


class _Head(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    tare_trace: Literal[1]
    run: str
    rank: Annotated[int, Field(ge=0)]
    ranks: Annotated[int, Field(gt=0)]
    host: str
    program: str
    library: str
    started_unix_ns: int
    clock: str
    ns_per_tick: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    record_byte: int
    calls: tuple[_CallName, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockLine:
    """A rank's clock by that of its realm's first rank: one moment by both, and how their rates differ."""

    own_ticks: int
    reference_ticks: int
    rate_less_1: float
    realm: int
    """The same in ranks whose moments can be compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankTrace:
    """One rank's file."""

    path: Path
    head: _Head
    records: Records
    ns_per_tick: float
    line: ClockLine | None
    """``None``: the rank did not come to the end of MPI_Finalize."""
    cut: bool
    """Whether something is missing at the end."""

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """The records' fields in the order of the file, as Python's numbers."""
        for start in range(0, len(self.records), _CHUNK):
            yield from self.records[start : start + _CHUNK].tolist()

    def of_kind(self, kind: RecordKind) -> Records:
        """All records of a kind, in order."""
        chosen: Records = self.records[self.records["kind"] == kind]
        return chosen


def calls_of_other_threads(trace: RankTrace) -> int:
    """How many calls the rank made in threads that did not call MPI_Init."""
    flags = trace.records["flags"]
    of_others = ((flags & RecordFlag.IS_CALL) != 0) & ((flags & RecordFlag.ON_MAIN) == 0)
    return int(np.count_nonzero(of_others))


def read_trace(name: Path) -> list[RankTrace]:
    """All ranks of the trace ``name``, which is the name without ``.rank-0``, or any of its files.

    Raises ``InputError`` where a file is missing, or is no trace of this version.
    """
    base = _base(name)
    first = read_rank(_path(base, 0))
    ranks = [first, *(read_rank(_path(base, rank)) for rank in range(1, first.head.ranks))]
    for rank, trace in enumerate(ranks):
        if (trace.head.run, trace.head.rank, trace.head.ranks) != (first.head.run, rank, len(ranks)):
            raise InputError(f"{trace.path} is of another run than {first.path}: trace the program again")
    return ranks


def is_trace(name: Path) -> bool:
    """Whether files of a trace have this name."""
    if not name.name:  # such as a dot
        return False
    return _path(_base(name), 0).is_file() or (_is_rank(name) and name.is_file())


def _is_rank(path: Path) -> bool:
    return path.suffix.startswith(".rank-") and path.suffix.removeprefix(".rank-").isdecimal()


def _base(name: Path) -> Path:
    return name.with_suffix("") if _is_rank(name) else name


def _path(base: Path, rank: int) -> Path:
    return base.with_name(f"{base.name}.rank-{rank}")


def read_rank(path: Path) -> RankTrace:
    """One file; ``InputError`` if there is none, or it is no trace."""
    try:
        with os.fdopen(open_regular(path), "rb") as opened:
            head_text = opened.readline(_MOST_HEAD_BYTE)
            size_byte = os.fstat(opened.fileno()).st_size
            content = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) if size_byte else b""
    except OSError as error:
        raise InputError(
            f"{path} cannot be read: {error.strerror}; a trace is whole with every rank"
        ) from error
    try:
        head = _Head.model_validate(from_json(head_text))
    except ValueError as error:
        raise InputError(f"{path} is no trace of the profiler, or one of another version") from error
    if head.record_byte != _RECORD.itemsize:
        raise InputError(
            f"{path} is a trace of another version: trace the program again with this one's library"
        )
    count = (size_byte - len(head_text)) // _RECORD.itemsize
    records = np.frombuffer(content, dtype=_RECORD, count=count, offset=len(head_text))
    return _checked(path, head, records)


_SPARE_REQUESTS = 1 << 20
"""Numbers of requests beyond the records' that a trace may have, as not all that is begun is recorded."""


def _checked(path: Path, head: _Head, records: Records) -> RankTrace:
    kinds = records["kind"]
    calls = records["call"][kinds <= RecordKind.MET]
    if np.any(kinds > max(RecordKind)) or np.any(calls < 0) or np.any(calls >= len(head.calls)):
        raise InputError(f"{path} is damaged: it names calls that it does not know")
    if np.any(records["request"] > _SPARE_REQUESTS + len(records)):
        raise InputError(f"{path} is damaged: it names requests that there cannot be")
    closing = records[-1] if len(records) and kinds[-1] == RecordKind.CLOSED else None
    return RankTrace(
        path=path,
        head=head,
        records=records,
        ns_per_tick=head.ns_per_tick if closing is None else _figure(closing["sent_byte"]),
        line=None if closing is None else _line(closing),
        cut=closing is None or bool(np.any(kinds == RecordKind.CUT)),
    )


def _line(closing: np.void) -> ClockLine:
    return ClockLine(
        own_ticks=int(closing["begin"]),
        reference_ticks=int(closing["end"]),
        rate_less_1=_figure(closing["received_byte"]),
        realm=int(closing["context"]),
    )


def _figure(bits: np.uint64) -> float:
    """The number whose bits these are."""
    return float(np.uint64(bits).view(np.float64))


def communicators(ranks: Sequence[RankTrace]) -> dict[int, list[int]]:
    """Identity of each communicator → its members' ranks in MPI_COMM_WORLD, in their order."""
    known: dict[int, list[int]] = {}
    for trace in ranks:
        own: dict[int, list[int]] = {}
        for record in trace.of_kind(RecordKind.MEMBER):
            own.setdefault(int(record["context"]), []).append(int(record["peer"]))
        known |= own
    return known
