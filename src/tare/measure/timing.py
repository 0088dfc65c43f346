# SPDX-License-Identifier: Apache-2.0
"""Which clock times the instances of a trial, and what is wrong with the clocks of their nodes.

A node with the host's kernel has the host's clock: if the two disagree, something else is broken, and the outcome is
invalid. A node's own clock may be wrong by itself. Then the host's is used, and the outcome says so.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tare.measure.clocks import disagreement
from tare.measure.instances import Instance
from tare.records import Direction, InstanceRun, Sample

_TICK_S = 0.01
"""Possible resolution of a kernel's CPU time, at the beginning and at the end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """How far the clocks of a trial's nodes can be trusted."""

    doubt: str | None = None
    """Why the outcome is invalid."""
    fault: str | None = None
    """Why the nodes' own clocks are not used."""


def judge(runs: Sequence[InstanceRun], instances: Sequence[Instance], clock_fault: str | None) -> Timing:
    """Judge by the stopwatches' clocks, and by the ``clock_fault`` found in the nodes."""
    doubt, fault = None, clock_fault
    for run, instance in zip(runs, instances, strict=True):
        if words := disagreement(run.clocks):
            if instance.seat.node.own_kernel:
                fault = fault or words
            else:
                doubt = doubt or words
    return Timing(doubt=doubt, fault=fault)


def wall_samples(runs: Sequence[InstanceRun], instances: Sequence[Instance], timing: Timing) -> list[Sample]:
    """The wall time of each instance in each iteration."""
    return [
        Sample(
            name="wall_s",
            value=_wall_s(run, instance, timing),
            unit="s",
            direction=Direction.LESS,
            instance=run.instance,
            iteration=run.iteration,
        )
        for run, instance in zip(runs, instances, strict=True)
    ]


def _wall_s(run: InstanceRun, instance: Instance, timing: Timing) -> float:
    by_host = timing.fault is not None and instance.seat.node.own_kernel
    return run.host_span_s if by_host and run.host_span_s is not None else run.clocks.wall_s


def inversions(runs: Sequence[InstanceRun], instances: Sequence[Instance]) -> list[str]:
    """In words, each instance with more reported CPU time than its processors had in its wall time."""
    words = []
    for run, instance in zip(runs, instances, strict=True):
        processors = len(instance.seat.processors)
        cpu_s = run.user_s + run.system_s
        if processors and cpu_s > processors * (run.clocks.wall_s + 2 * _TICK_S):
            count = f"{processors} processor{'' if processors == 1 else 's'}"
            words.append(f"{cpu_s:.3f} s of CPU time in {run.clocks.wall_s:.3f} s on {count}")
    return words
