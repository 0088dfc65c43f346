# SPDX-License-Identifier: Apache-2.0
"""Records to lines of JSON and back."""

import json
from typing import Any

from pydantic import TypeAdapter

from tare.errors import JournalError
from tare.records import SCHEMA, Outcome, Session

_ADAPTERS: dict[str, TypeAdapter[Any]] = {"session": TypeAdapter(Session), "outcome": TypeAdapter(Outcome)}


def encode(record: Session | Outcome) -> bytes:
    """One line, newline included."""
    kind = "session" if isinstance(record, Session) else "outcome"
    body = _ADAPTERS[kind].dump_json(record)
    return b'{"schema":%d,"kind":"%s","record":%s}\n' % (SCHEMA, kind.encode(), body)


def decode(line: bytes, where: str) -> Session | Outcome:
    """``JournalError`` names the place and, for a journal of a later Tare, says so."""
    try:
        found = json.loads(line)
        if found["schema"] > SCHEMA:
            raise JournalError(
                f"{where}: written by a later Tare (schema {found['schema']}); use that version"
            )
        record: Session | Outcome = _ADAPTERS[found["kind"]].validate_python(found["record"], strict=False)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        reason = str(error).partition("\n")[0]
        raise JournalError(
            f"{where}: not a line of a journal; restore the file from a copy ({reason})"
        ) from error
    return record
