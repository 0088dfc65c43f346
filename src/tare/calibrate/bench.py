# SPDX-License-Identifier: Apache-2.0
"""Providers and workload with which the phases plant truths; tests replace them by fakes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tare.calibrate.sizes import Size
from tare.environments import PROVIDERS
from tare.environments.planted import PlantedChroot, PlantedNative
from tare.nodes.provider import Provider
from tare.plan.campaign import Campaign
from tare.records import USUAL_MARGIN, Environment, Exclude, Layout, Limits, Workload
from tare.units import MEBIBYTE

WORK = "work"
"""Name of the workload that every phase measures."""


def _planted(drift: float, first: int) -> dict[str, Provider]:
    return {"native": PlantedNative(drift, first), "chroot": PlantedChroot()}


def _work(iterations: int) -> Workload:
    return Workload(name=WORK, kind="command", options={"argv": ["{tools}/plant", "work", str(iterations)]})


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """Where truths are planted."""

    planted: Callable[[float, int], Mapping[str, Provider]] = _planted
    """Providers by technology, for a drift per start and a number of earlier starts."""
    work: Callable[[int], Workload] = _work
    """The workload with a given number of iterations."""
    headline: str = "wall_s"
    """The metric on which the counts are taken."""
    real: bool = True
    """Whether nodes have limits and a network of their own, and work takes CPU time."""

    def providers(self, drift: float = 0.0, first: int = 0) -> Mapping[str, Provider]:
        return {**PROVIDERS, **self.planted(drift, first)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One campaign of a phase."""

    name: str
    campaign: Campaign
    drift: float = 0.0
    """Growth of the work from each start to the next."""
    starts_before: int = 0
    """Starts under the drift before this campaign."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseSetting:
    """Conditions for which the runs of a phase are made."""

    bench: Bench
    size: Size
    iterations: int
    """Iterations of the work with which a run takes ``size.run_s`` of CPU time."""


def campaign(
    name: str,
    workload: Workload,
    blocks: int,
    environments: tuple[Environment, ...] = (),
    time_s: float = 60.0,
) -> Campaign:
    """One node with one processor, without a budget; the seed is drawn when it begins.

    Foreign load excludes no trial: intervals must hold on a busy host too, where they are wider.
    """
    return Campaign(
        name=name,
        environments=environments,
        layouts=(Layout(nodes=1, processors=1, instances=1),),
        workloads=(workload,),
        limits=Limits(memory_byte=256 * MEBIBYTE, shm_byte=MEBIBYTE, time_s=time_s),
        blocks=blocks,
        margin=USUAL_MARGIN,
        budget_s=None,
        seed=None,
        exclude=Exclude(foreign_load=None),
    )
