# SPDX-License-Identifier: Apache-2.0
"""Independent steps, run at the same time; when one fails, the tools of the others end."""

import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager, nullcontext, suppress
from contextvars import ContextVar
from typing import TypeVar

Result = TypeVar("Result")


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
