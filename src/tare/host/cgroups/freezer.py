# SPDX-License-Identifier: Apache-2.0
"""Stopping all processes of a control group at once, and letting them continue: the freezer, version 1 and 2.

Groups below are frozen with it. In version 1 a frozen process does not die even of SIGKILL before it is thawed.
Sources: the kernel's admin-guide pages cgroup-v1/freezer-subsystem.rst and cgroup-v2.rst.
"""

import errno
import os
import select
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tare.errors import NodeError
from tare.host.cgroups.group import Group
from tare.host.cgroups.hierarchies import UNIFIED, V1, V2, Hierarchies, find_hierarchies
from tare.host.cgroups.path import levels

_LIMIT_S = 5.0
_LOOK_S = 50e-6
"""Version 1 gives no notice when it is done; a freeze takes about 0.1 ms."""
_NOTICE_S = 0.01
"""Version 2 gives notice, but at most every 10 ms (kernel/cgroup/cgroup.c, CGROUP_FILE_NOTIFY_MIN_INTV)."""
_V1_STATE, _V2_STATE = "freezer.state", "cgroup.freeze"
_PLACES = {
    V1: ((V1, "freezer", _V1_STATE), (V2, UNIFIED, _V2_STATE)),
    V2: ((V2, "cpu", _V2_STATE),),
}
"""Where a host of this version may have a freezer: its version, the controller of its group, its file."""

Times = tuple[int, int]
"""When something was requested and when it was completed, CLOCK_MONOTONIC_RAW in nanoseconds."""


@dataclass(frozen=True, slots=True)
class Freezer:
    """The freezer of one control group."""

    version: int
    directory: Path

    def freeze(self) -> Times:
        """Stop the whole group; ``NodeError`` when that takes more than 2 s."""
        return freeze_all([self])

    def thaw(self) -> Times:
        """Let the whole group continue; the same error. Harmless when nothing is frozen or the group is gone."""
        return thaw_all([self])

    def request(self, *, frozen: bool) -> None:
        """Request the state without waiting."""
        name, words = (_V1_STATE, ("THAWED", "FROZEN")) if self.version == V1 else (_V2_STATE, ("0", "1"))
        try:
            (self.directory / name).write_text(words[frozen])
        except FileNotFoundError as error:
            if frozen:
                raise NodeError(f"the control group {self.directory} is gone and cannot be frozen") from error
        except OSError as error:
            verb = "freeze" if frozen else "thaw"
            raise NodeError(f"cannot {verb} the control group {self.directory}: {error.strerror}") from error

    def wait(self, *, frozen: bool) -> None:
        """Wait until the requested state is reached."""
        deadline = time.monotonic() + _LIMIT_S
        is_so = self._wait_v1 if self.version == V1 else self._wait_v2
        with _gone_groups_are_fine():
            if not is_so(frozen, deadline):
                verb = "freeze" if frozen else "thaw"
                raise NodeError(
                    f"the control group {self.directory} does not {verb} within {_LIMIT_S:.0f} s; "
                    f"it holds the processes {', '.join(map(str, self.processes())) or '(none)'}"
                )

    def _wait_v1(self, frozen: bool, deadline: float) -> bool:
        wanted = "FROZEN" if frozen else "THAWED"
        while (self.directory / _V1_STATE).read_text().strip() != wanted:
            if time.monotonic() > deadline:
                return False
            time.sleep(_LOOK_S)
            # The first request may miss a process that is just being forked, as runc's authors saw.
            self.request(frozen=frozen)
        return True

    def _wait_v2(self, frozen: bool, deadline: float) -> bool:
        wanted = f"frozen {frozen:d}"
        with (self.directory / "cgroup.events").open() as events:
            notices = select.poll()
            notices.register(events, select.POLLPRI)
            while wanted not in events.read().splitlines():
                if time.monotonic() > deadline:
                    return False
                notices.poll(_NOTICE_S * 1000)
                events.seek(0)
        return True

    def processes(self) -> list[int]:
        """All processes in the group and below."""
        return Group(self.version, {"": self.directory}).processes()


@contextmanager
def _gone_groups_are_fine() -> Iterator[None]:
    """Ignore a group that has been removed: it holds nothing that could be frozen."""
    try:
        yield
    except OSError as error:
        if error.errno not in {errno.ENOENT, errno.ENODEV}:
            raise NodeError(f"a control group's freezer cannot be read: {error.strerror}") from error


def freeze_all(freezers: Sequence[Freezer]) -> Times:
    """Freeze all groups at once: when the first was requested, and when the last was frozen; raise as ``freeze``."""
    return _all(freezers, frozen=True)


def thaw_all(freezers: Sequence[Freezer]) -> Times:
    """The same for thawing. A group that cannot be thawed does not keep others frozen."""
    return _all(freezers, frozen=False)


def _all(freezers: Sequence[Freezer], *, frozen: bool) -> Times:
    requested_ns = _now_ns()
    _each([lambda own=own: own.request(frozen=frozen) for own in freezers])  # type: ignore[misc]
    _each([lambda own=own: own.wait(frozen=frozen) for own in freezers])  # type: ignore[misc]
    return requested_ns, _now_ns()


def _each(actions: Sequence[Callable[[], None]]) -> None:
    """Do all of them even if one fails; then raise its error."""
    with ExitStack() as stack:
        for action in reversed(actions):
            stack.callback(action)


def _now_ns() -> int:
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)


@contextmanager
def thawed_at_end(freezers: Sequence[Freezer]) -> Iterator[None]:
    """Leave nothing frozen, whatever happens in the body; an interrupt during the thaw starts it again."""
    try:
        yield
    finally:
        try:
            thaw_all(freezers)
        except KeyboardInterrupt:
            thaw_all(freezers)
            raise


def freezer_of(group: Group, node: str, host: Hierarchies | None = None) -> Freezer | None:
    """The freezer that stops a whole node, given the ``group`` of one of its processes; ``None`` without one.

    It is the first group on the way down with the node's name, else ``group`` itself. A group that also holds this
    process is none: it would freeze itself.
    """
    hierarchies = host or find_hierarchies()
    for version, controller, name in _PLACES[hierarchies.version]:
        path, root = group.path(controller), hierarchies.mounts.get(controller)
        if path is None or root is None or path == str(root):
            continue
        own = Path(levels(path, str(root), node)[-1])
        freezer = Freezer(version, own)
        if (own / name).exists() and os.getpid() not in freezer.processes():
            return freezer
    return None
