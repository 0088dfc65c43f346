# SPDX-License-Identifier: Apache-2.0
"""How busy the host was, trial by trial and block by block."""

from collections.abc import Iterable, Sequence

from tare.records import Cell, HostLoad, Outcome


def busiest(loads: Iterable[HostLoad | None]) -> HostLoad | None:
    """The load that took the largest part of its processors; ``None`` where none is known."""
    known = [load for load in loads if load is not None]
    return max(known, key=lambda load: load.share, default=None)


def block_loads(outcomes: Sequence[Outcome]) -> dict[int, HostLoad]:
    """The busiest trial's load of each block, over all cells; blocks without a known load are left out."""
    loads: dict[int, HostLoad | None] = {}
    for outcome in outcomes:
        loads[outcome.trial.block] = busiest((loads.get(outcome.trial.block), outcome.load))
    return {block: load for block, load in loads.items() if load is not None}


def arm_loads(outcomes: Sequence[Outcome]) -> dict[tuple[Cell, str], dict[int, HostLoad]]:
    """``block_loads`` for each cell and environment separately, including native."""
    arms: dict[tuple[Cell, str], list[Outcome]] = {}
    for outcome in outcomes:
        cell = Cell(workload=outcome.trial.workload.name, layout=outcome.trial.setting)
        arms.setdefault((cell, outcome.trial.environment.name), []).append(outcome)
    return {arm: block_loads(own) for arm, own in arms.items()}
