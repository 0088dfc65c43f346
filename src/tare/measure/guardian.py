# SPDX-License-Identifier: Apache-2.0
"""A small process that outlives a killed runner and removes its nodes.

It holds the host lock together with the runner and waits on a pipe, using no CPU time, for the runner's end. A word
through the pipe means a clean end. A pipe that closes without it means that the runner was killed.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tare.errors import TareError
from tare.host.paths import state_directory
from tare.host.process import tool_environment

_CLEAN_END = b"clean end\n"
_START_LIMIT_S = 10.0


@contextmanager
def guarded(lock_descriptor: int) -> Iterator[None]:
    """Keep a guardian while the body runs."""
    child = subprocess.Popen(
        [sys.executable, "-P", "-m", "tare.measure.guardian"],  # -P: run no module from the current folder
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=(lock_descriptor,),
        start_new_session=True,
        env=_variables(),
    )
    try:
        yield
    finally:
        try:
            child.communicate(_CLEAN_END, timeout=_START_LIMIT_S)
        except subprocess.TimeoutExpired:
            child.kill()
            child.communicate()


def _variables() -> dict[str, str]:
    """Environment with the same folders and modules as this process."""
    kept = {name: os.environ[name] for name in ("PYTHONPATH", "TMPDIR") if name in os.environ}
    return {**tool_environment(), **kept, "TARE_STATE": str(state_directory())}


def watch() -> int:
    """The guardian's life; returns its exit code."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    if sys.stdin.buffer.read() == _CLEAN_END:
        return 0
    from tare.measure.clean import clean_up  # noqa: PLC0415 - a guardian that is never needed starts faster

    try:
        return 1 if clean_up().kept else 0
    except TareError:
        return 1  # the next run tries again and says what it cannot remove


if __name__ == "__main__":
    sys.exit(watch())
