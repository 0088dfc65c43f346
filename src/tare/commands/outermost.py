# SPDX-License-Identifier: Apache-2.0
"""Wrapper of every command: doors to the terminal, and words and an exit code for every exception."""

import re
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from tare.commands.terminal import doors
from tare.errors import ExitCode, NobodyReads, TareError
from tare.foreign import one_line, shortened, visible
from tare.host.paths import state_directory

_LONGEST_ERROR = 4000
"""Characters: a screenful, for example for a campaign with errors in many keys."""
_LIBRARY = re.compile(
    r"(lib[\w.+-]+\.so[.\d]*): cannot open shared object file|loading shared library (lib[\w.+-]+\.so[.\d]*):"
)
"""As glibc's and as musl's loader say that one is not there."""
_PACKAGE = Path(__file__).resolve().parent.parent


def ended(command: Callable[[], int | None]) -> int:
    """The exit code of ``command``, after flushing all its output."""
    with doors(), faults_elsewhere_told(), warnings.catch_warnings():
        if not sys.warnoptions:
            warnings.simplefilter("ignore")  # they address programmers, and would appear inside a table
        try:
            code = command()
            sys.stdout.flush()
        except NobodyReads as error:
            code = error.exit_code
        except TareError as error:
            print(f"tare: {shortened(str(error), _LONGEST_ERROR)}", file=sys.stderr)
            code = error.exit_code
        except (typer.Abort, KeyboardInterrupt):
            code = ExitCode.INTERRUPTED
        except Exception as error:  # noqa: BLE001 - the parser's errors share no public base; others are faults
            code = _unexpected(error)
        return code or ExitCode.DONE


def _unexpected(error: Exception) -> int:
    """Objections of the command-line parser are wrong input; every other error is a fault of Tare."""
    if (say := getattr(error, "format_message", None)) is not None:
        context = getattr(error, "ctx", None)
        path = getattr(context, "command_path", "tare")
        print(f"tare: {_sentence(say())} ({path} --help)", file=sys.stderr)
        return ExitCode.WRONG_INPUT
    print(f"tare: {_lacking_library(error) or kept_fault(error)}", file=sys.stderr)
    return ExitCode.CANNOT


def _lacking_library(error: Exception) -> str | None:
    """What to install where a compiled Python package lacks a library of the host; ``None`` for other errors."""
    lacking = _LIBRARY.search(_text(error)) if isinstance(error, ImportError) else None
    if lacking is None:
        return None
    from tare.host.distribution import to_install

    library = lacking[1] or lacking[2]
    package = {"libstdc++.so.6": "libstdc++6", "libgcc_s.so.1": "libgcc-s1"}.get(library)
    way = to_install(package) if package else "install the package that has it"
    return f"{library} is not on this host, and one of the Python packages that Tare needs is linked with it: {way}"


def _sentence(words: str) -> str:
    """A message of the parser's without its full stop, in one line."""
    said = one_line(" ".join(words.split())).rstrip(".")
    return said[:1].lower() + said[1:]


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
