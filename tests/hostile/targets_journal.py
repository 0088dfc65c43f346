# SPDX-License-Identifier: Apache-2.0
"""Journals and their lines: what is believed of them was written, and what is not is said."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from tare.journal import lines
from tare.journal.lines import first_link, seal
from tare.journal.reader import Reading
from tare.records import Outcome
from tests.hostile.target import IN_MEMORY, Target
from tests.journal.journal_example import a_session, an_outcome

_NAME = "20260101-a.jsonl"
_SESSION = a_session()
_OUTCOMES = [an_outcome(f"b00000{number}-w-1c1p1i-e-0") for number in range(3)]


def targets() -> Iterator[Target]:
    yield Target(name="journal", seeds=[_sealed()], parse=_journal)
    plain = lines.encode(_SESSION) + b"".join(map(lines.encode, _OUTCOMES))
    yield Target(name="journal of an earlier version", seeds=[plain], parse=_journal)
    outcome = lines.body_of(_OUTCOMES[0])
    yield Target(name="record whose CRC fits", seeds=[b'{"record":' + outcome + b"}"], parse=_record)


def _sealed() -> bytes:
    """A whole one."""
    link, written = first_link(_NAME), b""
    for record in (_SESSION, _SESSION, *_OUTCOMES, None):
        line, link = seal(record, link)
        written += line
    return written


def _journal(text: bytes) -> None:
    with tempfile.TemporaryDirectory(dir=IN_MEMORY) as made:
        Path(made, _NAME).write_bytes(text)
        reading = Reading(Path(made))
        outcomes = [record for record in reading.records() if isinstance(record, Outcome)]
    integrity = reading.integrity
    if not integrity.unchecked:
        assert all(outcome in _OUTCOMES for outcome in outcomes)
        assert outcomes == _OUTCOMES or integrity.damage or integrity.unended


def _record(line: bytes) -> None:
    record = lines.read_record("outcome", line, "journal")
    assert lines.decode(lines.encode(record), "journal") == record
