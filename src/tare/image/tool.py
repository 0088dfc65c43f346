# SPDX-License-Identifier: Apache-2.0
"""Runs the programs that make an image: one argv, a time limit, and the last lines kept for the message."""

import shutil
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from tare.errors import HostError, ImageError
from tare.image.together import ended_with_the_others, kill_group
from tare.units import format_byte

Progress: TypeAlias = Callable[[str], None]

KEPT_LINES = 15
CAGE = (
    *("setpriv", "--pdeathsig", "KILL"),
    *("unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--"),
)
"""Put before a command: all its processes and mounts end with this process, even when that is killed
(namespaces(7), PR_SET_PDEATHSIG in prctl(2))."""


def run_tool(
    argv: Sequence[str],
    *,
    limit_s: float,
    on_line: Progress | None = None,
    variables: Mapping[str, str] | None = None,
) -> None:
    """Run to its end, passing each line it prints to ``on_line``; ``ImageError`` holds its last lines.

    ``variables`` replaces the whole environment. Put ``CAGE`` before a program that starts its own processes.
    """
    kept: deque[str] = deque(maxlen=KEPT_LINES)
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
    with started as process, ended_with_the_others(process):
        watchdog = threading.Timer(limit_s, kill_group, [process])
        watchdog.start()
        try:
            for line in process.stdout or ():
                kept.append(line.rstrip())
                if on_line:
                    on_line(line.rstrip())
            process.wait()
        except BaseException:
            kill_group(process)
            raise
        finally:
            timed_out = watchdog.finished.is_set()
            watchdog.cancel()
    if process.returncode:
        why = (
            f"did not end within {limit_s:g} s"
            if timed_out
            else f"failed with exit code {process.returncode}"
        )
        raise ImageError("\n  ".join([f"{_program(argv)} {why}; its last lines:", *kept]))


def _program(argv: Sequence[str]) -> str:
    rest = argv[len(CAGE) :] if tuple(argv[: len(CAGE)]) == CAGE else argv
    return Path(rest[0]).name


def require_tools(packages: Mapping[str, str]) -> None:
    """Raise ``HostError`` for the missing programs; ``packages`` maps program to Debian package."""
    missing = sorted({package for program, package in packages.items() if not shutil.which(program)})
    if missing:
        raise HostError(f"Making an image needs {', '.join(missing)}: apt-get install {' '.join(missing)}")


def require_space(directory: Path, needed_byte: int) -> None:
    """Raise ``HostError`` when the file system of ``directory``, which need not exist yet, has less free."""
    existing = next(path for path in (directory, *directory.parents) if path.exists())
    free_byte = shutil.disk_usage(existing).free
    if free_byte < needed_byte:
        raise HostError(
            f"An image needs {format_byte(needed_byte)} free at {existing}, which has {format_byte(free_byte)}: "
            "free some, or set TARE_STATE to a directory on a larger disk."
        )
