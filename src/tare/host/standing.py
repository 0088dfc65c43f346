# SPDX-License-Identifier: Apache-2.0
"""A process's scheduling settings on the host and its resource limits: read, and reset for everything that we start.

Sources: sched(7), setpriority(2), ioprio_set(2), proc(5) oom_score_adj, prctl(2) PR_SET_TIMERSLACK, getrlimit(2).
"""

import ctypes
import os
import platform
import resource
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

_IO_CALLS = {"x86_64": (251, 252), "aarch64": (30, 31)}
"""Machine → the numbers of ioprio_set and ioprio_get (the kernel's system call tables)."""
_IO_PROCESS = 1
_SET_TIMER_SLACK = 29
_PLAIN: Mapping[str, Any] = {
    "nice": 0,
    "scheduler": os.SCHED_OTHER,
    "io_priority": 0,
    "oom_score_adjustment": "0",
    "timer_slack_ns": 50_000,
}
"""The kernel's values for its first process, and daemons' for their children."""
_PID_MAX = Path("/proc/sys/kernel/pid_max")
_LIMITS = {
    name.removeprefix("RLIMIT_").lower(): getattr(resource, name)
    for name in dir(resource)
    if name.startswith("RLIMIT_") and name != "RLIMIT_OFILE"
}
"""Names of getrlimit(2) → Python's numbers."""


def standing(pid: int | None = None) -> dict[str, Any]:
    """A process's values, by default this one's, under the stopwatch's names; ``None`` for one that cannot be read."""
    who = pid or 0
    folder = Path("/proc", str(pid or "self"))
    return {
        "nice": _read(lambda: os.getpriority(os.PRIO_PROCESS, who)),
        "scheduler": _read(lambda: os.sched_getscheduler(who)),
        "io_priority": _io_priority(who),
        "oom_score_adjustment": _read(lambda: (folder / "oom_score_adj").read_text().strip()),
        "timer_slack_ns": _read(lambda: int((folder / "timerslack_ns").read_text())),
    }


def resource_limits() -> dict[str, tuple[int, int]]:
    """The limits of all nodes: name → soft and hard, -1 for none. This process's own, with two exceptions.

    Open files: the soft limit equals the hard one, as ``docker exec`` and ``podman exec`` leave a command's soft limit
    to chance where it is lower (github.com/opencontainers/runc, issue 4195). Processes: never more than there can be.
    """
    limits = {name: resource.getrlimit(number) for name, number in _LIMITS.items()}
    limits["nofile"] = (limits["nofile"][1],) * 2
    most = _read(lambda: int(_PID_MAX.read_text()))
    if most is not None and "nproc" in limits:
        soft, hard = (
            most if limit == resource.RLIM_INFINITY else min(limit, most) for limit in limits["nproc"]
        )
        limits["nproc"] = (soft, hard)
    return limits


@contextmanager
def plain() -> Iterator[None]:
    """Give this process the scheduling that daemons give their children, as far as its rights go; restore it after.

    The runner's children inherit its niceness; a daemon's do not. The limit on processes is lowered for good, as only
    some users may raise one.
    """
    before, priority = standing(), os.sched_getparam(0)
    limits, files = resource_limits(), resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NPROC, limits["nproc"])
    resource.setrlimit(resource.RLIMIT_NOFILE, limits["nofile"])
    _stand(_PLAIN, os.sched_param(0))
    try:
        yield
    finally:
        _stand(before, priority)
        resource.setrlimit(resource.RLIMIT_NOFILE, files)


@contextmanager
def locking_memory() -> Iterator[None]:
    """Let this process, and what it starts, lock as much memory as its rights allow: a fabric sends from locked memory.

    Restored after.
    """
    before = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    lock_any_memory()
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_MEMLOCK, before)


def lock_any_memory() -> int:
    """The same for good; return the limit in bytes, soft and hard alike, -1 for none."""
    most = resource.RLIM_INFINITY
    try:
        resource.setrlimit(resource.RLIMIT_MEMLOCK, (most, most))
    except (OSError, ValueError):  # an ordinary user may not raise the hard limit
        most = resource.getrlimit(resource.RLIMIT_MEMLOCK)[1]
        resource.setrlimit(resource.RLIMIT_MEMLOCK, (most, most))
    return most


def _stand(wanted: Mapping[str, Any], priority: os.sched_param) -> None:
    """Set what can be set: an ordinary user may not rise, so everything that it starts stays as low."""
    with suppress(OSError, TypeError):
        os.sched_setscheduler(0, wanted["scheduler"], priority)
    with suppress(OSError, TypeError):
        os.setpriority(os.PRIO_PROCESS, 0, wanted["nice"])
    with suppress(OSError, TypeError):
        Path("/proc/self/oom_score_adj").write_text(wanted["oom_score_adjustment"])
    if (calls := _IO_CALLS.get(platform.machine())) and wanted["io_priority"] is not None:
        _call("syscall", calls[0], _IO_PROCESS, 0, wanted["io_priority"])
    if wanted["timer_slack_ns"] is not None:
        _call("prctl", _SET_TIMER_SLACK, wanted["timer_slack_ns"])


def _io_priority(pid: int) -> int | None:
    calls = _IO_CALLS.get(platform.machine())
    priority = -1 if calls is None else _call("syscall", calls[1], _IO_PROCESS, pid)
    return None if priority < 0 else priority


def _call(name: str, *arguments: int) -> int:
    function = getattr(ctypes.CDLL(None), name)
    return int(function(*map(ctypes.c_long, arguments)))


def _read(read: Callable[[], Any]) -> Any:
    try:
        return read()
    except (OSError, ValueError):
        return None
