# SPDX-License-Identifier: Apache-2.0
"""What the part of Tare on a node's host reads there for the runner: its clock, and signals."""

from collections.abc import Sequence
from typing import TypedDict

from tare.environments.ssh import asking
from tare.nodes.provider import Node


class _Clock(TypedDict):
    clock_ns: int


class _FarSignal(TypedDict):
    name: str
    unit: str
    scope: str
    value: float
    lost_time: bool


class FarReadings(TypedDict):
    """What ``tare.far.signals`` tells of one node and its host."""

    signals: list[_FarSignal]
    missing: dict[str, str]
    span_s: float
    used_s: float | None
    """CPU time of everything on the processors, with what a hypervisor took; ``None``: not known."""
    own_s: float
    """CPU time of the agent."""
    node_s: float | None
    """CPU time of the node's group; ``None``: it is not counted."""


def host_clock_ns(node: Node) -> int:
    """CLOCK_MONOTONIC_RAW of the node's host, at some moment between question and answer."""
    return asking(node)("clock").told(_Clock)["clock_ns"]


def begin_signals(node: Node, processors: Sequence[int]) -> None:
    """Have the node's host read all signals, for these of its processors."""
    asking(node)("begin signals", processors=list(processors))


def glance_at_signals(node: Node) -> None:
    """Have it read the levels, and the counters that wrap."""
    asking(node)("glance at signals")


def end_signals(node: Node) -> FarReadings:
    """Have it read all signals again."""
    return asking(node)("end signals").told(FarReadings)
