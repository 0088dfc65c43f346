# SPDX-License-Identifier: Apache-2.0
"""A node's clocks, and how they behave when read quickly and from several processors (docs/method.md)."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockTest:
    """One clock read repeatedly by one thread."""

    resolution_ns: int | None
    """As the system claims (clock_getres(2)); ``None``: it makes no claim."""
    least_step_ns: int | None
    """Smallest nonzero difference between two readings; ``None``: all were equal."""
    readings: int
    backward_steps: int
    """How often a reading was below its predecessor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockQuality:
    """The clocks of one node, as seen from inside."""

    node: int
    """Its place among the trial's nodes, from 0."""
    own_clock: bool
    """Whether it has its own clock; else it uses the host's."""
    source: str | None
    """Clock source of its kernel (sysfs); ``None``: not shown."""
    tsc_flags: tuple[str, ...] | None
    """Which of constant_tsc, nonstop_tsc, tsc_reliable and tsc_known_freq its kernel lists; ``None``: it lists no
    flags."""
    invariant_tsc: bool | None
    """By CPUID 0x80000007, EDX bit 8; ``None``: the processor has no such leaf."""
    clocks: Mapping[str, ClockTest] = field(default_factory=dict)
    """Name, such as CLOCK_MONOTONIC → test result."""
    pairs: int = 0
    """How many pairs of processors exchanged stamps of CLOCK_MONOTONIC_RAW."""
    exchanges: int = 0
    """Total; 0: there was one processor, or threads could not be pinned."""
    backward_exchanges: int = 0
    """How often a processor read an earlier time than the one that another had read and passed on."""
    worst_backward_ns: int = 0
