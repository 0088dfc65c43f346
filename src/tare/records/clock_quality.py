# SPDX-License-Identifier: Apache-2.0
"""What a node's clocks are, and how they behave when read quickly and from several processors (docs/method.md)."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockTest:
    """One clock read again and again by one thread."""

    resolution_ns: int | None
    """As the system claims (clock_getres(2)); ``None``: it does not say."""
    least_step_ns: int | None
    """Smallest difference of two readings that differ; ``None``: all were alike."""
    readings: int
    backward_steps: int
    """How often a reading was below the one before it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockQuality:
    """Of one node, as it sees itself."""

    node: int
    """Its place among the trial's nodes, from 0."""
    own_clock: bool
    """Whether it keeps a clock of its own; else it has the host's."""
    source: str | None
    """Clock source of its kernel (sysfs); ``None``: it shows none."""
    tsc_flags: tuple[str, ...] | None
    """Those of constant_tsc, nonstop_tsc, tsc_reliable, tsc_known_freq that its kernel lists; ``None``: it lists no
    flags."""
    invariant_tsc: bool | None
    """By CPUID 0x80000007, EDX bit 8; ``None``: the processor has no such leaf."""
    clocks: Mapping[str, ClockTest] = field(default_factory=dict)
    """Name, such as CLOCK_MONOTONIC → what was seen."""
    pairs: int = 0
    """How many pairs of processors exchanged stamps of CLOCK_MONOTONIC_RAW."""
    exchanges: int = 0
    """In all; 0: there was one processor, or threads could not be pinned."""
    backward_exchanges: int = 0
    """How often a processor read a time before the one that another had read and passed on."""
    worst_backward_ns: int = 0
