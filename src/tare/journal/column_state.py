# SPDX-License-Identifier: Apache-2.0
"""Which journal the columns belong to, and whether they are unaltered: trust rests on the content alone."""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO
from zlib import crc32

from pydantic import TypeAdapter

from tare.host.own_files import open_plain, open_regular
from tare.host.trust import asking_users, distrust
from tare.journal.lines import MOST_LINE_BYTE
from tare.journal.outcome_columns import OUTCOME_SHAPE
from tare.journal.reader import campaign_digest
from tare.journal.result import CAMPAIGN_FILE, journal_files
from tare.journal.sample_columns import SAMPLE_SCHEMA
from tare.journal.whole import write_whole
from tare.records import Integrity, Seen, Session
from tare.records.columns import SampleKind

OUTCOMES, SAMPLES = "outcomes.parquet", "samples.parquet"
SHAPE = f"{crc32(f'{OUTCOME_SHAPE} {SAMPLE_SCHEMA}'.encode()):08x}"
"""A record with a new field, or with fields in another order, has other columns."""
Contents = Mapping[str, str]
Files = Mapping[str, BinaryIO]
"""Open files by name."""
_STATE = "state.json"
_MOST_STATE_BYTE = 64 << 20
_PIECE_BYTE = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """Everything but the outcomes and samples."""

    shape: str = SHAPE
    journal: Contents
    """Identifies the journal."""
    derived: Contents
    """Identifies the columns."""
    sessions: tuple[Session, ...]
    kinds: tuple[SampleKind, ...]
    first_trials: tuple[int, ...]
    """The first trial with samples in each row group."""
    repeated: tuple[str, ...]
    integrity: Integrity
    seen: Mapping[str, Seen]


_ADAPTER = TypeAdapter(State)


def journal_contents(journal: Path) -> Contents:
    """Identify a journal, together with its campaign; raises ``OSError``."""
    campaign = campaign_digest(journal.parent)
    files = {path.name: _content_at(path) for path in journal_files(journal)}
    return {**files, **({CAMPAIGN_FILE: campaign} if campaign else {})}


@contextmanager
def open_columns(directory: Path) -> Iterator[Files]:
    """Open the column files; ``OSError`` if one is missing, is a link, or another user owns or can write it."""
    with ExitStack() as stack:
        yield {name: stack.enter_context(_open_own(directory / name)) for name in (OUTCOMES, SAMPLES)}


def column_contents(files: Files) -> Contents:
    """Identify the columns, and distinguish them from copies; raises ``OSError``.

    A user who copies a result owns the copy, but need not have made the columns in it: a state that others wrote for
    their own columns is not valid for a copy. Nobody can choose a file's time of last change (inode(7), ctime).
    """
    return {name: f"{_content(opened)} {_which(opened)}" for name, opened in files.items()}


def write_state(directory: Path, state: State) -> None:
    """Write the state atomically; raises ``OSError``."""
    text = json.dumps(_ADAPTER.dump_python(state, mode="json"))
    write_whole(directory / _STATE, f"{crc32(text.encode()):08x}\n{text}")


def remove_state(directory: Path) -> None:
    """Stop trusting the columns in ``directory``."""
    (directory / _STATE).unlink(missing_ok=True)


def believed_state(directory: Path, journal: Contents, files: Files) -> State | None:
    """``None`` unless the state and the columns are unaltered, by this user, and of this journal."""
    try:
        with _open_own(directory / _STATE) as opened:
            crc, _, text = opened.read(_MOST_STATE_BYTE).partition(b"\n")
        if crc != b"%08x" % crc32(text):
            return None
        state = _ADAPTER.validate_json(text)
        current = state.shape == SHAPE and state.journal == journal
        return state if current and state.derived == column_contents(files) else None
    except (OSError, ValueError):
        return None


def _open_own(path: Path) -> BinaryIO:
    """Open a regular file that nobody else could have written; ``OSError`` if there is none."""
    descriptor = open_plain(path)
    if why := distrust(os.fstat(descriptor), path, asking_users()):
        os.close(descriptor)
        raise PermissionError(f"{path} {why}")
    return os.fdopen(descriptor, "rb")


def _content_at(path: Path) -> str:
    with os.fdopen(open_regular(path), "rb") as opened:
        return _content(opened)


def _which(opened: BinaryIO) -> str:
    status = os.fstat(opened.fileno())
    return f"{status.st_dev} {status.st_ino} {status.st_ctime_ns}"


def _content(opened: BinaryIO) -> str:
    """Size and CRC of everything that a reader would read."""
    size = crc = since_end = 0
    opened.seek(0)
    # A longer line without an end stops the reading (one_file): what follows may never end.
    while since_end <= 2 * MOST_LINE_BYTE + 1 and (piece := opened.read(_PIECE_BYTE)):
        size, crc = size + len(piece), crc32(piece, crc)
        end = piece.rfind(b"\n")
        since_end = len(piece) - end - 1 + (since_end if end < 0 else 0)
    return f"{size} {crc:08x}"
