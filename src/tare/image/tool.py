# SPDX-License-Identifier: Apache-2.0
"""Runs the programs that make an image: one argv, a time limit, and the last lines kept for the message."""

import os
import re
import shutil
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager, nullcontext, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import TypeAlias, TypeVar

from tare.errors import HostError, ImageError
from tare.host.distribution import to_install
from tare.units import format_byte

Progress: TypeAlias = Callable[[str], None]

KEPT_LINES = 15
KEPT_ERRORS = 5
_ERROR = re.compile(r"\berror: ")
"""As compilers and linkers write it: other compilers, at work beside the one that failed, print more lines after it."""
CAGE = (
    *("setpriv", "--pdeathsig", "KILL"),
    *("unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--"),
)
"""Put before a command: all its processes and mounts end with this process, even when that is killed
(namespaces(7), PR_SET_PDEATHSIG in prctl(2))."""
Result = TypeVar("Result")


def run_tool(
    argv: Sequence[str],
    *,
    limit_s: float,
    on_line: Progress | None = None,
    variables: Mapping[str, str] | None = None,
) -> None:
    """Run to its end, passing each line it prints to ``on_line``; ``ImageError`` holds its errors and last lines.

    ``variables`` replaces the whole environment. Put ``CAGE`` before a program that starts its own processes.
    """
    kept: deque[str] = deque(maxlen=KEPT_LINES)
    errors: list[str] = []
    started = subprocess.Popen(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env=variables,
        umask=0o022,
        start_new_session=True,
    )
    is_late = threading.Event()

    def stop() -> None:
        is_late.set()  # before the end that it causes, which the reader below sees at once
        kill_group(started)

    with started as process, ended_with_the_others(process):
        watchdog = threading.Timer(limit_s, stop)
        watchdog.start()
        try:
            for line in process.stdout or ():
                kept.append(line.rstrip())
                if len(errors) < KEPT_ERRORS and _ERROR.search(line):
                    errors.append(line.rstrip())
                if on_line:
                    on_line(line.rstrip())
            process.wait()
        except BaseException:
            kill_group(process)
            raise
        finally:
            watchdog.cancel()
    if process.returncode:
        why = (
            f"did not end within {limit_s:g} s"
            if is_late.is_set()
            else f"failed with exit code {process.returncode}"
        )
        errors = [line for line in errors if line not in kept]
        heading = "its first errors and its last lines" if errors else "its last lines"
        raise ImageError("\n  ".join([f"{_program(argv)} {why}; {heading}:", *errors, *kept]))


def _program(argv: Sequence[str]) -> str:
    rest = argv[len(CAGE) :] if tuple(argv[: len(CAGE)]) == CAGE else argv
    if Path(rest[0]).name == "prlimit":  # of ``limits.bounded``
        rest = rest[list(rest).index("--") + 1 :]
    return Path(rest[0]).name


def require_tools(packages: Mapping[str, str]) -> None:
    """Raise ``HostError`` for the missing programs; ``packages`` maps program to Debian package."""
    missing = sorted({package for program, package in packages.items() if not shutil.which(program)})
    if missing:
        raise HostError(f"Making an image needs {', '.join(missing)}: {to_install(*missing)}")


def require_space(directory: Path, needed_byte: int) -> None:
    """Raise ``HostError`` when the file system of ``directory``, which need not exist yet, has less free."""
    existing = next(path for path in (directory, *directory.parents) if path.exists())
    free_byte = shutil.disk_usage(existing).free
    if free_byte < needed_byte:
        raise HostError(
            f"An image needs {format_byte(needed_byte)} free at {existing}, which has {format_byte(free_byte)}: "
            "free some, or set TARE_STATE to a directory on a larger disk."
        )


class _Tools:
    """The processes that steps wait for; a process that starts after the end is ended at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[str]] = set()
        self._is_over = False

    @contextmanager
    def holding(self, process: subprocess.Popen[str]) -> Iterator[None]:
        with self._lock:
            self._running.add(process)
            if self._is_over:
                kill_group(process)
        try:
            yield
        finally:
            with self._lock:
                self._running.remove(process)

    def end(self) -> None:
        with self._lock:
            self._is_over = True
            for process in self._running:
                kill_group(process)


_tools: ContextVar[_Tools | None] = ContextVar("_tools", default=None)


def together(*steps: Callable[[], Result]) -> list[Result]:
    """The steps' results, in their order; raises the exception of the first to fail, once the others have ended."""
    tools = _Tools()

    def run(step: Callable[[], Result]) -> Result:
        _tools.set(tools)
        return step()

    with ThreadPoolExecutor(len(steps)) as pool:
        futures = [pool.submit(run, step) for step in steps]
        try:
            for done in as_completed(futures):
                done.result()
        except BaseException:
            tools.end()
            raise
    return [future.result() for future in futures]


def kill_group(process: subprocess.Popen[str]) -> None:
    """Kill a session leader and what it started: a surviving compiler would hold the pipe that is read."""
    if process.returncode is None:  # else its number may be another's
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


@contextmanager
def ended_with_the_others(process: subprocess.Popen[str]) -> Iterator[None]:
    """Kill the group of ``process`` when another step of the same ``together`` fails; elsewhere do nothing."""
    tools = _tools.get()
    with tools.holding(process) if tools else nullcontext():
        yield
