# SPDX-License-Identifier: Apache-2.0
"""The only door to the terminal: it makes control characters in any printed text visible."""

import errno
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TextIO, cast

from tare.errors import NobodyReads, OutputError
from tare.foreign import visible

_LAST_STANDARD = 2


class Standard(io.TextIOBase):
    """Standard output or error; a failed write raises ``OutputError``, or is ignored if ``optional``."""

    def __init__(self, behind: TextIO | None, *, optional: bool) -> None:
        """``behind``: the stream as Python opened it; ``None`` if it was closed before the start."""
        super().__init__()
        self._behind = behind
        self._optional = optional

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return getattr(self._behind, "encoding", None) or "utf-8"

    @property
    def errors(self) -> str:  # type: ignore[override]
        return getattr(self._behind, "errors", None) or "replace"

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return self._behind is not None and self._behind.isatty()

    def fileno(self) -> int:
        if self._behind is None:
            raise io.UnsupportedOperation("a closed stream has no descriptor")
        return self._behind.fileno()

    def write(self, text: str) -> int:
        with self._told():
            if self._behind is None:
                raise OSError(errno.EBADF, "it is closed")
            self._behind.write(text)
        return len(text)

    def flush(self) -> None:
        with self._told():
            if self._behind is not None:
                self._behind.flush()

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            self._let_go()
            if isinstance(error, BrokenPipeError):
                reason: OutputError = NobodyReads("nobody reads the output any more")
            else:
                reason = OutputError(
                    f"the output cannot be written: {error.strerror}; send it where there is room for it"
                )
            if not self._optional:
                raise reason from error

    def _let_go(self) -> None:
        """Discard the stream's buffered output, or the interpreter would try to write it again at exit."""
        with suppress(OSError), open(os.devnull, "wb") as nowhere:  # noqa: PTH123 - no path of anybody's
            os.dup2(nowhere.fileno(), self.fileno())


class Door(Standard):
    """A stream for text of any origin; ``own`` is for our own colours and cursor movements."""

    def __init__(self, behind: TextIO | None, *, optional: bool) -> None:
        super().__init__(behind, optional=optional)
        self.own = Standard(behind, optional=optional)

    def write(self, text: str) -> int:
        super().write(visible(text))
        return len(text)


def own(stream: TextIO) -> TextIO:
    """The stream behind a door, for Tare's own terminal control."""
    return cast("TextIO", stream.own) if isinstance(stream, Door) else stream


@contextmanager
def doors() -> Iterator[None]:
    """Send all output through doors: results must arrive, but invisible progress does not stop a run."""
    _fill_closed()
    behind = sys.stdout, sys.stderr
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal without a minus sign still gets its table
    sys.stdout = cast("TextIO", Door(sys.stdout, optional=False))
    sys.stderr = cast("TextIO", Door(sys.stderr, optional=True))
    try:
        yield
    finally:
        sys.stdout, sys.stderr = behind


def _fill_closed() -> None:
    """Fill closed descriptors: a journal opened as a free descriptor 1 would receive output of host programs."""
    while (opened := os.open(os.devnull, os.O_RDWR)) <= _LAST_STANDARD:
        pass
    os.close(opened)
