# SPDX-License-Identifier: Apache-2.0
"""A machine booted once, stopped once its first process serves, and restored for every equal node.

Its state is a file without a name, which this process holds open: it is gone when the process ends or is killed. It
travels as QEMU's migration stream (QEMU's docs/devel/migration.rst), so that a restored guest's memory is as anonymous
as a booted one's, and not pages of a file. What all restored guests would otherwise share is then made their own: the
time of day by the keeper's greeting, as at every boot; random numbers by the kernel, which the device vmgenid informs
of its new identity; and the host name.
"""

import os
import tempfile
import time
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tare.environments.qemu.command import QemuMachine, argv
from tare.environments.qemu.devices import CHANNEL
from tare.environments.qemu.monitor import Monitor, connected
from tare.environments.qemu.processor import DIES_WITH_US
from tare.errors import NodeError
from tare.guests.channel import READY_LIMIT_S
from tare.guests.kernel import find_kernel
from tare.host import process
from tare.host.paths import state_directory
from tare.nodes.provider import NodeSpec
from tare.records import NetworkKind, Storage

FACT, RESTORED = "guest's start", "restored from a snapshot"
"""The fact in the outcome of a restored guest."""

_HELLO_INTERVAL_S = 1.0
"""A guest repeats its hello so often until the host answers (native/channel), which happens only after the stop."""
_STOP_AT_S = 0.9
"""After a hello: shortly before the next one, which a restored guest then says at once."""
_STOP_TRIES = 20
_SAVE_LIMIT_S, _SAVE_STEP_S = 120.0, 0.01
_UNLIMITED_BYTE = 1 << 40
"""Per second; by default QEMU saves slowly, as for a network."""
_RENEW = 'printf %s "$0" > /proc/sys/kernel/hostname && cat "$@"'
_NUMBER = "/proc/sys/kernel/random/uuid"
_RENEW_LIMIT_S, _RESEED_STEP_S = 60.0, 0.1
_RESEED_TRIES, _FIRST_DRAWN = 50, 64
"""The first guest draws more numbers than any later guest may before it is given up: a guest whose kernel never got
another seed draws the same numbers, and all numbers it can reach are known."""


@dataclass(frozen=True, slots=True, kw_only=True, weakref_slot=True)
class Saved:
    """One machine's state; it is gone once nothing refers to this any more."""

    descriptor: int
    drawn: set[str] = field(default_factory=set)
    """All random numbers of the guests restored from it."""

    @property
    def path(self) -> str:
        """A path for other processes of this user."""
        return f"/proc/{os.getpid()}/fd/{self.descriptor}"


def obstacle(spec: NodeSpec) -> str | None:
    """Why this node cannot be restored, and what to choose; ``None``: it can."""
    if spec.storage is Storage.DISK:
        return "a restored guest has no second disk as it was when the snapshot was taken: choose storage = tmpfs"
    if spec.binds:
        return "QEMU saves no guest with a bound directory (9p): leave binds out"
    if spec.network.kind is NetworkKind.VETH:
        return "a restored guest has the booted one's addresses, so it gets no link: choose network = none"
    return None


def likeness(spec: NodeSpec, machine: QemuMachine) -> tuple[object, ...]:
    """Everything that makes a difference to a booted guest, except its name."""
    named = argv(machine).index("-name") + 1
    return *argv(machine)[:named], *argv(machine)[named + 1 :], spec.shm_byte, spec.image_digest


def first_argv(machine: QemuMachine) -> list[str]:
    """The argv of the machine that is booted: its guest's output is printed; it is saved as running, though stopped."""
    words = ["file,id=channel,path=/dev/fd/1" if word == CHANNEL else word for word in argv(machine)]
    return [*words, "-global", "migration.store-global-state=off"]


def restored_argv(machine: QemuMachine, saved: Saved) -> list[str]:
    return [*argv(machine), "-incoming", f"exec:cat {saved.path}"]


def take(spec: NodeSpec, machine: QemuMachine, before: Sequence[str]) -> Saved:
    """Boot the machine with ``before`` as its argv's prefix, save it and end it; some seconds. Raises ``NodeError``."""
    with _first(spec, machine, before) as hello_s, connected(spec.directory) as monitor:
        _stop(monitor, hello_s)
        saved = _nameless()
        _save(monitor, saved)
    return saved


def renew(prefix: Sequence[str], name: str, saved: Saved) -> None:
    """Give the guest its name; ``NodeError`` unless its random numbers differ from those of all before it."""
    numbers = [_NUMBER] * (1 if saved.drawn else _FIRST_DRAWN)
    argv_inside = [*prefix, "sh", "-c", _RENEW, name, *numbers]
    for _ in range(_RESEED_TRIES):
        drawn = process.run_checked(argv_inside, timeout_s=_RENEW_LIMIT_S).stdout.split()
        if saved.drawn.isdisjoint(drawn):
            saved.drawn.update(drawn)
            return
        time.sleep(_RESEED_STEP_S)
    raise NodeError(
        "the restored guest draws the same random numbers as one before: its kernel does not heed vmgenid; "
        "choose start = boot, or another kernel"
    )


def _nameless() -> Saved:
    descriptor, path = tempfile.mkstemp(dir=state_directory(), prefix=".snapshot-")
    Path(path).unlink()
    saved = Saved(descriptor=descriptor)
    weakref.finalize(saved, os.close, descriptor)
    return saved


@contextmanager
def _first(spec: NodeSpec, machine: QemuMachine, before: Sequence[str]) -> Iterator[float]:
    """While it runs: the ``time.monotonic`` of its guest's hello, which includes the kernel's release."""
    words = [*before, *DIES_WITH_US, *first_argv(machine)]
    release = find_kernel(machine.options.kernel).release.encode()
    pid = process.start_idle(
        words, log=spec.directory / "snapshot.log", ready=release, timeout_s=READY_LIMIT_S
    )
    try:
        yield time.monotonic()
    finally:
        process.kill_idle(pid)


def _stop(monitor: Monitor, hello_s: float) -> None:
    """Stop between two hellos; if it is too late, wait for the next one, ``_STOP_TRIES`` times at most."""
    for _ in range(_STOP_TRIES):
        since_s = (time.monotonic() - hello_s) % _HELLO_INTERVAL_S
        time.sleep(max(0.0, _STOP_AT_S - since_s))
        monitor.ask("stop")
        if (time.monotonic() - hello_s) % _HELLO_INTERVAL_S >= _STOP_AT_S:
            return
        monitor.ask("cont")
    raise NodeError(
        f"QEMU stopped the guest too late {_STOP_TRIES} times: the host is busy; choose start = boot"
    )


def _save(monitor: Monitor, saved: Saved) -> None:
    monitor.ask("migrate-set-parameters", **{"max-bandwidth": _UNLIMITED_BYTE})
    monitor.ask("migrate", uri=f"exec:cat > {saved.path}")
    deadline = time.monotonic() + _SAVE_LIMIT_S
    while (save := monitor.ask("query-migrate")).get("status") != "completed":
        if save.get("status") == "failed" or time.monotonic() > deadline:
            raise NodeError(
                f"QEMU does not save the guest ({save.get('error-desc', 'it takes too long')}): choose start = boot"
            )
        time.sleep(_SAVE_STEP_S)
