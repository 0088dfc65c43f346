# SPDX-License-Identifier: Apache-2.0
"""Records to lines of JSON and back: the lines of earlier versions, without a seal, and the part that all share."""

import re
from functools import cache
from typing import Any

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
        return _LINES[kind].model_validate_json(line).record
    except (ValueError, KeyError) as error:
        raise _no_line(where, error) from error


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
