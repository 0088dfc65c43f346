# SPDX-License-Identifier: Apache-2.0
"""When the programs of several instances began, by one clock, and how far that may be wrong.

Nodes on one host share its clock, and so the error of its offset: what passes between two of them is exact.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tare.environments.ssh.connection import HERE
from tare.measure.clock_fit import TOLERANCE_PPM
from tare.measure.clock_line import RESOLUTION_NS, ClockProbe
from tare.measure.clocks import is_the_hosts
from tare.nodes.provider import Node

_NS = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class StartClock:
    """The clock of one instance's node just before its start."""

    key: Hashable
    """Equal for nodes with the same clock."""
    offset_ns: int = 0
    """That clock minus this host's."""
    bound_ns: int = 0
    """Largest error of ``offset_ns`` when it was compared."""
    compared_ns: int | None = None
    """When, by this host's clock; ``None``: it is this host's clock."""
    trusted: bool = True
    """Whether a start can be left to it: it is a host's, and no guest's, which may be wrong."""

    def here_ns(self, node_ns: int) -> int:
        """A reading of it as one of this host's clock."""
        return node_ns - self.offset_ns

    def error_ns(self, node_ns: int) -> float:
        """Largest error of ``here_ns``; two honest clocks drift apart after their comparison."""
        if self.compared_ns is None:
            return 0.0
        return self.bound_ns + TOLERANCE_PPM * 1e-6 * abs(self.here_ns(node_ns) - self.compared_ns)


@dataclass(frozen=True, slots=True, kw_only=True)
class StartOffset:
    """How much later than the first a program began."""

    offset_s: float
    bound_s: float
    """Largest error of it, whichever program was the first."""


def clock_key(node: Node) -> str | None:
    """What tells the clocks of nodes on other hosts apart; ``None``: it is this host's, or a guest's own."""
    if node.elsewhere is None or node.own_kernel or node.spec.options.get("host") == HERE:
        return None
    return "\0".join(map(str, (node.spec.options.get("host", ""), node.spec.options.get("ssh_options", ""))))


def start_clocks(
    before: Sequence[Sequence[ClockProbe]], keys: Sequence[str | None] | None = None
) -> list[StartClock]:
    """The clock of each instance, by probes taken just before its start; ``keys`` as from ``clock_key``.

    All probes of one clock count for each of its nodes.
    """
    together: dict[Hashable, list[ClockProbe]] = {}
    chosen: list[Hashable] = [
        number if key is None else key for number, key in enumerate(keys or [None] * len(before))
    ]
    for key, probes in zip(chosen, before, strict=True):
        together.setdefault(key, []).extend(probes)
    return [_clock(key, together[key]) for key in chosen]


def start_offsets(said: Sequence[Mapping[str, Any]], clocks: Sequence[StartClock]) -> list[StartOffset]:
    """Delay of each instance's program after the first, from execve(2) to execve(2)."""
    begun_ns = [clock.here_ns(words["executed_ns"]) for words, clock in zip(said, clocks, strict=True)]
    errors_ns = [clock.error_ns(words["executed_ns"]) for words, clock in zip(said, clocks, strict=True)]
    worst: dict[Hashable, float] = {}
    for clock, error_ns in zip(clocks, errors_ns, strict=True):
        worst[clock.key] = max(worst.get(clock.key, 0.0), error_ns)
    return [
        StartOffset(offset_s=(begun - min(begun_ns)) * _NS, bound_s=_beside(clock.key, worst) * _NS)
        for begun, clock in zip(begun_ns, clocks, strict=True)
    ]


def _beside(key: Hashable, worst: Mapping[Hashable, float]) -> float:
    """Its error and the largest of another clock; none where all have one clock."""
    others = [error_ns for other, error_ns in worst.items() if other != key]
    return worst[key] + max(others) if others else 0.0


def _clock(key: Hashable, probes: Sequence[ClockProbe]) -> StartClock:
    """This host's own clock has no offset: an estimate would err by up to half a round trip.

    Another host's may be so near that the probes allow it to be this host's, and is not taken for it.
    """
    if not isinstance(key, str) and is_the_hosts(probes):
        return StartClock(key=None)
    best = min(probes, key=lambda probe: probe.round_trip_ns)
    return StartClock(
        key=key,
        offset_ns=round(best.offset_ns),
        bound_ns=best.round_trip_ns // 2 + 1 + RESOLUTION_NS,
        compared_ns=(best.asked_ns + best.answered_ns) // 2,
        trusted=isinstance(key, str),
    )
