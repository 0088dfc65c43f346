# SPDX-License-Identifier: Apache-2.0
"""Errors that nobody foresaw: one trial's end with its cause in words, and the trace kept for a bug report."""

import traceback
from contextlib import suppress
from pathlib import Path

from tare.errors import JournalError, LockedError, NodeError, TareError, TrialError
from tare.journal.own_result import make_trial_folder
from tare.journal.whole import open_new

TRACE = "unforeseen-error.txt"
"""In the folder of a trial's raw output."""
_LONGEST_TRACE = 64 << 10
_LONGEST_WORDS = 300
_ENDS_ALL = (JournalError, LockedError)
"""Without the journal or the host's lock no trial can be told, or go on."""


def as_trial_error(error: Exception) -> TrialError:
    """What ends one trial; raises ``error`` again where it ends more."""
    if isinstance(error, _ENDS_ALL):
        raise error
    if isinstance(error, TrialError):
        return error
    return NodeError(in_words(error))


def in_words(error: Exception) -> str:
    """What Tare raises on purpose and what the system refuses say it themselves; of others kind, words and place."""
    if isinstance(error, TareError | OSError):
        return str(error)
    said = str(error)[:_LONGEST_WORDS]
    words = f"{type(error).__name__}{f' ({said})' if said else ''} in {_place(error)}"
    return f"an error that Tare did not foresee: {words}; please report it"


def keep_trace(folder: Path, error: Exception) -> None:
    """Into a trial's raw output; nothing of what needs no explanation, and nothing where it cannot be written."""
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
