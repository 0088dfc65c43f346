# SPDX-License-Identifier: Apache-2.0
"""The last resort: an unforeseen error becomes one line in words, and its traceback a file."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tare.errors import TareError
from tare.foreign import one_line, visible
from tare.host.paths import state_directory

_PACKAGE = Path(__file__).resolve().parent.parent


@contextmanager
def faults_elsewhere_told() -> Iterator[None]:
    """Report errors in threads and destructors, where nobody can catch them, in the same way."""
    before = threading.excepthook, sys.unraisablehook
    threading.excepthook = sys.unraisablehook = _tell
    try:
        yield
    finally:
        threading.excepthook, sys.unraisablehook = before


def _tell(raised: "threading.ExceptHookArgs | sys.UnraisableHookArgs") -> None:
    if raised.exc_value is not None:
        print(f"tare: {kept_fault(raised.exc_value)}", file=sys.stderr)


def kept_fault(error: BaseException) -> str:
    """One line on what happened and where, with the name of the new file that has the traceback."""
    said = one_line(f"{type(error).__name__}: {_text(error)}")
    return f"a fault of Tare's own: {said} ({_place(error)}). {_kept(error)}"


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception as also:  # noqa: BLE001 - an error without a readable message is reported by its kind
        return f"its text cannot be made ({type(also).__name__})"


def _place(error: BaseException) -> str:
    """The last line of Tare's own code in the traceback."""
    import traceback  # only the rare case needs it, and it would slow down every start of tare

    frames = [
        (Path(frame.f_code.co_filename), number) for frame, number in traceback.walk_tb(error.__traceback__)
    ]
    own = [
        f"{path.relative_to(_PACKAGE)}:{number}" for path, number in frames if path.is_relative_to(_PACKAGE)
    ]
    return own[-1] if own else "outside of its code"


def _kept(error: BaseException) -> str:
    import tempfile
    import traceback

    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", prefix="tare-fault-", suffix=".txt", dir=_folder(), delete=False
        ) as opened:
            opened.write(visible("".join(traceback.format_exception(error))))
    except OSError as also:
        return f"Please report it; its traceback cannot be kept: {also.strerror}"
    return f"Please report it with its traceback, {opened.name}"


def _folder() -> Path | None:
    """The state folder, readable only by its owner; ``None``, for the temporary folder, where there is none yet."""
    try:
        folder = state_directory()
    except TareError:
        return None
    return folder if folder.is_dir() else None
