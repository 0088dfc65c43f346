# SPDX-License-Identifier: Apache-2.0
"""The threads of QEMU that are the guest's processors, and the processors on which each thread may run."""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tare.environments.qemu.monitor import Monitor
from tare.errors import NodeError
from tare.host.told import part


def virtual_processors(monitor: Monitor) -> tuple[int, ...]:
    """Thread ids on this host, in the order of the guest's processors."""
    answer = part(list[dict[str, Any]], monitor.ask("query-cpus-fast"), "query-cpus-fast")
    numbers = [(_whole(entry, "cpu-index"), _whole(entry, "thread-id")) for entry in answer]
    return tuple(thread for _, thread in sorted(numbers))


def _whole(entry: Mapping[str, Any], name: str) -> int:
    return part(int, entry.get(name), f"query-cpus-fast ({name})")


def pin(threads: Sequence[int], processors: Sequence[int]) -> None:
    """Pin each thread to one processor, in order; ``NodeError`` if that fails."""
    for thread, processor in zip(threads, processors, strict=True):
        _confine(thread, {processor})


def move_others(pids: Sequence[int], threads: Sequence[int], processors: Sequence[int]) -> None:
    """Move all threads of these processes except ``threads`` to these processors; new threads inherit them."""
    for pid in pids:
        for thread in _threads_of(pid):
            if thread not in threads:
                _confine(thread, set(processors))


def run_on(threads: Sequence[int]) -> tuple[int, ...]:
    """The processors on which these threads may run; ``NodeError`` when one has ended."""
    try:
        return tuple(sorted(set().union(*map(os.sched_getaffinity, threads))))
    except ProcessLookupError as error:
        raise NodeError("a thread of QEMU's that is a processor of the guest has ended") from error


def _threads_of(pid: int) -> list[int]:
    with suppress(OSError):
        return [int(entry.name) for entry in Path(f"/proc/{pid}/task").iterdir()]
    return []


def _confine(thread: int, processors: set[int]) -> None:
    try:
        os.sched_setaffinity(thread, processors)
    except ProcessLookupError:
        return  # a worker that has ended since
    except OSError as error:
        raise NodeError(f"QEMU's thread {thread} cannot be put on {processors}: {error.strerror}") from error
