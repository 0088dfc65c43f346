# SPDX-License-Identifier: Apache-2.0
"""Records to lines of JSON and back, sealed: each has a CRC, its number, and the CRC of the line before.

    {"crc":"89abcdef","schema":2,"file":"0a1b2c3d","line":17,"after":"76543210","kind":"outcome","record":{...}}

``crc`` covers everything after it (CRC-32, RFC 1952), ``file`` the file's name, ``after`` the line before: a line
that is altered, removed, doubled, moved or from another file is detected. This is no signature: rewriting all
following lines goes undetected. Lines of earlier versions have no seal; their part that all share is read the same.
"""

import re
from functools import cache
from typing import Any, NamedTuple
from zlib import crc32

import pydantic_core
from pydantic import BaseModel, ConfigDict, TypeAdapter

from tare.errors import JournalError
from tare.records import SCHEMA, Outcome, Session
from tare.untrusted import from_json

MOST_LINE_BYTE = 64 << 20
"""Limit of one line: about half a million samples. A longer line is neither written nor read."""
_DIGITS, _LONG = bytes.maketrans(b"123456789", b"000000000"), b"0" * 20
"""Maps all digits to 0, and a run of more digits than any number that Tare writes."""
_HALVES = re.compile(rb"\\u[dD][89a-fA-F]")
SEALED_SCHEMA = 2
"""Schema of lines with a seal; lines of schema 1 have none."""
_SEAL = re.compile(rb'\{"crc":"([0-9a-f]{8})","schema":([0-9]{1,9}),')
_BEHIND_CRC = len(b'{"crc":"00000000",')
_LINK = re.compile(
    rb'"file":"([0-9a-f]{8})","line":([0-9]{1,15}),"after":"([0-9a-f]{8})","kind":"([a-z]{1,20})","record":\{'
)
_OF_AN_X = b'"x_unit":'
"""In a line of an earlier version, whose samples have it even where it is null; no text contains it unescaped."""
END = "end"


class _SessionLine(BaseModel):
    """A pydantic model, so that the records inherit its rule that every number is finite."""

    model_config = ConfigDict(allow_inf_nan=False)
    record: Session


class _OutcomeLine(BaseModel):
    model_config = ConfigDict(allow_inf_nan=False)
    record: Outcome


_LINES: dict[str, type[_SessionLine | _OutcomeLine]] = {"session": _SessionLine, "outcome": _OutcomeLine}


def kind_of(record: Session | Outcome) -> str:
    return "session" if isinstance(record, Session) else "outcome"


def body_of(record: Session | Outcome) -> bytes:
    return _adapter(kind_of(record)).dump_json(record)


@cache
def _adapter(kind: str) -> TypeAdapter[Any]:
    """Built on demand for writing; reading does not need it."""
    return TypeAdapter(Session if kind == "session" else Outcome)


def encode(record: Session | Outcome) -> bytes:
    """The record as one line, newline included."""
    return b'{"schema":%d,"kind":"%s","record":%s}\n' % (SCHEMA, kind_of(record).encode(), body_of(record))


def decode(line: bytes, where: str) -> Session | Outcome:
    """The record of a line without a seal; ``JournalError`` names the place."""
    try:
        values = _values(line)
        _require_schema(values["schema"])
        _with_coordinates(values["record"])
        return _LINES[values["kind"]].model_validate({"record": values["record"]}).record
    except (ValueError, KeyError, TypeError) as error:
        raise _no_line(where, error) from error


def read_record(kind: str, line: bytes, where: str) -> Session | Outcome:
    """The record of a line with a correct CRC; ``JournalError`` as in ``decode``.

    pydantic's own JSON reader takes two thirds of the time. It bounds the depth, but does not detect a repeated key; no
    accident makes such a line with a correct CRC.
    """
    try:
        _look_closely(line)
        if _OF_AN_X in line:
            values = pydantic_core.from_json(line)
            _with_coordinates(values["record"])
            return _LINES[kind].model_validate({"record": values["record"]}).record
        return _LINES[kind].model_validate_json(line).record
    except (ValueError, KeyError, TypeError) as error:
        raise _no_line(where, error) from error


def _with_coordinates(record: Any) -> None:
    """Samples of earlier versions had ``x`` and ``x_unit``, used for a size in bytes alone."""
    samples = record.get("samples") if isinstance(record, dict) else None
    for sample in samples if isinstance(samples, list) else ():
        x, unit = (
            (sample.pop(key, None) for key in ("x", "x_unit")) if isinstance(sample, dict) else (None, None)
        )
        if x is not None:
            sample["coordinates"] = [["size" if unit == "B" else "x", x, unit]]


def _require_schema(schema: object) -> None:
    if schema != SCHEMA:
        raise ValueError(f"schema {schema} without a seal")


def _values(line: bytes) -> Any:
    """Parse; a line that is re-encoded unchanged has no repeated key and no infinity, others need the slow reader."""
    _look_closely(line)
    try:
        values = pydantic_core.from_json(line)
        if pydantic_core.to_json(values) == line:
            return values
    except ValueError:
        pass
    return from_json(line, MOST_LINE_BYTE)


def _look_closely(line: bytes) -> None:
    """Refuse numbers beyond 64 bits and half characters, with a slow reader that is used for few lines."""
    if _has_long_number(line) or _HALVES.search(line):
        from_json(line, MOST_LINE_BYTE)


def _has_long_number(line: bytes) -> bool:
    """Whether a number could exceed 64 bits; digits right after a point are often that many, of a small number."""
    digits = line.translate(_DIGITS)
    place = digits.find(_LONG)
    while place > 0 and digits[place - 1 : place] == b".":
        place = digits.find(_LONG, place + len(_LONG))
    return place >= 0


class LaterVersionError(JournalError):
    """A line written by a later Tare."""

    def __init__(self, where: str, schema: object) -> None:
        super().__init__(f"{where}: written by a later Tare (schema {schema}); use that version")


def _no_line(where: str, error: Exception) -> JournalError:
    reason = str(error).partition("\n")[0]
    return JournalError(f"{where}: not a line of a journal; restore the file from a copy ({reason})")


class ChainLink(NamedTuple):
    """A position in a file's chain: its last line."""

    file: int
    """The CRC of the file's name."""
    number: int
    """From 1; 0 before the first."""
    crc: int


class Opened(NamedTuple):
    """A line with a correct CRC."""

    link: ChainLink
    after: int
    kind: str


def first_link(name: str) -> ChainLink:
    """The start of the chain of a file with this name."""
    return ChainLink(crc32(name.encode("utf-8", "surrogateescape")), 0, 0)


def seal(record: Session | Outcome | None, last: ChainLink) -> tuple[bytes, ChainLink]:
    """The line that follows ``last``, newline included, and its position; ``None`` is the session's end.

    ``JournalError`` for a record that no line can hold.
    """
    kind, body = (kind_of(record), body_of(record)) if record is not None else (END, b"{}")
    rest = b'"schema":%d,"file":"%08x","line":%d,"after":"%08x","kind":"%s","record":%s}' % (
        SEALED_SCHEMA,
        last.file,
        last.number + 1,
        last.crc,
        kind.encode(),
        body,
    )
    if len(rest) > MOST_LINE_BYTE - _BEHIND_CRC:
        raise JournalError(
            f"a record of {len(rest) >> 20} MiB, where a line of the journal may have {MOST_LINE_BYTE >> 20}: have "
            f"the workload print fewer values, or run fewer iterations"
        )
    crc = crc32(rest)
    return b'{"crc":"%08x",%s\n' % (crc, rest), ChainLink(last.file, last.number + 1, crc)


def has_seal(line: bytes) -> bool:
    """Whether the line was meant to have a seal; the seal may be broken."""
    return _SEAL.match(line) is not None


def open_seal(line: bytes, where: str) -> Opened | None:
    """``None`` for an altered line; ``JournalError`` for a line from a later Tare."""
    if not (sealed := _SEAL.match(line)):
        return None
    crc = crc32(memoryview(line)[_BEHIND_CRC:])
    if crc != int(sealed[1], 16):
        return None
    if int(sealed[2]) > SEALED_SCHEMA:
        raise LaterVersionError(where, int(sealed[2]))
    if not (match := _LINK.match(line, sealed.end())):
        return None
    return Opened(ChainLink(int(match[1], 16), int(match[2]), crc), int(match[3], 16), match[4].decode())
