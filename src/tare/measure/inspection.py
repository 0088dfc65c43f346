# SPDX-License-Identifier: Apache-2.0
"""A check of a node before any measurement in it: its way in, its limits, its standing, its clock's age and quality."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

from pydantic import TypeAdapter, ValidationError

from tare.errors import NodeError
from tare.measure.at_once import for_each
from tare.measure.context import Context, minimal_variables
from tare.measure.instances import output_owner
from tare.measure.parity import read_parity
from tare.measure.protocol import nonsense
from tare.measure.stopwatch import Command, Stopwatch
from tare.measure.verify_limits import verify
from tare.measure.ways import Ways
from tare.nodes.files import make_folder
from tare.nodes.provider import Node, NodeGroup, Provider
from tare.nodes.unprivileged.limits import command_limits
from tare.records import ClockQuality, Parity, Trial

LEAST_CLOCK_NS = 2_000_000_000
"""Minimum reading of a node's own CLOCK_MONOTONIC before a benchmark begins.

Some programs treat a reading below one second as none at all: Open MPI's MPI_Wtime then stands still, and every figure
is wrong. A node's own clock, as in gVisor, begins with the node.
"""
_READY_LIMIT_S = 60.0
_FOLDER = ".inspection"
CLOCKS_FACT = "test of the clocks"
_QUALITY_LIMIT_S = 30.0
_QUALITY: TypeAdapter[ClockQuality] = TypeAdapter(ClockQuality)


class Inspected(NamedTuple):
    """The result of a node's inspection."""

    group: NodeGroup | None
    """Its group; ``None`` if it has none."""
    facts: Mapping[str, str]
    """Facts of its limits."""
    parity: Parity


def inspect(
    provider: Provider, node: Node, ways: Ways, sleep: Callable[[float], None] = time.sleep
) -> Inspected:
    """The node's group, the facts of its limits, and its commands' conditions.

    ``NodeError`` if it cannot be entered or a limit does not hold. Waits until the node's clock is old enough.
    """
    with idle_stopwatch(provider, node, ways) as stopwatch:
        stopwatch.wait_ready(_READY_LIMIT_S)
        seen = stopwatch.seen
        group = provider.group(node)
        facts = {} if group is None else _verified(provider, node, group, seen)
        parity = read_parity(provider, node, seen)
    too_young_ns = LEAST_CLOCK_NS - int(seen["monotonic_ns"])
    if too_young_ns > 0:
        sleep(too_young_ns * 1e-9)
    return Inspected(group, facts, parity)


def _verified(provider: Provider, node: Node, group: NodeGroup, seen: Mapping[str, Any]) -> Mapping[str, str]:
    chosen = provider.chosen(node.spec.options)
    return verify(node, group, seen, chosen, bounds_processes=provider.bounds_processes)


def idle_stopwatch(provider: Provider, node: Node, ways: Ways) -> AbstractContextManager[Stopwatch]:
    """A stopwatch for facts and clock readings only, which never runs a command."""
    if not (node.spec.work / _FOLDER).exists():
        make_folder(node.spec.work / _FOLDER, output_owner(node))
    provider.send(node, [_FOLDER])
    command = Command(
        argv=("true",),
        directory=node.work_directory,
        variables=minimal_variables(node.user),
        limit_s=_READY_LIMIT_S,
        user=node.user,
        resource_limits=command_limits(node.spec.bounds),
    )
    return ways.stopwatch(provider, node, command, f"{node.work_directory}/{_FOLDER}")


def tested_clocks(
    context: Context, trial: Trial, provider: Provider, nodes: Sequence[Node], ways: Ways
) -> tuple[tuple[ClockQuality, ...], dict[str, str]]:
    """The quality of each node's clocks, or a fact if they could not be tested; empty if already tested."""
    key = trial.environment.name, trial.setting
    if key in context.tested_clocks:
        return (), {}
    context.tested_clocks.add(key)
    try:
        return tuple(for_each(provider, lambda node: _tested_clocks(provider, node, ways), nodes)), {}
    except NodeError as error:  # the trial can do without
        return (), {CLOCKS_FACT: f"not possible: {error}"}


def _tested_clocks(provider: Provider, node: Node, ways: Ways) -> ClockQuality:
    with idle_stopwatch(provider, node, ways) as stopwatch:
        stopwatch.wait_ready(_QUALITY_LIMIT_S)
        return quality_of(stopwatch.quality(), node.spec.index, own_clock=node.own_kernel)


def quality_of(said: Mapping[str, Any], node: int, *, own_clock: bool) -> ClockQuality:
    """The record of a stopwatch's report; ``NodeError`` if it makes no sense."""
    try:
        clocks = {
            clock["name"]: {key: value for key, value in clock.items() if key != "name"}
            for clock in said["clocks"]
        }
        return _QUALITY.validate_python({**said, "clocks": clocks, "node": node, "own_clock": own_clock})
    except (ValidationError, LookupError, TypeError, AttributeError):
        raise nonsense(str(said).encode()) from None
