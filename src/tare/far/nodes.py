# SPDX-License-Identifier: Apache-2.0
"""The life of a node on this host, for a client at the other end of a connection.

A node's record is written before anything is made, and locked by the process that started the node and by every
short-lived tool that this process runs. A record that nobody holds is a leftover.
"""

import fcntl
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tare.environments import PROVIDERS
from tare.errors import NodeError
from tare.far.locks import lock
from tare.host import process
from tare.host.cgroups import remove_parent_if_empty
from tare.host.facts import online_processors
from tare.host.removal import remove_folder
from tare.node_life import start_recorded, stop_node
from tare.nodes.provider import NodeSpec, Provider
from tare.nodes.record import LONGEST_RECORD_BYTE, RECORD, make_node_folder, parse_record, record_text

_KEEPER = "keeper"
_TAKE_LIMIT_S = 60.0
_LOOKS = 10
_LOOK_S = 0.01
_OUR_PROGRAM = b"tare/far/start.py"


class HeldNode:
    """A node in this process's care, from the writing of its record to its end."""

    def __init__(self, state: Path, spec: NodeSpec) -> None:
        """Record it and start it; ``NodeError`` if that fails, and nothing is left."""
        self.spec = spec
        self.provider: Provider = PROVIDERS[spec.technology]
        _refuse_missing_processors(self.spec)
        _refuse_other_runs(state, self.spec.name)
        self._lock = _write_down(self.spec)
        process.inherit(self._lock)
        try:
            self.node = start_recorded(self.spec, self.provider)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Remove all of it; ``NodeError`` if something stays."""
        try:
            _stop(self.spec, self.provider)
        finally:
            process.inherit(None)
            os.close(self._lock)


def stop_named(state: Path, name: str) -> None:
    """Remove a node known only by name, once its keeper has ended; harmless when it is gone."""
    directory = state / "nodes" / name
    with _taken(directory) as text:
        if text is not None:
            _stop_recorded(directory, text)


def remove_leftovers(state: Path) -> list[str]:
    """Remove the nodes without a keeper; the host's lock must be held. Return their names.

    What stays is named on standard error, and does not stop the others from being removed.
    """
    removed = []
    for record in sorted((state / "nodes").glob(f"*/{RECORD}")):
        try:
            if _is_stopped(record):
                removed.append(record.parent.name)
        except Exception as error:  # noqa: BLE001 - whatever is wrong with this one, the others must go
            sys.stderr.write(f"{record.parent}: {error}\n")
    return removed


def _is_stopped(record: Path) -> bool:
    """Whether the node had no keeper, and is gone now."""
    held = _held(record, fcntl.LOCK_EX)
    if held is None:
        return False
    try:
        _stop_recorded(record.parent, os.pread(held, LONGEST_RECORD_BYTE, 0))
    finally:
        os.close(held)
    return True


def _write_down(spec: NodeSpec) -> int:
    """The record's lock, taken before anything is written to it; shared, as tools that leave a daemon take it too."""
    directory = spec.directory
    make_node_folder(directory)
    held = lock(directory / RECORD, fcntl.LOCK_SH, os.O_CREAT)
    if held is None or not os.fstat(held).st_nlink:
        raise NodeError(f"{directory} is being removed as a leftover; try again")
    (directory / _KEEPER).write_text(str(os.getpid()))
    os.pwrite(held, record_text(spec).encode(), 0)
    return held


@contextmanager
def _taken(directory: Path) -> Iterator[bytes | None]:
    """The record's text, while nobody else holds it; ``None`` when there is none. Its holder is asked to end."""
    deadline, tell_keeper = time.monotonic() + _TAKE_LIMIT_S, False
    while (directory / RECORD).exists():
        held = _held(directory / RECORD, fcntl.LOCK_EX)
        if held is not None:
            try:
                yield os.pread(held, LONGEST_RECORD_BYTE, 0) if os.fstat(held).st_nlink else None
            finally:
                os.close(held)
            return
        if not tell_keeper:
            tell_keeper = _tell_keeper(directory)
        if time.monotonic() > deadline:
            raise NodeError(
                f"somebody still holds {directory} after {_TAKE_LIMIT_S:.0f} s: see what hangs with ps"
            )
        time.sleep(0.02)
    with suppress(OSError):
        directory.rmdir()
    yield None


def _held(record: Path, kind: int) -> int | None:
    """Its lock; ``None`` when another process has it, or when it has just gone."""
    with suppress(FileNotFoundError):
        return lock(record, kind)
    return None


def _tell_keeper(directory: Path) -> bool:
    """Have the node's keeper remove it and end."""
    with suppress(OSError, ValueError):
        pid = int((directory / _KEEPER).read_text())
        handle = os.pidfd_open(pid)
        try:
            if _OUR_PROGRAM in Path(f"/proc/{pid}/cmdline").read_bytes():
                signal.pidfd_send_signal(handle, signal.SIGTERM)
        finally:
            os.close(handle)
        return True
    return False


def _stop_recorded(directory: Path, text: bytes) -> None:
    """Stop the node, if the record is whole: a torn one was being written before anything was started."""
    spec = parse_record(text, directory, PROVIDERS)
    if spec is None:
        remove_folder(directory, RECORD)
    else:
        _stop(spec, PROVIDERS[spec.technology])


def _stop(spec: NodeSpec, provider: Provider) -> None:
    stop_node(spec, provider)
    # A process that ends at the same time may be another node's, whose own removal waits for it.
    if not any(spec.directory.parent.glob(f"*/{RECORD}")):
        remove_parent_if_empty()


def _refuse_missing_processors(spec: NodeSpec) -> None:
    here = online_processors()
    if missing := [number for number in spec.processors if number not in here]:
        raise NodeError(
            f"it has processors {', '.join(map(str, here))}, and the node is to have {', '.join(map(str, missing))}: "
            "a campaign's processors are numbered alike on every host"
        )


def _refuse_other_runs(state: Path, name: str) -> None:
    """Two runs at once would spoil both; nodes of one run share a name except for its last part."""
    run = name.rpartition("-")[0]
    for record in (state / "nodes").glob(f"*/{RECORD}"):
        if record.parent.name.rpartition("-")[0] == run:
            continue
        if _is_kept(record):
            raise NodeError(f"another run is measuring here (node {record.parent.name}); wait for it")


def _is_kept(record: Path) -> bool:
    """Whether a keeper holds it, and not just another one that looks as well at this moment."""
    for _ in range(_LOOKS):
        held = _held(record, fcntl.LOCK_EX)
        if held is not None:
            os.close(held)
            return False
        time.sleep(_LOOK_S)
    return record.exists()
