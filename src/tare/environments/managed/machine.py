# SPDX-License-Identifier: Apache-2.0
"""What a technology owes that starts machines by its hypervisor's tool: the life of one of them."""

from abc import ABC, abstractmethod
from collections.abc import Mapping

from tare.host.cgroups import Settings
from tare.nodes.provider import NodeSpec


class Machine(ABC):
    """One node's machine. It is found by ``spec`` alone, because another process may have to take it away.

    Every method may raise ``NodeError``, which says what the tool said.
    """

    outlives_node: bool = True
    """Whether its disk is kept, so that it has to be asked to end before it is switched off."""

    own_kernel: bool = True
    """Whether it numbers its processors from 0; false for what is a container in truth."""

    def __init__(self, spec: NodeSpec) -> None:
        """Know the node; nothing is asked of the tool before a method is called."""
        self.spec = spec

    @property
    def own_processors(self) -> tuple[int, ...]:
        """The numbers that its own system gives to the node's processors."""
        return tuple(range(len(self.spec.processors))) if self.own_kernel else self.spec.processors

    @property
    @abstractmethod
    def name(self) -> str:
        """What the tool knows it by, for messages too."""

    @abstractmethod
    def is_on(self) -> bool:
        """Whether it runs, is paused or saved; false too if there is no such machine."""

    @abstractmethod
    def make(self) -> None:
        """All that comes before it is switched on: a clone, a snapshot, its limits.

        ``NodeError`` for a limit that the hypervisor cannot keep and the user has not said to do without.
        """

    @abstractmethod
    def switch_on(self) -> None: ...

    @abstractmethod
    def ask_to_end(self) -> None:
        """Press its power button: its system ends in good order, in its own time."""

    @abstractmethod
    def switch_off(self) -> None:
        """At once; harmless when it is off."""

    @abstractmethod
    def unmake(self) -> None:
        """Take back what ``make`` did, whatever part of it was done; the machine is off."""

    @abstractmethod
    def address(self) -> str | None:
        """Where its system is reached, as the hypervisor knows; ``None``: not yet, or never."""

    @abstractmethod
    def holds(self) -> Settings:
        """What the hypervisor says that it keeps the running machine to; ``None``s: nothing.

        Its memory is all of the machine's, with what the machine's own system needs. The processors are the host's.
        """

    def cpu_s(self) -> float | None:
        """CPU time, by the hypervisor's accounting; ``None`` if it keeps none."""
        return None

    def facts(self) -> Mapping[str, str]:
        """What the outcome records of the running machine."""
        return {}

    def helpers(self) -> list[int]:
        """As ``Provider.helpers``: where the hypervisor is a process of this host."""
        return []

    def virtual_processors(self) -> list[int]:
        """As ``Provider.virtual_processors``."""
        return []
