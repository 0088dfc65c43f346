# SPDX-License-Identifier: Apache-2.0
"""The interface of a technology that starts machines by its hypervisor's tool: the life of one machine."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import TypeVar

from tare.errors import NodeError
from tare.host.cgroups import Settings
from tare.nodes.provider import NodeSpec

Found = TypeVar("Found")
_PAUSE_S = 0.5


def wait_for(ask: Callable[[], Found | None], limit_s: float, what: str, pause_s: float = _PAUSE_S) -> Found:
    """The first answer that is neither ``None`` nor false; ``NodeError`` naming ``what`` after the limit.

    >>> wait_for(lambda: 3, 1.0, "the answer")
    3
    """
    deadline = time.monotonic() + limit_s
    while not (answer := ask()):
        if time.monotonic() > deadline:
            raise NodeError(f"{what} did not come within {limit_s:.0f} s")
        time.sleep(pause_s)
    return answer


class Machine(ABC):
    """One node's machine. ``spec`` alone identifies it, because another process may have to remove it.

    Every method may raise ``NodeError`` with the tool's message.
    """

    outlives_node: bool = True
    """Whether its disk is kept, so that it must be asked to end before it is switched off."""

    own_kernel: bool = True
    """Whether it numbers its processors from 0; false for a machine that is really a container."""

    def __init__(self, spec: NodeSpec) -> None:
        """Keep the node; the tool is not called before a method is."""
        self.spec = spec

    @property
    def own_processors(self) -> tuple[int, ...]:
        """The numbers that its own system gives to the node's processors."""
        return tuple(range(len(self.spec.processors))) if self.own_kernel else self.spec.processors

    @property
    @abstractmethod
    def name(self) -> str:
        """The tool's name for it, also used in messages."""

    @abstractmethod
    def is_on(self) -> bool:
        """Whether it runs, is paused or saved; also false if there is no such machine."""

    @abstractmethod
    def make(self) -> None:
        """Do everything needed before it is switched on: a clone, a snapshot, its limits.

        ``NodeError`` for a limit that the hypervisor cannot enforce and the user has not given up.
        """

    @abstractmethod
    def switch_on(self) -> None: ...

    @abstractmethod
    def ask_to_end(self) -> None:
        """Press its power button: its system shuts down cleanly, in its own time."""

    @abstractmethod
    def switch_off(self) -> None:
        """Switch it off at once; harmless when it is off."""

    @abstractmethod
    def unmake(self) -> None:
        """Undo what ``make`` did, even if it did only part; the machine is off."""

    @abstractmethod
    def address(self) -> str | None:
        """The address of its system, as the hypervisor knows it; ``None``: not yet, or never."""

    @abstractmethod
    def holds(self) -> Settings:
        """The limits that the hypervisor reports for the running machine; ``None`` fields: no limit.

        The memory is the whole machine's, including the needs of its own system. The processors are the host's.
        """

    def cpu_s(self) -> float | None:
        """CPU time, by the hypervisor's accounting; ``None`` if it reports none."""
        return None

    def facts(self) -> Mapping[str, str]:
        """The facts about the running machine that the outcome records."""
        return {}

    def helpers(self) -> list[int]:
        """As ``Provider.helpers``, where the hypervisor is a process of this host."""
        return []

    def virtual_processors(self) -> list[int]:
        """As ``Provider.virtual_processors``."""
        return []
