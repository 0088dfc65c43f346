# SPDX-License-Identifier: Apache-2.0
"""A running machine's process on this host: VBoxHeadless, with a thread for each virtual processor."""

import os
import re
from contextlib import suppress
from pathlib import Path

from tare.errors import NodeError
from tare.host.cgroups import format_processors

_PROCESSES = Path("/proc")
_VIRTUAL_PROCESSOR = re.compile(r"EMT(-\d+)?")
"""VirtualBox calls the threads that run guests "emulation threads"."""
_ROUNDS = 20
_TICK_S = 1 / os.sysconf("SC_CLK_TCK")


def machine_process(identity: str) -> int | None:
    """The process started for the machine with this UUID; VirtualBox's server starts it with these words."""
    for path in _PROCESSES.glob("[0-9]*/cmdline"):
        with suppress(OSError):
            words = path.read_bytes().decode(errors="replace").split("\0")
            if "--startvm" in words[:-1] and words[words.index("--startvm") + 1] == identity:
                return int(path.parent.name)
    return None


def threads(pid: int) -> dict[int, str]:
    """Id → name; none when it has ended."""
    names = {}
    for path in _PROCESSES.glob(f"{pid}/task/[0-9]*/comm"):
        with suppress(OSError):
            names[int(path.parent.name)] = path.read_text(errors="replace").strip()
    return names


def virtual_processors(pid: int) -> list[int]:
    """The threads that run the guest."""
    return [number for number, name in sorted(threads(pid).items()) if _VIRTUAL_PROCESSOR.fullmatch(name)]


def keep_to(pid: int, processors: tuple[int, ...]) -> None:
    """Pin all its threads to these processors, also threads started meanwhile (sched_setaffinity(2)).

    A thread inherits the processors of the thread that starts it, so each round leaves fewer to move.
    """
    for _ in range(_ROUNDS):
        if processors_of(pid) == processors:
            return
        for number in threads(pid):
            _keep_thread_to(number, processors)
    raise NodeError(
        f"the threads of process {pid} cannot be kept to processors {format_processors(processors)}"
    )


def _keep_thread_to(number: int, processors: tuple[int, ...]) -> None:
    try:
        os.sched_setaffinity(number, processors)
    except ProcessLookupError:
        return
    except OSError as error:
        raise NodeError(
            f"thread {number} of the machine cannot be kept to processors "
            f"{format_processors(processors)}: {error.strerror}"
        ) from error


def processors_of(pid: int) -> tuple[int, ...] | None:
    """All processors on which any of its threads may run; ``None`` when it has ended."""
    processors: set[int] = set()
    for number in threads(pid):
        with suppress(ProcessLookupError):
            processors |= os.sched_getaffinity(number)
    return tuple(sorted(processors)) or None


def cpu_s(pid: int) -> float | None:
    """The CPU time for itself and the guest (proc(5), stat: utime and stime); ``None`` when it has ended."""
    try:
        fields = (_PROCESSES / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) * _TICK_S
