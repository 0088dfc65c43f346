# SPDX-License-Identifier: Apache-2.0
"""Lines that reveal changes: each has a CRC, its number, and the CRC of the line before.

    {"crc":"89abcdef","schema":2,"file":"0a1b2c3d","line":17,"after":"76543210","kind":"outcome","record":{...}}

``crc`` covers everything after it (CRC-32, RFC 1952), ``file`` the file's name, ``after`` the line before: a line
that is altered, removed, doubled, moved or from another file is detected. This is no signature: rewriting all
following lines goes undetected.
"""

import re
from typing import NamedTuple
from zlib import crc32

from tare.errors import JournalError
from tare.journal.lines import MOST_LINE_BYTE, LaterVersionError, body_of, kind_of
from tare.records import Outcome, Session

SEALED_SCHEMA = 2
"""Schema of lines with a seal; lines of schema 1 have none."""
_SEAL = re.compile(rb'\{"crc":"([0-9a-f]{8})","schema":([0-9]{1,9}),')
_BEHIND_CRC = len(b'{"crc":"00000000",')
_LINK = re.compile(
    rb'"file":"([0-9a-f]{8})","line":([0-9]{1,15}),"after":"([0-9a-f]{8})","kind":"([a-z]{1,20})","record":\{'
)
END = "end"


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
