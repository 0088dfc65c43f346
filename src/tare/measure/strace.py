# SPDX-License-Identifier: Apache-2.0
"""strace(1) on running processes of nodes: attached, following their children, and ended with its table.

It runs on the host: no node needs it. It ends with this process, even if that is killed; the traced processes go on.
"""

import shutil
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

from tare.errors import NodeError
from tare.host.distribution import to_install
from tare.host.process import tool_environment
from tare.untrusted import whole

COLUMNS = "name,calls,errors"
"""The requested columns of the table (strace(1), --summary-columns)."""
_HEAD = ["syscall", "calls", "errors"]
_TOTAL = "total"
_TITLE = "System call usage summary"
"""Title of a second table, for 32-bit programs."""
MISSING = f"strace is not on this host; get it ({to_install('strace')}) and try again"
_DIES_WITH_US = ("setpriv", "--pdeathsig", "KILL")
_ATTACH_LIMIT_S = 10.0
_END_LIMIT_S = 15.0
_PAUSE_S = 0.002


def parse_calls(text: str) -> tuple[Mapping[str, int], Mapping[str, int]]:
    """Number of calls by name, and number of failures; ``NodeError`` if a table is incomplete."""
    made: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    summed: tuple[int, int] | None = None
    for name, calls, errors in _rows(text):
        if name != _TOTAL:
            made[name] += calls
            failed[name] += errors
        else:
            summed = _whole(calls, errors, summed)
    if summed != (made.total(), failed.total()):
        raise NodeError("strace's table of system calls is cut short", text[-400:])
    return dict(made), {name: errors for name, errors in failed.items() if errors}


def _whole(calls: int, errors: int, before: tuple[int, int] | None) -> tuple[int, int]:
    """The total of this table and the previous one."""
    return (calls, errors) if before is None else (calls + before[0], errors + before[1])


def _rows(text: str) -> Iterator[tuple[str, int, int]]:
    """Name, calls and errors; without errors the cell is empty."""
    for line in text.splitlines():
        words = line.split()
        if not words or words == _HEAD or line.startswith(("-", _TITLE)):
            continue
        name, *numbers = words
        yield name, *_counts(numbers, line)


def _counts(numbers: list[str], line: str) -> tuple[int, int]:
    try:
        calls, errors = map(whole, numbers if len(numbers) > 1 else (*numbers, "0"))
    except ValueError:
        calls = errors = -1
    if min(calls, errors) < 0:
        raise NodeError(f"strace's table of system calls has a line that is none: {line[:80]!r}")
    return calls, errors


class Refused(NodeError):
    """The host permits no tracing of these processes."""


def is_installed() -> bool:
    return shutil.which("strace", path=tool_environment()["PATH"]) is not None


class Tracer:
    """One strace at work; a context manager that always ends it."""

    def __init__(self, processes: Sequence[int], folder: Path) -> None:
        """Start it; its files go to ``folder``. ``NodeError`` if that is not possible."""
        self._processes, self._table = processes, folder / "calls"
        self._said = folder / "calls.said"
        options = [
            "--follow-forks",
            "--summary-only",
            f"--summary-columns={COLUMNS}",
            f"--output={self._table}",
        ]
        argv = [*_DIES_WITH_US, "strace", *options, *(f"--attach={pid}" for pid in processes)]
        try:
            # It prints a line for each process that it follows: a pipe could fill and stop it.
            with self._said.open("wb") as said:
                self._child = subprocess.Popen(
                    argv,
                    stdin=subprocess.DEVNULL,
                    stdout=said,
                    stderr=said,
                    env=tool_environment(),
                    start_new_session=True,
                )
        except OSError as error:
            raise NodeError(f"strace cannot be started: {error.strerror}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._child.poll() is None:
            self._child.kill()
        with suppress(subprocess.TimeoutExpired):
            self._child.wait(timeout=_END_LIMIT_S)

    def wait_attached(self) -> None:
        """Wait until it traces all; ``Refused`` if it may not, ``NodeError`` if it takes too long."""
        deadline = time.monotonic() + _ATTACH_LIMIT_S
        while not all(_tracer_of(pid) == self._child.pid for pid in self._processes):
            if self._child.poll() is not None:
                raise Refused(
                    f"strace may not trace it: {self._last_words()}; run as root, with CAP_SYS_PTRACE"
                )
            if time.monotonic() > deadline:
                raise NodeError(f"strace was not attached within {_ATTACH_LIMIT_S:.0f} s")
            time.sleep(_PAUSE_S)

    def counts(self) -> tuple[Mapping[str, int], Mapping[str, int]]:
        """Detach it and read its counts; ``NodeError`` if it does not end, or leaves no complete table."""
        with suppress(ProcessLookupError):
            self._child.send_signal(signal.SIGINT)
        try:
            self._child.wait(timeout=_END_LIMIT_S)
        except subprocess.TimeoutExpired as error:
            raise NodeError(f"strace did not end within {_END_LIMIT_S:.0f} s") from error
        try:
            return parse_calls(self._table.read_text(errors="replace"))
        except OSError as error:
            raise NodeError(f"strace left no table: {error.strerror}; {self._last_words()}") from error

    def _last_words(self) -> str:
        lines = self._said.read_text(errors="replace").strip().splitlines()
        return lines[-1].removeprefix("strace: ")[:200] if lines else "it said nothing"


def _tracer_of(pid: int) -> int | None:
    """PID of the process's tracer (proc(5), TracerPid); 0: none, ``None``: the process is gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(errors="replace").splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) for line in lines if line.startswith("TracerPid:")), None)
