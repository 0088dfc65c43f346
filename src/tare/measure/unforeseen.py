# SPDX-License-Identifier: Apache-2.0
"""Unforeseen errors and a lost result folder: the cause in words, and what can be stored of it."""

import os
import traceback
from contextlib import suppress
from pathlib import Path

from tare.errors import JournalError, LockedError, NodeError, TareError, TrialError
from tare.host.paths import rescued_directory
from tare.journal.result import ResultFolder, make_trial_folder
from tare.journal.whole import open_new
from tare.journal.writer import JournalWriter, make_folder

TRACE = "unforeseen-error.txt"
"""File in the folder of a trial's raw output."""
_LONGEST_TRACE = 64 << 10
_LONGEST_WORDS = 300
_ENDS_ALL = (JournalError, LockedError)
"""Without the journal or the host's lock no trial can be recorded, or go on."""


def as_trial_error(error: Exception) -> TrialError:
    """The error as the end of one trial; raises ``error`` again if it ends more."""
    if isinstance(error, _ENDS_ALL):
        raise error
    if isinstance(error, TrialError):
        return error
    return NodeError(in_words(error))


def in_words(error: Exception) -> str:
    """The text of Tare's own and the system's errors; for others their kind, text and place."""
    if isinstance(error, TareError | OSError):
        return str(error)
    said = str(error)[:_LONGEST_WORDS]
    words = f"{type(error).__name__}{f' ({said})' if said else ''} in {_place(error)}"
    return f"an error that Tare did not foresee: {words}; please report it"


def keep_trace(folder: Path, error: Exception) -> None:
    """Write it to a trial's raw output, unless the error needs no explanation or writing fails."""
    if isinstance(error, TareError | OSError):
        return
    with suppress(Exception):  # a full disk or memory must not hide the error itself
        text = "".join(traceback.format_exception(error))[-_LONGEST_TRACE:]
        make_trial_folder(folder)
        with open_new(folder / TRACE) as kept:
            kept.write(text.encode(errors="backslashreplace"))


def _place(error: Exception) -> str:
    """Module and function of the last of Tare's own frames."""
    frames = [
        (frame.f_globals.get("__name__", "?"), frame.f_code)
        for frame, _ in traceback.walk_tb(error.__traceback__)
    ]
    own = [(name, code) for name, code in frames if str(name).startswith("tare.")] or frames
    return f"{own[-1][0]}.{own[-1][1].co_qualname}" if own else "an unknown place"


def rescue(folder: ResultFolder, campaign: str, name: str, writer: JournalWriter) -> JournalError:
    """Write this session's lines and its ``campaign`` as a separate result; return the error that says where.

    ``name``: of the journal's file, which its lines name too.
    """
    lost = f"{folder.path} was deleted or moved while it was measured"
    kept = ResultFolder(rescued_directory() / f"{folder.path.name or 'result'}-{Path(name).stem}")
    try:
        make_folder(kept.path.parent)
        kept.path.mkdir(mode=0o700)
        kept.write_campaign(campaign)
        make_folder(kept.journal)
        _write_own(kept.journal / name, writer.content())
    except (OSError, JournalError) as error:
        return JournalError(f"{lost}, and what this session measured cannot be kept in {kept.path}: {error}")
    return JournalError(
        f"{lost}; the trials of this session are kept in {kept.path}: `tare show {kept.path}` shows them, and "
        f"`tare run {kept.path}` goes on there. If the folder was moved, it is whole where it is now: continue that"
    )


def _write_own(path: Path, content: bytes) -> None:
    """Write a file that nobody else can read, never over another file."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with open(os.open(path, flags, 0o600), "wb") as opened:  # noqa: PTH123 - a descriptor, not a path
        opened.write(content)
        opened.flush()
        os.fsync(opened.fileno())
