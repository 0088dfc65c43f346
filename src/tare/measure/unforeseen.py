# SPDX-License-Identifier: Apache-2.0
"""Unforeseen errors: they end one trial, with the cause in words and the trace stored for debugging."""

import traceback
from contextlib import suppress
from pathlib import Path

from tare.errors import JournalError, LockedError, NodeError, TareError, TrialError
from tare.journal.own_result import make_trial_folder
from tare.journal.whole import open_new

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
